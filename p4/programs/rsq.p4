// RSQ, randomized switch queueing: every packet that goes up takes a random uplink.
//
// Paper: §3.1; its square-root queues in Theorem 1.
//
// Deviations and choices:
// - With failed links a packet takes one of the uplinks that lead to its destination.

#include "fabric/scheme.p4"

control Balance(inout Headers headers, inout Metadata meta, inout standard_metadata_t standard) {
    action take_any() {
        random(meta.uplink, 8w0, (bit<8>)(W - 1));
    }

    action take_valid() {
        CHOOSE_FROM(meta.valid, meta.uplink)
    }

    apply {
        if (meta.valid == ALL_UPLINKS) {
            take_any();
        } else {
            take_valid();
        }
    }
}

#include "fabric/main.p4"

// SimpleRR: all packets that go up rotate over the uplinks with one pointer a switch.
//
// Paper: §3.1, its synchronisation in §3.3 and Appendix C (Theorem 2).
//
// Deviations and choices:
// - Data and ACKs share the pointer, whatever their size.
// - The pointer starts at random; the port order is 0, 1, ..., w - 1 in every switch, since another
//   order does not break the synchronisation (§3.3).
// - With failed links the pointer goes on to the next uplink that leads to the destination.

#include "fabric/scheme.p4"

control Balance(inout Headers headers, inout Metadata meta, inout standard_metadata_t standard) {
    register<bit<8>>(1) pointer;

    action rotate() {
        pointer.read(meta.uplink, 0);
        pointer.write(0, AFTER(meta.uplink));
    }

    action rotate_over_valid() {
        pointer.read(meta.uplink, 0);
        meta.uplink = next_member(meta.valid, meta.uplink);
        pointer.write(0, AFTER(meta.uplink));
    }

    apply {
        if (meta.valid == ALL_UPLINKS) {
            rotate();
        } else {
            rotate_over_valid();
        }
    }
}

#include "fabric/main.p4"

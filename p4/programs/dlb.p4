// DLB, Broadcom's dynamic load balancing, packet by packet: a random one of the uplinks of best
// quality, where quality comes from how loaded a port was and how much waits there.
//
// Paper: §3.1, Table 1: SGLB restricted to its two local kinds of information; no constants given.
//
// Deviations and choices (fabric/penalty.p4):
// - Load below 20 % is best and above 80 % worst, as in a vendor's worked example; queues are worst
//   from 20 % of the buffer, AR's highest quantum. Both metrics weigh the same.
// - Load is what was given to a port, not what has left it.
// - The period is 1 us by default; a chip's 16 us would be a whole collective.

#include "fabric/scheme.p4"
#include "fabric/penalty.p4"

control Balance(inout Headers headers, inout Metadata meta, inout standard_metadata_t standard) {
    Clock() clock;
    Sampler() sampler;
    Timing timing;
    bit<1> is_due;

    action join_best() {
        bit<8> penalty;
        bit<8> least = ~8w0;
        bit<W> candidates = 0;
        bit<48> finish;
        bit<32> sum;
#define COMPARE(i) \
        penalties.read(penalty, (bit<32>)(DOWN + 1 + i)); \
        penalty = CONTAINS(meta.valid, i) == 1 ? penalty : ~8w0; \
        KEEP_LEAST(i, penalty, least, candidates)
        EACH_UPLINK(COMPARE)
        CHOOSE_FROM(candidates, meta.uplink)
        NOTE_FRAME((bit<32>)meta.uplink + DOWN + 1, finish, sum, timing)
    }

    apply {
        clock.apply(meta, standard, timing);
        sampler.apply(timing, is_due);
        join_best();
    }
}

#include "fabric/main.p4"

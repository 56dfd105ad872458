// JSQ, join the shortest queue: the uplink with the least to send, ties broken at random.
//
// Paper: §3.1, its synchronisation in §3.3 and Appendix C (Theorem 2).
//
// Deviations and choices:
// - Queue lengths are virtual finish times (fabric/backlog.p4), as v1model shows queues only to the
//   egress: the frame in service counts with what is still to be sent of it, where the paper's
//   simulator counts all of it. A port that still sends is not empty either way.

#include "fabric/scheme.p4"
#include "fabric/backlog.p4"

control Balance(inout Headers headers, inout Metadata meta, inout standard_metadata_t standard) {
    Clock() clock;
    Timing timing;
    register<bit<48>>(W) finishes;

    action join_shortest() {
        bit<48> finish;
        bit<48> length;
        bit<48> shortest = LONGEST;
        bit<W> candidates = 0;
#define COMPARE(i) \
        finishes.read(finish, (bit<32>)i); \
        length = CONTAINS(meta.valid, i) == 1 ? backlog(finish, timing.now) : LONGEST; \
        KEEP_LEAST(i, length, shortest, candidates)
        EACH_UPLINK(COMPARE)
        CHOOSE_FROM(candidates, meta.uplink)
        finishes.read(finish, (bit<32>)meta.uplink);
        finishes.write((bit<32>)meta.uplink, finish_with(finish, timing));
    }

    apply {
        clock.apply(meta, standard, timing);
        join_shortest();
    }
}

#include "fabric/main.p4"

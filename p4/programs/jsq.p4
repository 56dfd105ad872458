// JSQ, join the shortest queue: the uplink with the least to send, ties broken at random.
//
// Paper: §3.1, its synchronisation in §3.3 and Appendix C (Theorem 2).
//
// Deviations and choices:
// - Queue lengths are virtual finish times (fabric/backlog.p4), as v1model shows queues only to the
//   egress. They are rounded up to whole data frames: Appendix C counts packets, so that two ports
//   that are about to send one each tie however much of it has left. `whole_frames` = 0 compares
//   what is still to be sent instead, with which busy ports never tie.

#include "fabric/scheme.p4"
#include "fabric/backlog.p4"

control Balance(inout Headers headers, inout Metadata meta, inout standard_metadata_t standard) {
    Clock() clock;
    Timing timing;
    register<bit<48>>(W) finishes;
    bit<64> frame_share = 0;

    action know_frame(bit<64> tick_share) {
        frame_share = tick_share;
    }

    table frame {
        actions = { know_frame; }
        default_action = know_frame(0);
    }

    action join_shortest() {
        bit<48> finish;
        bit<48> length;
        bit<48> shortest = LONGEST;
        bit<W> candidates = 0;
#define COMPARE(i) \
        finishes.read(finish, (bit<32>)i); \
        length = whole_frames(backlog(finish, timing.now), frame_share); \
        length = CONTAINS(meta.valid, i) == 1 ? length : LONGEST; \
        KEEP_LEAST(i, length, shortest, candidates)
        EACH_UPLINK(COMPARE)
        CHOOSE_FROM(candidates, meta.uplink)
        finishes.read(finish, (bit<32>)meta.uplink);
        finishes.write((bit<32>)meta.uplink, finish_with(finish, timing));
    }

    apply {
        clock.apply(meta, standard, timing);
        frame.apply();
        join_shortest();
    }
}

#include "fabric/main.p4"

// CHOICE, the power of two choices: of two random uplinks, the one with less to send.
//
// Paper: §3.1 (Table 1), citing DRILL, of which it is DRILL(2, 0).
//
// Deviations and choices:
// - The two uplinks are different ones, so that with w = 2 it is JSQ; the first drawn wins a tie.
// - Queue lengths are virtual finish times (fabric/backlog.p4).

#include "fabric/scheme.p4"
#include "fabric/backlog.p4"

control Balance(inout Headers headers, inout Metadata meta, inout standard_metadata_t standard) {
    Clock() clock;
    Timing timing;
    bit<8> first = 0;
    bit<8> second = 0;
    register<bit<48>>(W) finishes;

    action draw_any() {
        DRAW_TWO(first, second, (bit<8>)W)
    }

    action draw_valid() {
        bit<8> size = size_of(meta.valid);
        DRAW_TWO(first, second, size)
        first = member(meta.valid, first);
        second = member(meta.valid, second);
    }

    action join_shorter() {
        bit<48> first_finish;
        bit<48> second_finish;
        finishes.read(first_finish, (bit<32>)first);
        finishes.read(second_finish, (bit<32>)second);
        bit<1> takes_second =
            backlog(second_finish, timing.now) < backlog(first_finish, timing.now) ? 1w1 : 1w0;
        meta.uplink = takes_second == 1 ? second : first;
        finishes.write((bit<32>)meta.uplink,
                       finish_with(takes_second == 1 ? second_finish : first_finish, timing));
    }

    apply {
        clock.apply(meta, standard, timing);
        if (meta.valid == ALL_UPLINKS) {
            draw_any();
        } else {
            draw_valid();
        }
        join_shorter();
    }
}

#include "fabric/main.p4"

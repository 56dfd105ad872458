// DRILL(2, 1): of two random uplinks and the one that was best last time, the one with least to
// send, which is then remembered.
//
// Paper: §3.1 (Table 1), citing DRILL; it prints neither parameter.
//
// Deviations and choices:
// - One memory a switch, not one per destination: the paper lists DRILL as destination-oblivious.
// - The two uplinks are different ones. The remembered uplink wins ties, then the first drawn.
// - The memory starts at random. A remembered uplink that does not lead to the destination is left
//   out, and replaced as any other.
// - Queue lengths are virtual finish times (fabric/backlog.p4).

#include "fabric/scheme.p4"
#include "fabric/backlog.p4"

control Balance(inout Headers headers, inout Metadata meta, inout standard_metadata_t standard) {
    Clock() clock;
    Timing timing;
    bit<8> first = 0;
    bit<8> second = 0;
    register<bit<48>>(W) finishes;
    register<bit<8>>(1) memory;

    action draw_any() {
        DRAW_TWO(first, second, (bit<8>)W)
    }

    action draw_valid() {
        bit<8> size = size_of(meta.valid);
        DRAW_TWO(first, second, size)
        first = member(meta.valid, first);
        second = member(meta.valid, second);
    }

    action join_least() {
        bit<48> finish;
        bit<48> length;
        bit<48> least;
        memory.read(meta.uplink, 0);
        finishes.read(finish, (bit<32>)meta.uplink);
        least = CONTAINS(meta.valid, meta.uplink) == 1 ? backlog(finish, timing.now) : LONGEST;
#define CONSIDER(drawn) \
        finishes.read(finish, (bit<32>)drawn); \
        length = backlog(finish, timing.now); \
        meta.uplink = length < least ? drawn : meta.uplink; \
        least = length < least ? length : least;
        CONSIDER(first)
        CONSIDER(second)
        memory.write(0, meta.uplink);
        finishes.read(finish, (bit<32>)meta.uplink);
        finishes.write((bit<32>)meta.uplink, finish_with(finish, timing));
    }

    apply {
        clock.apply(meta, standard, timing);
        if (meta.valid == ALL_UPLINKS) {
            draw_any();
        } else {
            draw_valid();
        }
        join_least();
    }
}

#include "fabric/main.p4"

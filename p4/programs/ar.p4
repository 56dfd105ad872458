// AR, adaptive routing as in NVIDIA's switches: a random one of the uplinks with the lowest level,
// where a queue's level is its length in coarse quanta.
//
// Paper: §3.1, Table 1 (quanta of 5, 10 and 20 %), §6.
//
// Deviations and choices:
// - Levels are refreshed when the last refresh is older than a period, as in the simulator that the
//   paper uses (0.1 us), for all uplinks of a switch at once. A period of 0 refreshes every time.
// - The percentages are of the buffer where it is limited, else of 800 KB.
// - Queue lengths are virtual finish times (fabric/backlog.p4); ACKs follow the same rule.

#include "fabric/scheme.p4"
#include "fabric/backlog.p4"

control Balance(inout Headers headers, inout Metadata meta, inout standard_metadata_t standard) {
    Clock() clock;
    Timing timing;
    bit<48> low = 0;
    bit<48> middle = 0;
    bit<48> high = 0;
    bit<1> is_stale = 0;
    register<bit<48>>(W) finishes;
    register<bit<48>>(1) refreshed;
    register<bit<W>>(3) below;  // uplinks below each of the quanta at the last refresh

    action check_age(bit<48> low_ticks, bit<48> middle_ticks, bit<48> high_ticks,
                     bit<48> period_ticks) {
        bit<48> last;
        refreshed.read(last, 0);
        is_stale = timing.now - last >= period_ticks ? 1w1 : 1w0;
        low = low_ticks;
        middle = middle_ticks;
        high = high_ticks;
    }

    table quanta {
        actions = { check_age; }
        default_action = check_age(0, 0, 0, 0);
    }

    action refresh() {
        bit<48> finish;
        bit<48> length;
        bit<W> below_low = 0;
        bit<W> below_middle = 0;
        bit<W> below_high = 0;
#define QUANTISE(i) \
        finishes.read(finish, (bit<32>)i); \
        length = backlog(finish, timing.now); \
        below_low = below_low | (length < low ? (bit<W>)1 << i : 0); \
        below_middle = below_middle | (length < middle ? (bit<W>)1 << i : 0); \
        below_high = below_high | (length < high ? (bit<W>)1 << i : 0);
        EACH_UPLINK(QUANTISE)
        below.write(0, below_low);
        below.write(1, below_middle);
        below.write(2, below_high);
        refreshed.write(0, timing.now);
    }

    action join_lowest_level() {
        bit<W> quantum;
        bit<W> candidates = meta.valid;
        bit<48> finish;
#define PREFER(level) \
        below.read(quantum, level); \
        candidates = (meta.valid & quantum) != 0 ? meta.valid & quantum : candidates;
        PREFER(2)
        PREFER(1)
        PREFER(0)
        CHOOSE_FROM(candidates, meta.uplink)
        finishes.read(finish, (bit<32>)meta.uplink);
        finishes.write((bit<32>)meta.uplink, finish_with(finish, timing));
    }

    apply {
        clock.apply(meta, standard, timing);
        quanta.apply();
        if (is_stale == 1) {
            refresh();
        }
        join_lowest_level();
    }
}

#include "fabric/main.p4"

#include "registry.h"
#include "swift.h"

/*
 * MSwift (arXiv 2509.07907): LSwift fed with the median of the delays of the last half window. With
 * `median_counts` the median also decides what is above the target; else each delay does, and the
 * median only says how deep a cut is.
 */

static uint64_t median_with(struct cca *cca, struct swift *swift, uint64_t rtt)
{
    double half = cca->window / cca->network->frame / 2;
    median_add(&swift->delays, rtt, half < 1 ? 1 : (uint32_t)half);
    return median_read(&swift->delays);
}

static void acknowledged(struct cca *cca, const struct dp_signal *signal)
{
    struct swift *swift = (struct swift *)cca->state;
    swift->timeouts = 0;
    if (signal->rtt_ps == 0) {
        swift_go_on(cca, (double)signal->bytes);
        return;
    }
    bool may_cut = swift_may_cut(swift, signal->now_ps);
    uint64_t median = median_with(cca, swift, signal->rtt_ps);
    uint64_t judged = given(cca, MSWIFT_MEDIAN_COUNTS) != 0 ? median : signal->rtt_ps;
    uint64_t target = swift_target(cca);
    swift_measure(swift, signal->rtt_ps);
    if (judged < target) {
        swift->over = 0;
        swift_grow(cca, (double)signal->bytes);
    } else if (++swift->over >= (uint32_t)given(cca, MSWIFT_SUCCESSIVE) && may_cut &&
               median >= target) {
        swift->over = 0;
        swift_cut(cca, median, signal->now_ps);
    }
}

const struct congestion congestion_mswift = {
    .name = "mswift",
    .state_bytes = sizeof(struct swift),
    .open = swift_open,
    .close = swift_close,
    .acknowledged = acknowledged,
    .timed_out = swift_timed_out,
    .constants = swift_constants,
};

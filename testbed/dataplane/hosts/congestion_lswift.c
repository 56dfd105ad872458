#include "registry.h"
#include "swift.h"

/*
 * LSwift (Swift for spraying, as arXiv 2509.07907 has it to compare with): losses are found by
 * SACK and timers, reordering cuts nothing, and a cut needs several delays above the target in a
 * row. Marks are ignored.
 */

static void acknowledged(struct cca *cca, const struct dp_signal *signal)
{
    struct swift *swift = (struct swift *)cca->state;
    swift->timeouts = 0;
    if (signal->rtt_ps == 0) {
        swift_go_on(cca, (double)signal->bytes);
        return;
    }
    bool may_cut = swift_may_cut(swift, signal->now_ps);
    swift_measure(swift, signal->rtt_ps);
    if (signal->rtt_ps < swift_target(cca)) {
        swift->over = 0;
        swift_grow(cca, (double)signal->bytes);
    } else if (++swift->over >= (uint32_t)given(cca, LSWIFT_SUCCESSIVE) && may_cut) {
        swift->over = 0;
        swift_cut(cca, signal->rtt_ps, signal->now_ps);
    }
}

const struct congestion congestion_lswift = {
    .name = "lswift",
    .state_bytes = sizeof(struct swift),
    .open = swift_open,
    .close = swift_close,
    .acknowledged = acknowledged,
    .timed_out = swift_timed_out,
    .constants = swift_constants,
};

#include "nscc.h"
#include "registry.h"

/*
 * MNSCC (arXiv 2509.07907): NSCC with the median of the last few round trips as its delay; the mark
 * stays each ACK's own.
 */

static void acknowledged(struct cca *cca, const struct dp_signal *signal)
{
    struct nscc *nscc = (struct nscc *)cca->state;
    if (signal->rtt_ps == 0) {
        nscc_follow(cca, signal, 0);
        return;
    }
    double half = smaller(cca->window / cca->network->frame / 2, given(cca, MNSCC_HISTORY));
    median_add(&nscc->delays, signal->rtt_ps, half < 1 ? 1 : (uint32_t)half);
    nscc_follow(cca, signal, median_read(&nscc->delays));
}

const struct congestion congestion_mnscc = {
    .name = "mnscc",
    .state_bytes = sizeof(struct nscc),
    .open = nscc_open,
    .close = nscc_close,
    .acknowledged = acknowledged,
    .nacked = nscc_nacked,
    .timed_out = nscc_timed_out,
    .constants = nscc_constants,
};

#include "nscc.h"
#include "registry.h"

/*
 * UEC's NSCC: a window that follows delay and marks together. Not marked and below the target delay
 * it grows by how far below, not marked and above it grows by a fair share, marked and above it is
 * cut by the average delay, marked and below nothing is done: that is the load balancer's business.
 * Quick adapt sets it to what arrived in a window with losses or very long delays.
 *
 * `profile` 0 is the reference simulator (htsim), 1 is specification 1.0.3 where the two differ.
 */

enum { REFERENCE_BYTES = 150000 };  /* 100 Gb/s for 12 us */
static const uint64_t REFERENCE_PS = 12000000;

static bool by_specification(const struct network *network)
{
    return network->parameters[NSCC_PROFILE] != 0;
}

static struct nscc_constants derive(const struct network *network)
{
    const double *with = network->parameters;
    double share = with[NSCC_TARGET_RTTS] > 0 ? with[NSCC_TARGET_RTTS] : network->trims ? 0.75 : 1;
    uint64_t target = with[NSCC_TARGET_US] > 0 ? microseconds(with[NSCC_TARGET_US])
                                                : portion(network->rtt_ps, share);
    double a = network->bdp / REFERENCE_BYTES;
    return (struct nscc_constants){
        .target = target,
        .fast_below = portion(network->rtt_ps, with[NSCC_FAST_RTTS]),
        .adapt_above = 4 * target,
        .a = a,
        .fair = 5 * network->payload * a,
        .proportional = 4 * network->payload * a / (double)REFERENCE_PS,
        .eta = 0.15 * network->payload * a,
        .fast = 0.25 * a,
    };
}

static double most_window(const struct cca *cca, uint64_t rtt)
{
    return given(cca, NSCC_MOST_BDPS) * (double)rtt * cca->network->bytes_per_ps;
}

void nscc_open(struct cca *cca)
{
    struct nscc *nscc = (struct nscc *)cca->state;
    nscc->constants = derive(cca->network);
    nscc->base_rtt = cca->network->rtt_ps;
    nscc->most = most_window(cca, nscc->base_rtt);
    cca->window = nscc->most;
}

void nscc_close(struct cca *cca)
{
    median_free(&((struct nscc *)cca->state)->delays);
}

static void limit(struct cca *cca, const struct nscc *nscc)
{
    cca->window = larger(smaller(cca->window, nscc->most), cca->network->frame);
}

/* --- Delay --- */

static double average_weight(const struct cca *cca, const struct nscc *nscc, uint64_t now)
{
    if (!by_specification(cca->network))
        return given(cca, NSCC_DELAY_GAIN);
    return smaller(1, (double)(now - nscc->last_sample) / (double)nscc->base_rtt);
}

/* The time `share` of the way from one to another, to the nearest picosecond. */
static uint64_t between(uint64_t from, uint64_t to, double share)
{
    return to > from ? from + portion(to - from, share) : from - portion(from - to, share);
}

static void average_in(struct cca *cca, uint64_t delay, bool marked, uint64_t now)
{
    struct nscc *nscc = (struct nscc *)cca->state;
    bool alone = !marked && delay > nscc->constants.target;
    uint64_t sample = alone ? nscc->base_rtt / 4 : delay;
    nscc->average = between(nscc->average, sample, average_weight(cca, nscc, now));
    nscc->last_sample = now;
}

static uint64_t delay_of(struct cca *cca, const struct dp_signal *signal, uint64_t rtt)
{
    struct nscc *nscc = (struct nscc *)cca->state;
    if (rtt == 0)
        return nscc->average;
    if (signal->rtt_ps < nscc->base_rtt) {
        nscc->base_rtt = signal->rtt_ps;
        nscc->most = most_window(cca, signal->rtt_ps);
    }
    uint64_t delay = rtt - nscc->base_rtt;
    average_in(cca, delay, signal->marked, signal->now_ps);
    return delay;
}

/* --- Quick adapt --- */

static bool must_adapt(const struct cca *cca, const struct nscc *nscc, bool loss, uint64_t delay)
{
    bool by_delay = !(by_specification(cca->network) && cca->network->trims);
    bool bad = loss || nscc->loss_seen || (by_delay && delay > nscc->constants.adapt_above);
    return nscc->window_ends != 0 && bad && nscc->achieved < nscc->most / 8;
}

static bool adapt_or_ignore(struct cca *cca, const struct dp_signal *signal, bool loss,
                            uint64_t delay)
{
    struct nscc *nscc = (struct nscc *)cca->state;
    bool done = nscc->ignored < nscc->to_ignore && (signal->marked || loss);
    if (!done && signal->now_ps > nscc->window_ends) {
        if (must_adapt(cca, nscc, loss, delay)) {
            cca->window = larger(nscc->achieved, cca->network->frame);
            nscc->to_ignore = (double)signal->in_flight_bytes;
            nscc->ignored = 0;
            nscc->loss_seen = false;
            done = true;
        }
        nscc->achieved = 0;
        nscc->window_ends = signal->now_ps + nscc->base_rtt + nscc->constants.target;
    }
    if (done)
        nscc->increase = nscc->received = 0;
    return done;
}

/* --- The four quadrants of mark and delay --- */

static bool increase_fast(struct cca *cca, struct nscc *nscc, double bytes, uint64_t delay)
{
    if (delay >= nscc->constants.fast_below)
        nscc->fast_count = 0;
    else if ((nscc->fast_count += bytes) > cca->window || nscc->fast)
        return nscc->fast = true;
    return nscc->fast = false;
}

static void increase(struct cca *cca, struct nscc *nscc, double bytes, uint64_t delay)
{
    const struct nscc_constants *constants = &nscc->constants;
    if (delay >= constants->target)
        nscc->increase += constants->fair * bytes;
    else if (increase_fast(cca, nscc, bytes, delay))
        cca->window += bytes * constants->fast;
    else
        nscc->increase += constants->proportional * bytes * (double)(constants->target - delay);
}

static void cut(struct cca *cca, struct nscc *nscc, uint64_t now)
{
    uint64_t target = nscc->constants.target;
    nscc->fast = false;
    nscc->fast_count = 0;
    if (nscc->average <= target || now - nscc->last_cut <= nscc->base_rtt)
        return;
    double excess = (double)(nscc->average - target) / (double)nscc->average;
    double share = larger(1 - given(cca, NSCC_GAMMA) * excess, 1 - given(cca, NSCC_MOST_CUT));
    cca->window *= share;
    nscc->last_cut = now;
}

static void adjust(struct cca *cca, struct nscc *nscc, uint64_t now)
{
    uint64_t period = cca->network->rtt_ps;
    uint64_t since = now - nscc->last_adjust;
    if (nscc->received <= 8 * cca->network->frame && since <= period)
        return;
    cca->window += nscc->increase / cca->window;
    if (since >= period) {
        cca->window += nscc->constants.eta;
        nscc->last_adjust = now;
    }
    nscc->increase = nscc->received = 0;
}

void nscc_follow(struct cca *cca, const struct dp_signal *signal, uint64_t rtt)
{
    struct nscc *nscc = (struct nscc *)cca->state;
    double bytes = (double)signal->bytes;
    nscc->achieved += bytes;
    nscc->received += bytes;
    nscc->ignored += bytes;
    uint64_t delay = delay_of(cca, signal, rtt);
    if (adapt_or_ignore(cca, signal, false, delay))
        return;
    if (!signal->marked)
        increase(cca, nscc, bytes, delay);
    else if (delay >= nscc->constants.target)
        cut(cca, nscc, signal->now_ps);
    limit(cca, nscc);
    adjust(cca, nscc, signal->now_ps);
    limit(cca, nscc);
}

void nscc_nacked(struct cca *cca, const struct dp_signal *signal)
{
    struct nscc *nscc = (struct nscc *)cca->state;
    nscc->ignored += (double)signal->bytes;
    average_in(cca, cca->network->rtt_ps, true, signal->now_ps);
    nscc->loss_seen = true;
    if (adapt_or_ignore(cca, signal, true, 0))
        return;
    cca->window -= (double)signal->bytes;
    limit(cca, nscc);
}

void nscc_timed_out(struct cca *cca, const struct dp_signal *signal)
{
    cca->window -= (double)signal->bytes;
    limit(cca, (struct nscc *)cca->state);
}

uint32_t nscc_constants(const struct network *network, struct dp_constant *constants)
{
    struct nscc_constants own = derive(network);
    const struct dp_constant all[] = {
        { "a", own.a },
        { "target_us", (double)own.target / 1e6 },
        { "alpha_bytes_per_ns", own.proportional * 1e3 },
        { "fi_bytes", own.fair },
        { "eta_bytes", own.eta },
        { "fi_scale", own.fast },
        { "maxwnd_bytes", network->parameters[NSCC_MOST_BDPS] * network->bdp },
        { "qa_gate_bytes", network->parameters[NSCC_MOST_BDPS] * network->bdp / 8 },
        { "qa_threshold_us", (double)own.adapt_above / 1e6 },
    };
    uint32_t count = sizeof all / sizeof *all;
    for (uint32_t i = 0; i < count; i++)
        constants[i] = all[i];
    return count;
}

static void acknowledged(struct cca *cca, const struct dp_signal *signal)
{
    nscc_follow(cca, signal, signal->rtt_ps);
}

const struct congestion congestion_nscc = {
    .name = "nscc",
    .state_bytes = sizeof(struct nscc),
    .open = nscc_open,
    .close = nscc_close,
    .acknowledged = acknowledged,
    .nacked = nscc_nacked,
    .timed_out = nscc_timed_out,
    .constants = nscc_constants,
};

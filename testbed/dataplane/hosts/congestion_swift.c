#include <math.h>

#include "registry.h"
#include "swift.h"

/*
 * Swift as htsim has it. Its target there starts at 20 us, three times our round trip: here it is
 * the unloaded round trip and `queue_us` of queueing, and flow scaling adds up to `range_us`.
 */

enum { TIMEOUTS_TO_RESET = 5 };

static const double SCALING_FROM = 0.1;  /* packets: up to here flow scaling adds all its range */
static const double SCALING_TO = 100;    /* and from here nothing */

static double packets(const struct cca *cca)
{
    return cca->window / cca->network->frame;
}

static void limit(struct cca *cca, uint64_t rtt)
{
    double frame = cca->network->frame;
    cca->window = larger(cca->window, frame * given(cca, SWIFT_LEAST_PACKETS));
    cca->window = smaller(cca->window, frame * given(cca, SWIFT_MOST_PACKETS));
    cca->pace_ps = cca->window < frame ? portion(rtt, frame / cca->window) : 0;
}

void swift_open(struct cca *cca)
{
    struct swift *swift = (struct swift *)cca->state;
    double first = given(cca, SWIFT_WINDOW_PACKETS);
    double products = given(cca, SWIFT_WINDOW_BDPS) * cca->network->bdp;
    cca->window = first > 0 ? cca->network->frame * first : products;
    limit(cca, cca->network->rtt_ps);
    swift->srtt = cca->network->rtt_ps;
}

void swift_close(struct cca *cca)
{
    median_free(&((struct swift *)cca->state)->delays);
}

void swift_measure(struct swift *swift, uint64_t rtt)
{
    swift->srtt = swift->srtt - swift->srtt / 8 + rtt / 8;
}

static uint64_t base_target(const struct network *network)
{
    double hops_us = network->hops * network->parameters[SWIFT_HOP_US];
    return network->rtt_ps + microseconds(network->parameters[SWIFT_QUEUE_US] + hops_us);
}

uint64_t swift_target(const struct cca *cca)
{
    double least = 1 / sqrt(SCALING_TO);
    double share = (1 / sqrt(packets(cca)) - least) / (1 / sqrt(SCALING_FROM) - least);
    uint64_t range = microseconds(given(cca, SWIFT_RANGE_US));
    return base_target(cca->network) + portion(range, smaller(larger(share, 0), 1));
}

bool swift_may_cut(const struct swift *swift, uint64_t now)
{
    return now - swift->last_cut >= swift->srtt;
}

void swift_grow(struct cca *cca, double bytes)
{
    double frame = cca->network->frame;
    double share = cca->window >= frame ? frame / cca->window : 1;
    cca->window += given(cca, SWIFT_AI) * share * bytes;
    limit(cca, ((struct swift *)cca->state)->srtt);
}

void swift_go_on(struct cca *cca, double bytes)
{
    if (((struct swift *)cca->state)->srtt < swift_target(cca))
        swift_grow(cca, bytes);
}

static void cut_to(struct cca *cca, double share, uint64_t now)
{
    struct swift *swift = (struct swift *)cca->state;
    cca->window *= larger(share, 1 - given(cca, SWIFT_MOST_CUT));
    swift->last_cut = now;
    limit(cca, swift->srtt);
}

void swift_cut(struct cca *cca, uint64_t delay, uint64_t now)
{
    uint64_t target = swift_target(cca);
    double excess = (double)(delay - target) / (double)delay;
    cut_to(cca, 1 - given(cca, SWIFT_BETA) * excess, now);
}

void swift_cut_most(struct cca *cca, uint64_t now)
{
    cut_to(cca, 0, now);
}

/* Once a round trip; the fifth in a row resets the window. */
void swift_timed_out(struct cca *cca, const struct dp_signal *signal)
{
    struct swift *swift = (struct swift *)cca->state;
    if (!swift_may_cut(swift, signal->now_ps))
        return;
    swift_cut_most(cca, signal->now_ps);
    if (++swift->timeouts < TIMEOUTS_TO_RESET)
        return;
    cca->window = 0;
    limit(cca, swift->srtt);
}

uint32_t swift_constants(const struct network *network, struct dp_constant *constants)
{
    constants[0] = (struct dp_constant){ "target_us", (double)base_target(network) / 1e6 };
    constants[1] = (struct dp_constant){ "bdp_bytes", network->bdp };
    return 2;
}

/* --- Swift itself --- */

static void acknowledged(struct cca *cca, const struct dp_signal *signal)
{
    struct swift *swift = (struct swift *)cca->state;
    swift->timeouts = 0;
    if (signal->rtt_ps == 0) {
        swift_go_on(cca, (double)signal->in_order_bytes);
        return;
    }
    bool may_cut = swift_may_cut(swift, signal->now_ps);
    swift_measure(swift, signal->rtt_ps);
    if (signal->rtt_ps < swift_target(cca))
        swift_grow(cca, (double)signal->in_order_bytes);
    else if (may_cut)
        swift_cut(cca, signal->rtt_ps, signal->now_ps);
}

static void recovered(struct cca *cca, const struct dp_signal *signal)
{
    if (swift_may_cut((struct swift *)cca->state, signal->now_ps))
        swift_cut_most(cca, signal->now_ps);
}

static uint32_t duplicates(const struct network *network, uint32_t routes)
{
    return (uint32_t)network->parameters[SWIFT_DUPLICATES] + routes;
}

const struct congestion congestion_swift = {
    .name = "swift",
    .state_bytes = sizeof(struct swift),
    .open = swift_open,
    .close = swift_close,
    .acknowledged = acknowledged,
    .nacked = recovered,
    .recovered = recovered,
    .timed_out = swift_timed_out,
    .duplicates = duplicates,
    .constants = swift_constants,
};

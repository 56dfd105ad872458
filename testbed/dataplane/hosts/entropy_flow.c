#include "entropy.h"

/* One value a flow, drawn from the seed: what ECMP hashes over five-tuples expect. */

static uint16_t flow_data(struct dp *dp, struct host *host, uint32_t flow, uint32_t psn,
                          uint64_t now)
{
    (void)host;
    (void)psn;
    (void)now;
    uint64_t state = dp->settings.seed ^ (uint64_t)flow << 32;
    return (uint16_t)(random_next(&state) >> 48);
}

const struct entropy entropy_flow = { .name = "flow", .data = flow_data };

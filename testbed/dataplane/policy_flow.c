#include "policy.h"

/* One value a flow, drawn from the seed: what ECMP hashes over five-tuples expect. */

static uint16_t flow_data(struct dp *dp, struct host *host, uint32_t flow, uint64_t now)
{
    (void)host;
    (void)now;
    uint64_t state = dp->settings.seed ^ (uint64_t)flow << 32;
    return (uint16_t)(random_next(&state) >> 48);
}

const struct policy policy_flow = { .name = "flow", .data = flow_data };

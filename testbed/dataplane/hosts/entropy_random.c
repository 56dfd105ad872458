#include "entropy.h"

/* RPS: a new value for each frame, data and ACK, over all 16 bits. */

static uint16_t random_data(struct dp *dp, struct host *host, uint32_t flow, uint32_t psn,
                            uint64_t now)
{
    (void)dp;
    (void)flow;
    (void)psn;
    (void)now;
    return (uint16_t)(random_next(&host->random) >> 48);
}

static uint16_t random_ack(struct dp *dp, struct host *host, uint32_t flow)
{
    (void)dp;
    (void)flow;
    return (uint16_t)(random_next(&host->random) >> 48);
}

const struct entropy entropy_random = { .name = "random", .data = random_data, .ack = random_ack };

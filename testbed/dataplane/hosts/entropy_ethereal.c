#include "entropy.h"

/*
 * Ethereal: the packets of a flow's subflows leave in turn, each subflow pinned to a path. The
 * plan splits the flows and draws the paths' order; ACKs take the reverse of their data's path.
 */

static uint16_t ethereal_data(struct dp *dp, struct host *host, uint32_t flow, uint32_t psn,
                              uint64_t now)
{
    (void)host;
    (void)now;
    const struct sender *sender = &dp->senders[flow];
    return dp->paths[sender->path_first + psn % sender->path_count];
}

const struct entropy entropy_ethereal = { .name = "ethereal", .data = ethereal_data };

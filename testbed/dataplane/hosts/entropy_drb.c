#include <stdlib.h>

#include "entropy.h"

/*
 * DRB: each pair of hosts has one pointer for data and one for ACKs, from random starts, that
 * rotate over the pair's paths in the order of their numbers: consecutive frames take different
 * aggregation switches.
 */

struct drb {
    uint32_t *data;  /* per pair of hosts; used by the sending host only */
    uint32_t *ack;   /* used by the receiving host only */
};

static void drb_close(struct dp *dp)
{
    struct drb *drb = dp->entropy_state;
    if (!drb)
        return;
    free(drb->data);
    free(drb->ack);
    free(drb);
}

static uint32_t pair_count(const struct dp *dp)
{
    uint32_t count = 0;
    for (uint64_t flow = 0; flow < dp->flow_count; flow++)
        count = dp->senders[flow].pair >= count ? dp->senders[flow].pair + 1 : count;
    return count;
}

static int drb_open(struct dp *dp)
{
    struct drb *drb = calloc(1, sizeof *drb);
    dp->entropy_state = drb;
    if (!drb)
        return -1;
    uint32_t pairs = pair_count(dp);
    drb->data = malloc((pairs + 1) * sizeof *drb->data);
    drb->ack = malloc((pairs + 1) * sizeof *drb->ack);
    if (!drb->data || !drb->ack)
        return -1;
    uint64_t state = dp->settings.seed ^ 0x647262;
    for (uint32_t pair = 0; pair < pairs; pair++) {
        drb->data[pair] = (uint32_t)(random_next(&state) >> 33);
        drb->ack[pair] = (uint32_t)(random_next(&state) >> 33);
    }
    return 0;
}

static uint16_t next_path(const struct dp *dp, uint32_t flow, uint32_t *pointers)
{
    const struct sender *sender = &dp->senders[flow];
    uint32_t *pointer = &pointers[sender->pair];
    uint32_t place = *pointer % sender->path_count;
    *pointer = place + 1;
    return dp->paths[sender->path_first + place];
}

static uint16_t drb_data(struct dp *dp, struct host *host, uint32_t flow, uint32_t psn,
                         uint64_t now)
{
    (void)host;
    (void)psn;
    (void)now;
    return next_path(dp, flow, ((struct drb *)dp->entropy_state)->data);
}

static uint16_t drb_ack(struct dp *dp, struct host *host, uint32_t flow)
{
    (void)host;
    return next_path(dp, flow, ((struct drb *)dp->entropy_state)->ack);
}

const struct entropy entropy_drb = {
    .name = "drb",
    .open = drb_open,
    .close = drb_close,
    .data = drb_data,
    .ack = drb_ack,
};

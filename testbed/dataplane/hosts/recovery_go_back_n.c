#include <stdlib.h>

#include "recovery.h"

/*
 * Go-back-N, as RoCE NICs do it: the receiver takes packets in order only. At the first one that
 * comes too early it answers with a NAK (PSN sequence error), and the sender goes back to there.
 * Subflows are queue pairs of their own: each has its own order.
 */

struct lanes {
    uint32_t *first;     /* per flow: where its subflows are in the two below */
    uint32_t *taken;     /* receiver: rounds taken in order */
    uint32_t *settled;   /* sender: rounds acknowledged */
};

enum { NACKED = 1u << 31 };  /* in `taken`: the present hole was reported */

static uint32_t *lane_of(const struct dp *dp, uint32_t *rounds, uint32_t flow, uint32_t psn)
{
    const struct lanes *all = dp->recovery_state;
    return &rounds[all->first[flow] + psn % dp->senders[flow].subflows];
}

static void close(struct dp *dp)
{
    struct lanes *lanes = dp->recovery_state;
    if (!lanes)
        return;
    free(lanes->first);
    free(lanes->taken);
    free(lanes->settled);
    free(lanes);
}

static int open(struct dp *dp)
{
    struct lanes *lanes = calloc(1, sizeof *lanes);
    dp->recovery_state = lanes;
    if (!lanes)
        return -1;
    size_t count = 0;
    lanes->first = calloc(dp->flow_count + 1, sizeof *lanes->first);
    for (uint64_t flow = 0; lanes->first && flow < dp->flow_count; flow++) {
        lanes->first[flow] = (uint32_t)count;
        count += dp->senders[flow].subflows;
    }
    lanes->taken = calloc(count + 1, sizeof *lanes->taken);
    lanes->settled = calloc(count + 1, sizeof *lanes->settled);
    return lanes->first && lanes->taken && lanes->settled && count <= UINT32_MAX ? 0 : -1;
}

static enum answer received(struct dp *dp, uint32_t flow, uint32_t psn, bool *wanted)
{
    const struct lanes *lanes = dp->recovery_state;
    uint32_t *lane = lane_of(dp, lanes->taken, flow, psn);
    uint32_t expected = *lane & ~NACKED;
    uint32_t round = psn / dp->senders[flow].subflows;
    bool reported = *lane & NACKED;
    *wanted = round == expected;
    if (*wanted)
        *lane = expected + 1;
    if (round <= expected)
        return ANSWER_ACK;
    *lane |= NACKED;
    return reported ? ANSWER_NOTHING : ANSWER_NACK;
}

/* Without its payload a packet is as good as one that comes too early. */
static enum answer cut(struct dp *dp, uint32_t flow, uint32_t psn)
{
    const struct lanes *lanes = dp->recovery_state;
    uint32_t *lane = lane_of(dp, lanes->taken, flow, psn);
    uint32_t expected = *lane & ~NACKED;
    uint32_t round = psn / dp->senders[flow].subflows;
    bool reported = *lane & NACKED;
    if (round < expected)
        return ANSWER_ACK;
    *lane |= NACKED;
    return reported && round > expected ? ANSWER_NOTHING : ANSWER_NACK;
}

static uint32_t cumulative(const struct dp *dp, uint32_t flow, uint32_t psn)
{
    const struct lanes *lanes = dp->recovery_state;
    uint32_t subflows = dp->senders[flow].subflows;
    uint32_t taken = *lane_of(dp, lanes->taken, flow, psn) & ~NACKED;
    return taken * subflows + psn % subflows;
}

/* All of a lane before `end` has arrived. */
static void settle_lane(struct dp *dp, uint32_t flow, uint32_t end, struct news *news,
                        uint64_t now)
{
    const struct lanes *lanes = dp->recovery_state;
    uint32_t subflows = dp->senders[flow].subflows;
    uint32_t *lane = lane_of(dp, lanes->settled, flow, end);
    uint32_t offset = end % subflows;
    for (; *lane < end / subflows && *lane * subflows + offset < dp->senders[flow].sent; ++*lane)
        transport_settle(dp, flow, *lane * subflows + offset, news, now);
}

static void acknowledged(struct dp *dp, struct host *host, const struct frame_view *ack,
                         struct news *news, uint64_t now)
{
    (void)host;
    uint32_t flow = ack->flow;
    settle_lane(dp, flow, psn_near(dp->senders[flow].acked.base, ack->cumulative), news, now);
}

static uint64_t go_back_to(struct dp *dp, uint32_t flow, uint32_t psn)
{
    const struct sender *sender = &dp->senders[flow];
    uint64_t bytes = 0;
    for (; psn < sender->sent; psn += sender->subflows)
        bytes += transport_lose(dp, flow, psn);
    return bytes;
}

static void nacked(struct dp *dp, struct host *host, const struct frame_view *nack, uint64_t now)
{
    (void)host;
    uint32_t flow = nack->flow;
    uint32_t hole = psn_near(dp->senders[flow].acked.base, nack->cumulative);
    struct news news = { 0 };
    settle_lane(dp, flow, hole, &news, now);
    struct news lost = { .bytes = go_back_to(dp, flow, hole) };
    if (lost.bytes > 0)
        transport_signal(dp, flow, DP_NACK, &lost, false, now);
}

/* What is overdue pulls all of its lane along. */
static void alarm(struct worker *worker, struct host *host, uint32_t flow, uint64_t now)
{
    struct dp *dp = worker->dp;
    const struct sender *sender = &dp->senders[flow];
    recovery_check_timer(worker, host, flow, now);
    for (uint32_t psn = sender->acked.base; psn + sender->subflows < sender->sent; psn++)
        if (record_of(transport_of(dp, flow), psn)->state == RECORD_LOST &&
            record_of(transport_of(dp, flow), psn + sender->subflows)->state == RECORD_FLYING)
            go_back_to(dp, flow, psn);
}

const struct recovery recovery_go_back_n = {
    .name = "go-back-n",
    .active = true,
    .open = open,
    .close = close,
    .received = received,
    .cut = cut,
    .cumulative = cumulative,
    .acknowledged = acknowledged,
    .nacked = nacked,
    .alarm = alarm,
};

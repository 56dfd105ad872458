#include "recovery.h"
#include "registry.h"

/*
 * Selective repeat: the receiver takes packets in any order and acknowledges each with what it has
 * below (cumulative) and around it (bitmap). A packet is lost when its timer ends, when a NACK says
 * that its payload was cut, or, where congestion control says so, after so many acknowledgements
 * without progress in order (NewReno).
 */

static void count_duplicate(struct dp *dp, uint32_t flow, uint64_t now)
{
    struct transport *transport = transport_of(dp, flow);
    const struct sender *sender = &dp->senders[flow];
    uint32_t limit = dp->congestion->duplicates(&dp->network, transport->routes);
    if (++transport->duplicates != limit || transport->recovering ||
        sender->acked.base < transport->recover)
        return;
    struct news lost = { .bytes = transport_lose(dp, flow, sender->acked.base) };
    transport->recovering = true;
    transport->recover = sender->sent;
    transport_signal(dp, flow, DP_LOST, &lost, false, now);
}

static void note_progress(struct dp *dp, uint32_t flow, uint64_t now)
{
    struct transport *transport = transport_of(dp, flow);
    const struct sender *sender = &dp->senders[flow];
    transport->duplicates = 0;
    if (!transport->recovering)
        return;
    if (sender->acked.base < transport->recover) {
        if (!record_of(transport, sender->acked.base)->again)
            transport_lose(dp, flow, sender->acked.base);
        return;
    }
    const struct news none = { 0 };
    transport->recovering = false;
    transport_signal(dp, flow, DP_RECOVERED, &none, false, now);
}

static void acknowledged(struct dp *dp, struct host *host, const struct frame_view *ack,
                         struct news *news, uint64_t now)
{
    (void)host;
    uint32_t flow = ack->flow;
    recovery_settle(dp, flow, ack, news, now);
    if (!dp->congestion->duplicates)
        return;
    if (news->in_order_bytes > 0)
        note_progress(dp, flow, now);
    else
        count_duplicate(dp, flow, now);
}

/* A packet whose retransmission has come meanwhile is acknowledged. */
static enum answer cut(struct dp *dp, uint32_t flow, uint32_t psn)
{
    return seen_has(&dp->receivers[flow].seen, psn) ? ANSWER_ACK : ANSWER_NACK;
}

/* Where duplicate ACKs mean a loss, a NACK does too: one a window. */
static void nacked(struct dp *dp, struct host *host, const struct frame_view *nack, uint64_t now)
{
    (void)host;
    uint32_t flow = nack->flow;
    struct transport *transport = transport_of(dp, flow);
    const struct sender *sender = &dp->senders[flow];
    uint32_t psn = psn_near(sender->acked.base, nack->psn);
    struct news lost = { .bytes = transport_lose(dp, flow, psn) };
    if (lost.bytes == 0)
        return;
    if (!dp->congestion->duplicates) {
        transport_signal(dp, flow, DP_NACK, &lost, false, now);
    } else if (!transport->recovering && sender->acked.base >= transport->recover) {
        transport->recovering = true;
        transport->recover = sender->sent;
        transport_signal(dp, flow, DP_LOST, &lost, false, now);
    }
}

const struct recovery recovery_selective = {
    .name = "selective",
    .active = true,
    .cut = cut,
    .acknowledged = acknowledged,
    .nacked = nacked,
    .alarm = recovery_check_timer,
};

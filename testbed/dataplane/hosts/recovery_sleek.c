#include <stdlib.h>

#include "recovery.h"
#include "registry.h"
#include "sending.h"

/*
 * SLEEK, as UEC's reference simulator has it, for networks that do not trim: selective repeat that
 * does not wait for timers. A flow whose receiver has so many packets beyond the first missing one
 * that reordering cannot explain it (a share of the window) recovers: up to where it was then, what
 * is not acknowledged is sent again, each packet once, as far from the first missing one as the
 * window is long. Where no ACK comes for a while a probe, a packet's header only, asks for one: if
 * the packet is missing although the probe met hardly any queue, the flow recovers too.
 */

struct sleek {
    uint64_t probe_at;
    uint64_t probed_at;      /* 0: no probe is on its way */
    uint32_t probed;         /* its PSN */
    uint32_t again_from;     /* what is below was sent again */
};

static int open(struct dp *dp)
{
    dp->recovery_state = calloc(dp->flow_count + 1, sizeof(struct sleek));
    return dp->recovery_state ? 0 : -1;
}

static void close(struct dp *dp)
{
    free(dp->recovery_state);
}

static struct sleek *sleek_of(const struct dp *dp, uint32_t flow)
{
    return &((struct sleek *)dp->recovery_state)[flow];
}

static double parameter(const struct dp *dp, uint32_t number)
{
    return dp->settings.recovery_parameters[number];
}

static uint64_t round_trips(const struct dp *dp, uint32_t number)
{
    return portion(dp->network.rtt_ps, parameter(dp, number));
}

/* --- Recovering --- */

static double window_packets(const struct dp *dp, const struct transport *transport)
{
    return transport->cca.window / dp->network.frame;
}

/* Packets out of order that mean a loss. */
static double threshold(const struct dp *dp, const struct transport *transport)
{
    double most = parameter(dp, SLEEK_MOST_BDPS) * dp->network.bdp / dp->network.frame;
    double packets = smaller(parameter(dp, SLEEK_FACTOR) * window_packets(dp, transport), most);
    return larger(packets, parameter(dp, SLEEK_LEAST_PACKETS));
}

static void enter(struct dp *dp, uint32_t flow, uint64_t now)
{
    struct transport *transport = transport_of(dp, flow);
    const struct news none = { 0 };
    transport->recover = dp->senders[flow].sent;
    if (!transport->recovering)
        transport_signal(dp, flow, DP_LOST, &none, false, now);
    transport->recovering = true;
}

static void leave(struct dp *dp, uint32_t flow, uint64_t now)
{
    struct transport *transport = transport_of(dp, flow);
    const struct news none = { 0 };
    transport->recovering = false;
    transport_signal(dp, flow, DP_RECOVERED, &none, false, now);
}

static void send_again(struct dp *dp, uint32_t flow)
{
    struct transport *transport = transport_of(dp, flow);
    struct sleek *sleek = sleek_of(dp, flow);
    uint32_t base = dp->senders[flow].acked.base;
    double reach = base + window_packets(dp, transport);
    uint32_t end = reach < transport->recover ? (uint32_t)reach : transport->recover;
    for (uint32_t psn = sleek->again_from > base ? sleek->again_from : base; psn < end; psn++)
        if (transport_lose(dp, flow, psn) > 0)
            sleek->again_from = psn + 1;
}

static void look(struct dp *dp, uint32_t flow, uint64_t now)
{
    struct transport *transport = transport_of(dp, flow);
    const struct sender *sender = &dp->senders[flow];
    if (transport->recovering && sender->acked.base >= transport->recover)
        leave(dp, flow, now);
    if (!transport->recovering && transport->lost == 0 &&
        sender->acked.above >= threshold(dp, transport))
        enter(dp, flow, now);
    if (transport->recovering)
        send_again(dp, flow);
    transport->beyond_window = transport->recovering;
}

/* --- Probes --- */

static void set_probe(struct dp *dp, struct host *host, uint32_t flow, uint64_t time)
{
    sleek_of(dp, flow)->probe_at = time;
    transport_set_alarm(dp, host, flow, time);
}

/* After an ACK, if more of them is to come: at the end of a flow there is less to wait for. */
static void expect_ack(struct dp *dp, struct host *host, uint32_t flow, uint64_t now)
{
    const struct sender *sender = &dp->senders[flow];
    bool tail = sender->sent == sender->packets;
    uint64_t patience = tail ? dp->network.rtt_ps + round_trips(dp, SLEEK_TARGET_RTTS)
                             : round_trips(dp, SLEEK_PROBE_RTTS);
    sleek_of(dp, flow)->probed_at = 0;
    set_probe(dp, host, flow, now + patience);
}

static void probe(struct worker *worker, struct host *host, uint32_t flow, uint64_t now)
{
    struct dp *dp = worker->dp;
    const struct sender *sender = &dp->senders[flow];
    const struct transport *transport = transport_of(dp, flow);
    uint32_t psn = sender->acked.base;
    while (psn < sender->sent && record_of(transport, psn)->state != RECORD_FLYING)
        psn++;
    if (psn == sender->sent)
        return;
    struct sleek *sleek = sleek_of(dp, flow);
    sleek->probed = psn;
    sleek->probed_at = now;
    sending_queue_header(worker, host, flow, psn, record_of(transport, psn)->entropy);
    set_probe(dp, host, flow, now + round_trips(dp, SLEEK_AGAIN_RTTS));
}

/* Whether an answer is to the present probe, and came as fast as it would without queues. */
static bool probe_was_fast(const struct dp *dp, uint32_t flow, uint32_t psn, uint64_t now)
{
    const struct sleek *sleek = sleek_of(dp, flow);
    uint64_t limit = dp->network.rtt_ps + round_trips(dp, SLEEK_TARGET_RTTS);
    return sleek->probed_at > 0 && psn == sleek->probed && now - sleek->probed_at < limit;
}

/* --- The hooks --- */

static enum answer cut(struct dp *dp, uint32_t flow, uint32_t psn)
{
    return seen_has(&dp->receivers[flow].seen, psn) ? ANSWER_ACK : ANSWER_NACK;
}

static void acknowledged(struct dp *dp, struct host *host, const struct frame_view *ack,
                         struct news *news, uint64_t now)
{
    uint32_t flow = ack->flow;
    recovery_settle(dp, flow, ack, news, now);
    expect_ack(dp, host, flow, now);
    look(dp, flow, now);
}

static void nacked(struct dp *dp, struct host *host, const struct frame_view *nack, uint64_t now)
{
    uint32_t flow = nack->flow;
    struct news news = { 0 };
    bool fast = probe_was_fast(dp, flow, psn_near(dp->senders[flow].acked.base, nack->psn), now);
    recovery_settle(dp, flow, nack, &news, now);
    if (news.bytes > 0)
        transport_signal(dp, flow, DP_ACK, &news, nack->congested, now);
    expect_ack(dp, host, flow, now);
    if (fast) {
        sleek_of(dp, flow)->again_from = dp->senders[flow].acked.base;
        enter(dp, flow, now);
    }
    look(dp, flow, now);
}

static void alarm(struct worker *worker, struct host *host, uint32_t flow, uint64_t now)
{
    struct dp *dp = worker->dp;
    struct transport *transport = transport_of(dp, flow);
    recovery_check_timer(worker, host, flow, now);
    transport->beyond_window = transport->recovering;
    if (transport->given_up)
        return;
    struct sleek *sleek = sleek_of(dp, flow);
    if (sleek->probe_at > now) {
        transport_set_alarm(dp, host, flow, sleek->probe_at);
    } else if (sleek->probe_at > 0) {
        sleek->probe_at = 0;
        probe(worker, host, flow, now);
    }
}

const struct recovery recovery_sleek = {
    .name = "sleek",
    .active = true,
    .open = open,
    .close = close,
    .cut = cut,
    .acknowledged = acknowledged,
    .nacked = nacked,
    .alarm = alarm,
};

#include "host.h"

#include <assert.h>

#include "arrivals.h"
#include "entropy.h"
#include "frame.h"
#include "recovery.h"
#include "sending.h"
#include "starts.h"
#include "waits.h"

/* --- What a host does by itself --- */

static uint64_t earlier(uint64_t one, uint64_t other)
{
    return one < other ? one : other;
}

uint64_t host_next(const struct dp *dp, const struct host *host)
{
    uint64_t own = earlier(starts_next(dp, host), alarms_next(&host->alarms));
    return earlier(own, sending_next(host));
}

static void end_computation(struct worker *worker, struct host *host, uint32_t flow, uint64_t now)
{
    struct dp *dp = worker->dp;
    dp->senders[flow].start = now - dp->delay[flow];
    dp->senders[flow].finish = now;
    dp->receivers[flow].delivered = now;
    worker->finished++;
    worker->last_movement = now;
    waits_release(dp, host, flow, EVENT_DELIVERED, now);
}

static void begin(struct worker *worker, struct host *host, uint64_t now)
{
    uint32_t flow = starts_take(worker->dp, host);
    if (worker->dp->senders[flow].packets == 0)
        end_computation(worker, host, flow, now);
    else
        sending_begin(worker->dp, host, flow, now);
}

static void follow_alarm(struct worker *worker, struct host *host, uint64_t now)
{
    struct dp *dp = worker->dp;
    struct alarm alarm = alarms_take(&host->alarms);
    struct transport *transport = transport_of(dp, alarm.flow);
    if (alarm.time != transport->alarm)
        return;
    transport->alarm = TIME_NEVER;
    if (dp->recovery->alarm)
        dp->recovery->alarm(worker, host, alarm.flow, now);
    sending_offer(dp, host, alarm.flow, now);
}

void host_act(struct worker *worker, struct host *host, uint64_t now)
{
    host->now = now;
    if (starts_next(worker->dp, host) <= now)
        begin(worker, host, now);
    else if (alarms_next(&host->alarms) <= now)
        follow_alarm(worker, host, now);
    else
        sending_act(worker, host, now);
}

/* --- Data --- */

static void deliver(struct worker *worker, struct host *host, uint32_t flow, uint64_t now)
{
    struct dp *dp = worker->dp;
    dp->receivers[flow].delivered = now;
    seen_free(&dp->receivers[flow].seen);
    worker->finished += !dp->settings.acks;
    waits_release(dp, host, flow, EVENT_DELIVERED, now);
}

/* Count a packet, once; a packet beyond the message is nobody's. */
static void take(struct worker *worker, struct host *host, uint32_t flow, uint32_t psn,
                 uint64_t now)
{
    struct receiver *receiver = &worker->dp->receivers[flow];
    if (psn >= worker->dp->senders[flow].packets)
        return;
    if (!seen_add(&receiver->seen, psn))
        receiver->duplicates++;
    else if (++receiver->received == worker->dp->senders[flow].packets)
        deliver(worker, host, flow, now);
}

/* The answer to a packet: its number, what is there in order, and which of the 64 up to it. */
static void answer(struct worker *worker, struct host *host, uint32_t number,
                   const struct frame_view *view, struct frame_answer answer, uint32_t psn)
{
    struct dp *dp = worker->dp;
    answer.entropy = dp->entropy->ack ? dp->entropy->ack(dp, host, view->flow) : view->entropy;
    if (answer.extended) {
        bool far = psn >= answer.cumulative && psn - answer.cumulative > 63;
        uint32_t first = far ? psn - 63 : answer.cumulative;
        answer.bitmap = seen_word(&dp->receivers[view->flow].seen, first);
    }
    frame_acknowledge(packet_at(dp, number), &answer);
    sending_queue_ack(host, number);
}

static void respond(struct worker *worker, struct host *host, uint32_t number,
                    const struct frame_view *view, uint32_t psn, struct frame_answer reply)
{
    const struct dp *dp = worker->dp;
    reply.extended = dp->recovery->active;
    reply.cumulative = dp->recovery->cumulative ? dp->recovery->cumulative(dp, view->flow, psn)
                                                : dp->receivers[view->flow].seen.base;
    answer(worker, host, number, view, reply, psn);
}

static void receive_cut(struct worker *worker, struct host *host, uint32_t number,
                        const struct frame_view *view)
{
    struct dp *dp = worker->dp;
    uint32_t psn = psn_near(dp->receivers[view->flow].seen.base, view->psn);
    enum answer kind = dp->recovery->cut ? dp->recovery->cut(dp, view->flow, psn) : ANSWER_NOTHING;
    bool nack = kind == ANSWER_NACK;
    if (kind == ANSWER_NOTHING)
        packet_free(worker, number);
    else
        respond(worker, host, number, view, psn,
                (struct frame_answer){ .nack = nack, .cut = nack });
}

static void receive_data(struct worker *worker, struct host *host, uint32_t number,
                         const struct frame_view *view, uint64_t now)
{
    struct dp *dp = worker->dp;
    struct receiver *receiver = &dp->receivers[view->flow];
    uint32_t psn = psn_near(receiver->seen.base, view->psn);
    enum answer kind = ANSWER_ACK;
    bool wanted = true;
    receiver->marks += view->congested;
    if (dp->recovery->received)
        kind = dp->recovery->received(dp, view->flow, psn, &wanted);
    if (wanted)
        take(worker, host, view->flow, psn, now);
    else
        receiver->duplicates += kind == ANSWER_ACK;
    if (!dp->settings.acks || kind == ANSWER_NOTHING) {
        packet_free(worker, number);
        return;
    }
    respond(worker, host, number, view, psn,
            (struct frame_answer){ .nack = kind == ANSWER_NACK });
}

/* --- ACKs --- */

static void settle(struct dp *dp, struct host *host, const struct frame_view *view,
                   struct news *news, uint64_t now)
{
    uint32_t flow = view->flow;
    if (dp->recovery->acknowledged)
        dp->recovery->acknowledged(dp, host, view, news, now);
    else
        transport_settle(dp, flow, psn_near(dp->senders[flow].acked.base, view->psn), news, now);
}

static void measure(struct transport *transport, uint64_t rtt)
{
    if (transport->srtt == 0) {
        transport->srtt = rtt;
        transport->mdev = rtt / 2;
        return;
    }
    uint64_t error = rtt > transport->srtt ? rtt - transport->srtt : transport->srtt - rtt;
    transport->mdev = transport->mdev - transport->mdev / 4 + error / 4;
    transport->srtt = transport->srtt - transport->srtt / 8 + rtt / 8;
}

/* The books of a flow, and its congestion control. */
static void follow_ack(struct dp *dp, struct host *host, const struct frame_view *view,
                       uint64_t now)
{
    struct transport *transport = transport_of(dp, view->flow);
    if (view->nack && dp->recovery->nacked) {
        dp->recovery->nacked(dp, host, view, now);
        recovery_check_patience(dp, view->flow, now);
    } else {
        struct news news = { 0 };
        settle(dp, host, view, &news, now);
        if (news.rtt > 0)
            measure(transport, news.rtt);
        if (news.bytes > 0) {
            transport->fruitless = 0;
            transport->news_at = now;
        }
        transport_signal(dp, view->flow, DP_ACK, &news, view->congested, now);
    }
    sending_offer(dp, host, view->flow, now);
}

static void finish(struct worker *worker, struct host *host, uint32_t flow, uint64_t now)
{
    struct dp *dp = worker->dp;
    dp->senders[flow].finish = now;
    seen_free(&dp->senders[flow].acked);
    if (dp->transports)
        transport_end(dp, flow);
    worker->finished++;
    waits_release(dp, host, flow, EVENT_ACKNOWLEDGED, now);
}

/* Without books: count a packet, once. */
static void note_arrival(struct sender *sender, uint32_t psn)
{
    if (psn < sender->sent)
        sender->acknowledged += seen_add(&sender->acked, psn);
}

static void receive_ack(struct worker *worker, struct host *host, uint32_t number,
                        const struct frame_view *view, uint64_t now)
{
    struct dp *dp = worker->dp;
    struct sender *sender = &dp->senders[view->flow];
    packet_free(worker, number);
    if (sender->finish != TIME_NEVER)
        return;
    if (dp->entropy->acknowledged && (!view->nack || view->cut))
        dp->entropy->acknowledged(dp, host, view, now);
    if (dp->transports)
        follow_ack(dp, host, view, now);
    else
        note_arrival(sender, psn_near(sender->acked.base, view->psn));
    if (sender->acknowledged == sender->packets)
        finish(worker, host, view->flow, now);
}

/* --- Frames --- */

static bool is_for(const struct dp *dp, const struct host *host, const struct packet *packet,
                   const struct frame_view *view)
{
    if (packet->class == FRAME_OTHER || view->destination != host->ipv4 ||
        view->flow >= dp->flow_count)
        return false;
    const struct sender *sender = &dp->senders[view->flow];
    return host->node == (packet->class == FRAME_ACK ? sender->source : sender->destination);
}

/* Whether chance takes the next frame; it depends on the host and on how many came before. */
static bool lost_by_chance(const struct dp *dp, struct host *host)
{
    if (dp->loss_threshold == 0)
        return false;
    uint64_t state = dp->settings.seed ^ 0x6c6f7373;
    state = random_next(&state) + ((uint64_t)host->node << 40) + host->arrivals++;
    return random_next(&state) < dp->loss_threshold;
}

void host_receive(struct worker *worker, struct host *host, uint32_t number, uint64_t now)
{
    const struct packet *packet = packet_at(worker->dp, number);
    struct frame_view view = frame_read(packet);
    assert(now >= host->now);
    host->now = now;
    worker->totals.hops++;
    if (lost_by_chance(worker->dp, host)) {
        worker->totals.dropped_loss++;
        packet_free(worker, number);
        return;
    }
    if (!is_for(worker->dp, host, packet, &view)) {
        worker->totals.dropped_host++;
        packet_free(worker, number);
        return;
    }
    worker->totals.delivered++;
    arrivals_note(worker, host->port, packet, now);
    worker->last_movement = now;
    if (packet->class == FRAME_DATA)
        receive_data(worker, host, number, &view, now);
    else if (packet->class == FRAME_TRIMMED)
        receive_cut(worker, host, number, &view);
    else
        receive_ack(worker, host, number, &view, now);
}

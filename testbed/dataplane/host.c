#include "host.h"

#include <assert.h>
#include <stdlib.h>

#include "arrivals.h"
#include "frame.h"
#include "policy.h"
#include "port.h"
#include "starts.h"

enum { FCS_BYTES = 4 };

/* --- Messages as packets --- */

uint64_t host_packets(const struct dp *dp, uint64_t bytes, uint32_t subflows)
{
    uint64_t payload = dp->settings.payload_bytes;
    uint64_t base = bytes / subflows;
    uint64_t longer = bytes % subflows;
    uint64_t packets = (base + payload - 1) / payload;
    return packets * subflows + (base % payload == 0 ? longer : 0);
}

/* Payload of packet `index`: round `index / subflows` of subflow `index % subflows`. */
static uint32_t payload_of(const struct dp *dp, const struct sender *sender, uint32_t index)
{
    uint64_t payload = dp->settings.payload_bytes;
    uint32_t subflow = index % sender->subflows;
    uint64_t size = sender->bytes / sender->subflows + (subflow < sender->bytes % sender->subflows);
    uint64_t left = size - payload * (index / sender->subflows);
    return (uint32_t)(left < payload ? left : payload);
}

/* --- Sending --- */

static void push_active(struct host *host, uint32_t flow)
{
    uint32_t place = host->active_head + host->active_count++;
    host->active[place < host->flow_count ? place : place - host->flow_count] = flow;
}

static uint32_t pop_active(struct host *host)
{
    uint32_t flow = host->active[host->active_head];
    host->active_count--;
    if (++host->active_head == host->flow_count)
        host->active_head = 0;
    return flow;
}

static void activate(struct host *host, uint32_t flow, uint64_t now)
{
    if (host->active_count == 0 && host->due < now)
        host->due = now;
    push_active(host, flow);
}

static uint64_t next_frame(const struct host *host)
{
    uint64_t earliest = host->port->free_at > host->now ? host->port->free_at : host->now;
    if (host->acks.count > 0)
        return earliest;
    if (host->active_count == 0)
        return TIME_NEVER;
    return earliest > host->due ? earliest : host->due;
}

uint64_t host_next(const struct dp *dp, const struct host *host)
{
    uint64_t start = starts_next(dp, host);
    uint64_t frame = next_frame(host);
    return start < frame ? start : frame;
}

/* What a flow that waits for another may wait for. */
enum event { EVENT_SENT, EVENT_ACKNOWLEDGED, EVENT_DELIVERED };

static bool waits_for(const struct dp *dp, const struct host *host, uint32_t entry,
                      enum event event)
{
    if (&dp->host[dp->senders[entry & ~(uint32_t)DP_ACKNOWLEDGED].source] != host)
        return false;
    if (event == EVENT_DELIVERED)
        return true;
    bool patient = (entry & DP_ACKNOWLEDGED) && dp->settings.acks;
    return patient == (event == EVENT_ACKNOWLEDGED);
}

/* Let flows of this host go on that wait for this of `flow`. */
static void release(struct dp *dp, struct host *host, uint32_t flow, enum event event,
                    uint64_t now)
{
    const struct receiver *receiver = &dp->receivers[flow];
    for (uint32_t i = receiver[0].first_waiting; i < receiver[1].first_waiting; i++) {
        uint32_t entry = dp->waiting[i];
        uint32_t waiting = entry & ~(uint32_t)DP_ACKNOWLEDGED;
        if (waits_for(dp, host, entry, event) && --dp->missing[waiting] == 0)
            starts_add(dp, host, waiting, now);
    }
}

static void end_computation(struct worker *worker, struct host *host, uint32_t flow, uint64_t now)
{
    struct dp *dp = worker->dp;
    dp->senders[flow].start = now - dp->delay[flow];
    dp->senders[flow].finish = now;
    dp->receivers[flow].delivered = now;
    worker->finished++;
    worker->last_movement = now;
    release(dp, host, flow, EVENT_DELIVERED, now);
}

static void begin(struct worker *worker, struct host *host, uint64_t now)
{
    uint32_t flow = starts_take(worker->dp, host);
    if (worker->dp->senders[flow].packets == 0)
        end_computation(worker, host, flow, now);
    else
        activate(host, flow, now);
}

static uint64_t pace(const struct dp *dp, uint32_t bytes)
{
    double interval = (double)(serialisation(dp, bytes) + dp->gap_ps) / dp->settings.load;
    return (uint64_t)(interval + 0.5);
}

static void send(struct worker *worker, struct host *host, uint32_t number, uint64_t now)
{
    worker->totals.sent++;
    worker->last_movement = now;
    if (!port_enqueue(worker, host->port, number, now))
        packet_free(worker, number);
}

static void send_data(struct worker *worker, struct host *host, uint64_t now)
{
    struct dp *dp = worker->dp;
    uint32_t flow = pop_active(host);
    struct sender *sender = &dp->senders[flow];
    const struct host *to = &dp->host[sender->destination];
    uint32_t number = packet_new(worker, FRAME_DATA_HEADERS);
    struct packet *packet = packet_at(dp, number);
    uint32_t length = payload_of(dp, sender, sender->sent) + dp->settings.header_bytes - FCS_BYTES;
    uint16_t entropy = dp->policy->data(dp, host, flow, now);
    frame_data(packet, length, (struct frame_address){ host->mac, host->ipv4 },
               (struct frame_address){ to->mac, to->ipv4 }, flow, sender->sent, entropy);
    if (sender->sent++ == 0)
        sender->start = now;
    if (sender->sent < sender->packets)
        push_active(host, flow);
    else
        release(dp, host, flow, EVENT_SENT, now);
    host->due += pace(dp, port_charge(dp, packet));
    host->sent_data = true;
    send(worker, host, number, now);
}

static void send_ack(struct worker *worker, struct host *host, uint64_t now)
{
    struct ack_queue *acks = &host->acks;
    uint32_t number = acks->packets[acks->head];
    acks->head = (acks->head + 1) & (acks->room - 1);
    acks->count--;
    host->sent_data = false;
    send(worker, host, number, now);
}

void host_act(struct worker *worker, struct host *host, uint64_t now)
{
    host->now = now;
    if (starts_next(worker->dp, host) <= now) {
        begin(worker, host, now);
        return;
    }
    bool data = host->active_count > 0 && host->due <= now;
    if (data && (host->acks.count == 0 || !host->sent_data))
        send_data(worker, host, now);
    else
        send_ack(worker, host, now);
}

/* --- Receiving --- */

static void grow(struct ack_queue *acks)
{
    uint32_t room = acks->room ? 2 * acks->room : 8;
    uint32_t *packets = malloc(room * sizeof *packets);
    if (!packets)
        abort();
    for (uint32_t i = 0; i < acks->count; i++)
        packets[i] = acks->packets[(acks->head + i) & (acks->room - 1)];
    free(acks->packets);
    *acks = (struct ack_queue){ packets, 0, acks->count, room };
}

static void acknowledge(struct worker *worker, struct host *host, uint32_t number,
                        const struct frame_view *view)
{
    struct dp *dp = worker->dp;
    struct ack_queue *acks = &host->acks;
    uint16_t entropy = view->entropy;
    if (dp->policy->ack)
        entropy = dp->policy->ack(dp, host, view->flow);
    frame_acknowledge(packet_at(dp, number), entropy);
    if (acks->count == acks->room)
        grow(acks);
    acks->packets[(acks->head + acks->count++) & (acks->room - 1)] = number;
}

static void deliver(struct worker *worker, struct host *host, uint32_t flow, uint64_t now)
{
    struct dp *dp = worker->dp;
    dp->receivers[flow].delivered = now;
    worker->finished += !dp->settings.acks;
    release(dp, host, flow, EVENT_DELIVERED, now);
}

static void receive_data(struct worker *worker, struct host *host, uint32_t number,
                         const struct frame_view *view, uint64_t now)
{
    struct dp *dp = worker->dp;
    if (++dp->receivers[view->flow].received == dp->senders[view->flow].packets)
        deliver(worker, host, view->flow, now);
    if (dp->settings.acks)
        acknowledge(worker, host, number, view);
    else
        packet_free(worker, number);
}

static void receive_ack(struct worker *worker, struct host *host, uint32_t number,
                        const struct frame_view *view, uint64_t now)
{
    struct dp *dp = worker->dp;
    struct sender *sender = &dp->senders[view->flow];
    packet_free(worker, number);
    if (dp->policy->acknowledged)
        dp->policy->acknowledged(dp, host, view, now);
    if (++sender->acknowledged == sender->packets) {
        sender->finish = now;
        worker->finished++;
        release(dp, host, view->flow, EVENT_ACKNOWLEDGED, now);
    }
}

static bool is_for(const struct dp *dp, const struct host *host, const struct packet *packet,
                   const struct frame_view *view)
{
    if (packet->class == FRAME_OTHER || view->destination != host->ipv4 ||
        view->flow >= dp->flow_count)
        return false;
    const struct sender *sender = &dp->senders[view->flow];
    return host->node == (packet->class == FRAME_DATA ? sender->destination : sender->source);
}

void host_receive(struct worker *worker, struct host *host, uint32_t number, uint64_t now)
{
    const struct packet *packet = packet_at(worker->dp, number);
    struct frame_view view = frame_read(packet);
    assert(now >= host->now);
    host->now = now;
    worker->totals.hops++;
    if (!is_for(worker->dp, host, packet, &view)) {
        worker->totals.dropped_host++;
        packet_free(worker, number);
        return;
    }
    worker->totals.delivered++;
    arrivals_note(worker, packet, now);
    worker->last_movement = now;
    if (packet->class == FRAME_DATA)
        receive_data(worker, host, number, &view, now);
    else
        receive_ack(worker, host, number, &view, now);
}

#include "sending.h"

#include <assert.h>
#include <stdlib.h>

#include "entropy.h"
#include "frame.h"
#include "packets.h"
#include "port.h"
#include "recovery.h"
#include "waits.h"

/* --- The ring of flows that have frames to send --- */

static void push_active(struct host *host, uint32_t flow)
{
    assert(host->active_count < host->flow_count);
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

/* The packet that a flow would send now; false if it has none or may not. */
static bool next_packet(struct dp *dp, struct host *host, uint32_t flow, uint64_t now,
                        uint32_t *psn)
{
    struct transport *transport = transport_of(dp, flow);
    if (!transport_next(dp, flow, psn))
        return false;
    if (now < transport->not_before) {
        transport_set_alarm(dp, host, flow, transport->not_before);
        return false;
    }
    return transport_may_send(dp, flow, packet_bytes(dp, &dp->senders[flow], *psn));
}

void sending_offer(struct dp *dp, struct host *host, uint32_t flow, uint64_t now)
{
    struct transport *transport = transport_of(dp, flow);
    uint32_t psn;
    if (transport->queued || !next_packet(dp, host, flow, now, &psn))
        return;
    transport->queued = true;
    activate(host, flow, now);
}

void sending_begin(struct dp *dp, struct host *host, uint32_t flow, uint64_t now)
{
    if (dp->transports)
        transport_of(dp, flow)->queued = true;
    activate(host, flow, now);
}

/* --- Frames --- */

static uint64_t pace(const struct dp *dp, const struct host *host, uint32_t bytes)
{
    const struct speed *speed = speed_of(dp, host->port);
    uint64_t least = serialisation(speed, bytes) + speed->gap_ps;
    return (uint64_t)(((unsigned __int128)least * dp->stretch + ((uint64_t)1 << 31)) >> 32);
}

static void send(struct worker *worker, struct host *host, uint32_t number, uint64_t now)
{
    worker->totals.sent++;
    worker->last_movement = now;
    if (!port_enqueue(worker, host->port, number, now))
        packet_free(worker, number);
}

static void note_departure(struct dp *dp, struct host *host, uint32_t flow, uint32_t psn,
                           uint64_t now)
{
    struct sender *sender = &dp->senders[flow];
    if (psn != sender->sent)
        return;
    if (sender->sent++ == 0)
        sender->start = now;
    if (sender->sent == sender->packets)
        waits_release(dp, host, flow, EVENT_SENT, now);
}

static uint32_t new_packet(struct worker *worker, const struct host *host, uint32_t flow,
                           uint32_t psn, uint16_t entropy)
{
    const struct dp *dp = worker->dp;
    const struct sender *sender = &dp->senders[flow];
    const struct host *to = &dp->host[sender->destination];
    uint32_t number = packet_new(worker, FRAME_DATA_HEADERS);
    frame_data(packet_at(dp, number), packet_length(dp, sender, psn),
               (struct frame_address){ host->mac, host->ipv4 },
               (struct frame_address){ to->mac, to->ipv4 }, flow, psn, entropy);
    return number;
}

static void send_packet(struct worker *worker, struct host *host, uint32_t flow, uint32_t psn,
                        uint64_t now)
{
    struct dp *dp = worker->dp;
    uint16_t entropy = dp->entropy->data(dp, host, flow, psn, now);
    uint32_t number = new_packet(worker, host, flow, psn, entropy);
    uint32_t bytes = port_charge(dp, packet_at(dp, number));
    if (dp->transports)
        transport_sent(dp, host, flow, psn, bytes, entropy, now);
    note_departure(dp, host, flow, psn, now);
    host->due += pace(dp, host, bytes);
    host->sent_data = true;
    send(worker, host, number, now);
}

static void send_data(struct worker *worker, struct host *host, uint64_t now)
{
    struct dp *dp = worker->dp;
    uint32_t flow = pop_active(host);
    uint32_t psn = dp->senders[flow].sent;
    if (!dp->transports) {
        send_packet(worker, host, flow, psn, now);
        if (dp->senders[flow].sent < dp->senders[flow].packets)
            push_active(host, flow);
        return;
    }
    transport_of(dp, flow)->queued = false;
    if (!next_packet(dp, host, flow, now, &psn))
        return;
    send_packet(worker, host, flow, psn, now);
    sending_offer(dp, host, flow, now);
}

/* --- ACKs --- */

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

void sending_queue_ack(struct host *host, uint32_t number)
{
    struct ack_queue *acks = &host->acks;
    if (acks->count == acks->room)
        grow(acks);
    acks->packets[(acks->head + acks->count++) & (acks->room - 1)] = number;
}

void sending_queue_header(struct worker *worker, struct host *host, uint32_t flow, uint32_t psn,
                          uint16_t entropy)
{
    uint32_t number = new_packet(worker, host, flow, psn, entropy);
    frame_trim(packet_at(worker->dp, number), true);
    sending_queue_ack(host, number);
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

/* --- In turn --- */

uint64_t sending_next(const struct host *host)
{
    uint64_t earliest = host->port->free_at > host->now ? host->port->free_at : host->now;
    if (host->acks.count > 0)
        return earliest;
    if (host->active_count == 0)
        return TIME_NEVER;
    return earliest > host->due ? earliest : host->due;
}

void sending_act(struct worker *worker, struct host *host, uint64_t now)
{
    bool data = host->active_count > 0 && host->due <= now;
    bool turn = !host->sent_data && !worker->dp->settings.ack_priority;
    if (data && (host->acks.count == 0 || turn))
        send_data(worker, host, now);
    else
        send_ack(worker, host, now);
}

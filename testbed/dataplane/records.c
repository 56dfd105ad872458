#include "records.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "build.h"
#include "hosts/transport.h"
#include "port.h"
#include "real/real.h"
#include "waiting.h"

enum { MOST_HOPS = 1000 };  /* that a frame may take between hosts, and far more than any needs */

uint64_t records_finished(const struct dp *dp)
{
    uint64_t finished = 0;
    for (uint32_t i = 0; i < dp->active_workers; i++)
        finished += dp->workers[i].finished;
    return finished;
}

bool records_failed(struct dp *dp)
{
    for (uint32_t i = 0; i < dp->active_workers; i++)
        if (dp->workers[i].failed) {
            build_fail(dp, "not enough memory for the queue time series or the trace");
            return true;
        }
    return false;
}

static uint64_t finish_of(const struct dp *dp, uint64_t flow)
{
    return dp->settings.acks ? dp->senders[flow].finish : dp->receivers[flow].delivered;
}

static bool gave_up(const struct dp *dp, uint64_t flow)
{
    return dp->transports && transport_of(dp, (uint32_t)flow)->given_up;
}

bool records_host_waits(const struct dp *dp)
{
    for (uint32_t i = 0; i < dp->hosts; i++)
        if (dp->host[i].start_count > 0 || dp->host[i].alarms.count > 0)
            return true;
    return false;
}

static uint64_t last_movement(const struct dp *dp)
{
    uint64_t latest = 0;
    for (uint32_t i = 0; i < dp->active_workers; i++)
        if (dp->workers[i].last_movement > latest)
            latest = dp->workers[i].last_movement;
    return latest;
}

bool records_circling(const struct dp *dp)
{
    uint64_t moved = last_movement(dp);
    if (moved < dp->changed_at)
        moved = dp->changed_at;
    return dp->flow_count > 0 && dp->now > moved &&
           dp->now - moved > MOST_HOPS * dp->longest_hop_ps && !records_host_waits(dp);
}

int records_stuck(struct dp *dp, const char *why)
{
    uint64_t waiting = dp->flow_count - records_finished(dp);
    uint64_t flow = 0;
    if (dp->flow_count == 0)
        return DP_DONE;
    while (finish_of(dp, flow) != TIME_NEVER)
        flow++;
    const struct sender *sender = &dp->senders[flow];
    snprintf(dp->message, sizeof dp->message,
             "%llu flows wait; the first is flow %llu from host %u to host %u: of %u frames %u "
             "were sent, %u arrived, %u were acknowledged%s%s",
             (unsigned long long)waiting, (unsigned long long)flow, sender->source,
             sender->destination, sender->packets, sender->sent, dp->receivers[flow].received,
             sender->acknowledged,
             gave_up(dp, flow) ? "; it gave up after too long without news" : "",
             why);
    return DP_STUCK;
}

uint64_t dp_now(const struct dp *dp)
{
    return dp->now;
}

void dp_read_flows(const struct dp *dp, struct dp_flow_record *records)
{
    for (uint64_t i = 0; i < dp->flow_count; i++) {
        const struct sender *sender = &dp->senders[i];
        records[i] = (struct dp_flow_record){
            .start_ps = sender->start,
            .delivered_ps = dp->receivers[i].delivered,
            .finish_ps = finish_of(dp, i),
            .packets = sender->packets,
            .sent = sender->sent,
            .received = dp->receivers[i].received,
            .acknowledged = sender->acknowledged,
            .duplicates = dp->receivers[i].duplicates,
            .marks = dp->receivers[i].marks,
        };
        if (!dp->transports)
            continue;
        const struct transport *transport = transport_of(dp, (uint32_t)i);
        records[i].lost = transport->losses;
        records[i].retransmitted = transport->retransmitted;
        records[i].timeouts = transport->timeouts;
    }
}

/* --- Ports --- */

uint64_t dp_port_count(const struct dp *dp)
{
    return dp->port_count;
}

static uint64_t after(uint64_t time, uint64_t limit)
{
    return time > limit ? time - limit : 0;
}

/* What a port's area has, of frames in its queue, beyond `to` or not yet (those that wait). */
static void correct_areas(const struct dp *dp, uint32_t place, uint64_t to, double *bytes,
                          double *packets)
{
    const struct port *port = &dp->ports[place];
    const struct sw *sw = dp->switch_of[port->node];
    uint32_t number = place - dp->first_port[port->node];
    uint32_t waiting = sw && sw->waiting ? waiting_count(sw, number) : 0;
    struct cursor cursor = port->serving;
    for (; fifo_departure(cursor) != TIME_NEVER; fifo_step(&cursor)) {
        double beyond = (double)after(fifo_departure(cursor), to);
        *bytes -= beyond * cursor.entry->bytes;
        *packets -= beyond;
    }
    for (uint32_t i = 0; i < waiting; i++) {
        const struct waiting_frame *frame = waiting_at(sw, number, i);
        *bytes += (double)after(to, frame->enqueued_at) * frame->bytes;
        *packets += (double)after(to, frame->enqueued_at);
    }
}

static bool all_sent(struct dp *dp)
{
    struct sending *sending = &dp->sending;
    while (sending->flow < dp->flow_count &&
           dp->senders[sending->flow].sent == dp->senders[sending->flow].packets)
        sending->flow++;
    return dp->flow_count > 0 && sending->flow == dp->flow_count;
}

bool records_note_sending(struct dp *dp)
{
    struct sending *sending = &dp->sending;
    if (sending->area_bytes || !all_sent(dp))
        return true;
    sending->over_at = dp->now;
    sending->area_bytes = calloc(dp->port_count + 1, sizeof(double));
    sending->area_packets = calloc(dp->port_count + 1, sizeof(double));
    if (!sending->area_bytes || !sending->area_packets)
        return false;
    for (uint32_t i = 0; i < dp->port_count; i++) {
        sending->area_bytes[i] = dp->ports[i].area_bytes;
        sending->area_packets[i] = dp->ports[i].area_packets;
        if (dp->ports[i].tail.entry)
            correct_areas(dp, i, dp->now, &sending->area_bytes[i], &sending->area_packets[i]);
    }
    return true;
}

static void read_sending(const struct dp *dp, uint32_t port, uint64_t from,
                         struct dp_port_record *record)
{
    const struct sending *sending = &dp->sending;
    bool known = sending->area_packets && sending->over_at > from;
    double span = known ? (double)(sending->over_at - from) : 1;
    record->sending_queue_bytes = known ? sending->area_bytes[port] / span : NAN;
    record->sending_queue_packets = known ? sending->area_packets[port] / span : NAN;
}

static void read_port(const struct dp *dp, uint32_t place, uint64_t from, uint64_t to,
                      struct dp_port_record *record)
{
    const struct port *port = &dp->ports[place];
    double bytes = port->area_bytes;
    double packets = port->area_packets;
    double span = to > from ? (double)(to - from) : 1;
    correct_areas(dp, place, to, &bytes, &packets);
    for (uint32_t class = 0; class < FRAME_CLASSES; class++) {
        record->packets += port->sent[class].packets;
        record->bytes += port->sent[class].bytes;
    }
    record->data_packets = port->sent[FRAME_DATA].packets;
    record->data_bytes = port->sent[FRAME_DATA].bytes;
    record->ack_packets = port->sent[FRAME_ACK].packets;
    record->drops = port->drops;
    record->data_drops = port->dropped[FRAME_DATA];
    record->ack_drops = port->dropped[FRAME_ACK];
    record->trims = port->trims;
    record->marks = port->marks;
    record->queue_bytes = port->queue_bytes;
    record->queue_packets = port->queue_packets;
    record->max_queue_bytes =
        port->recent_bytes > port->max_bytes ? port->recent_bytes : port->max_bytes;
    record->max_queue_packets =
        port->recent_packets > port->max_packets ? port->recent_packets : port->max_packets;
    record->mean_queue_bytes = bytes / span;
    record->mean_queue_packets = packets / span;
    if (dp->real)
        real_read_port(dp, port, record);
}

static void name_peer(const struct dp *dp, const struct port *port, struct dp_port_record *record)
{
    uint32_t node = 0;
    record->peer = NO_NODE;
    record->peer_port = 0;
    if (port->peer == NO_NODE)
        return;
    uint32_t below = 0;
    uint32_t above = dp->nodes;
    while (above - below > 1) {
        node = below + (above - below) / 2;
        if (dp->first_port[node] <= port->peer)
            below = node;
        else
            above = node;
    }
    record->peer = below;
    record->peer_port = port->peer - dp->first_port[below];
}

void dp_read_ports(const struct dp *dp, uint64_t from_ps, uint64_t to_ps,
                   struct dp_port_record *records)
{
    for (uint32_t node = 0; node < dp->nodes; node++) {
        for (uint32_t i = dp->first_port[node]; i < dp->first_port[node + 1]; i++) {
            uint32_t number = i - dp->first_port[node];
            records[i] = (struct dp_port_record){ .node = node, .port = number };
            name_peer(dp, &dp->ports[i], &records[i]);
            if (dp->ports[i].tail.entry)
                read_port(dp, i, from_ps, to_ps, &records[i]);
            read_sending(dp, i, from_ps, &records[i]);
        }
    }
}

/* --- Samples --- */

uint64_t dp_sample_count(const struct dp *dp)
{
    uint64_t count = 0;
    for (uint32_t i = 0; i < DP_THREADS; i++)
        count += dp->workers[i].sample_count;
    return count;
}

static int compare(const void *left, const void *right)
{
    const struct dp_sample *a = left;
    const struct dp_sample *b = right;
    if (a->time_ps != b->time_ps)
        return a->time_ps < b->time_ps ? -1 : 1;
    if (a->node != b->node)
        return a->node < b->node ? -1 : 1;
    return (a->port > b->port) - (a->port < b->port);
}

void dp_take_samples(struct dp *dp, struct dp_sample *samples)
{
    uint64_t count = 0;
    for (uint32_t i = 0; i < DP_THREADS; i++) {
        struct worker *worker = &dp->workers[i];
        if (worker->sample_count)
            memcpy(samples + count, worker->samples, worker->sample_count * sizeof *samples);
        count += worker->sample_count;
        worker->sample_count = 0;
    }
    qsort(samples, count, sizeof *samples, compare);
}

/* --- Totals --- */

static void add_totals(struct dp_totals *sum, const struct dp_totals *part)
{
    sum->sent += part->sent;
    sum->copied += part->copied;
    sum->delivered += part->delivered;
    sum->dropped_program += part->dropped_program;
    sum->dropped_queue += part->dropped_queue;
    sum->dropped_down += part->dropped_down;
    sum->dropped_loss += part->dropped_loss;
    sum->dropped_host += part->dropped_host;
    sum->dropped_header += part->dropped_header;
    sum->trimmed += part->trimmed;
    sum->hops += part->hops;
    sum->noise += part->noise;
    sum->socket_drops += part->socket_drops;
}

static uint64_t frames_from(struct cursor cursor)
{
    uint64_t count = 0;
    for (; fifo_departure(cursor) != TIME_NEVER; fifo_step(&cursor))
        count++;
    return count;
}

/* Frames that were not taken yet, counted where they are. */
static uint64_t count_left(const struct dp *dp)
{
    uint64_t left = 0;
    for (uint32_t i = 0; i < dp->port_count; i++)
        if (dp->inputs[i].entry)
            left += frames_from(dp->inputs[i]);
    for (uint32_t i = 0; i < dp->switch_count; i++)
        for (uint32_t port = 0; dp->sw[i].waiting && port < dp->sw[i].port_count; port++)
            left += waiting_count(&dp->sw[i], port);
    return left;
}

void dp_read_totals(const struct dp *dp, struct dp_totals *totals)
{
    *totals = (struct dp_totals){ .left = count_left(dp) };
    for (uint32_t i = 0; i < DP_THREADS; i++)
        add_totals(totals, &dp->workers[i].totals);
    if (dp->real)
        real_read_totals(dp, totals);
}

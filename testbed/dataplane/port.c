#include "port.h"

#include <stdlib.h>

#include "capture.h"
#include "frame.h"
#include "real/real.h"
#include "trace.h"

enum { FCS_BYTES = 4 };

uint32_t port_charge(const struct dp *dp, const struct packet *packet)
{
    if (packet->class == FRAME_ACK)
        return dp->settings.ack_bytes;
    return packet->length + FCS_BYTES;
}

static void start_service(struct dp *dp, struct port *port, const struct entry *entry)
{
    port->started = true;
    if (port->queue_bytes - port->urgent_bytes > dp->settings.ecn_bytes &&
        dp->settings.ecn_bytes > 0 && !port->urgent &&
        frame_mark(packet_at(dp, entry->packet)))
        port->marks++;
}

void port_advance(struct worker *worker, struct port *port, uint64_t now)
{
    struct dp *dp = worker->dp;
    for (;;) {
        uint64_t departure = fifo_departure(port->serving);
        const struct entry *entry = port->serving.entry;
        if (departure == TIME_NEVER)
            return;
        if (!port->started) {
            if (departure - serialisation(speed_of(dp, port), entry->bytes) > now)
                return;
            start_service(dp, port, entry);
        }
        if (departure > now)
            return;
        if (port->captured)
            capture_frame(worker, port, entry);
        port->queue_bytes -= entry->bytes;
        port->queue_packets--;
        port->started = false;
        if (port->urgent)
            port->urgent_bytes -= entry->bytes;
        port->urgent = false;
        fifo_step(&port->serving);
    }
}

static void note_maxima(struct port *port)
{
    if (port->queue_bytes > port->recent_bytes)
        port->recent_bytes = port->queue_bytes;
    if (port->queue_packets > port->recent_packets)
        port->recent_packets = port->queue_packets;
}

/* Bytes in the queues of a switch now. */
static uint64_t switch_bytes(struct worker *worker, uint32_t node, uint64_t now)
{
    struct dp *dp = worker->dp;
    uint64_t bytes = 0;
    for (uint32_t i = dp->first_port[node]; i < dp->first_port[node + 1]; i++) {
        if (dp->ports[i].queue_packets > 0)
            port_advance(worker, &dp->ports[i], now);
        bytes += dp->ports[i].queue_bytes;
    }
    return bytes;
}

/*
 * Dynamic thresholds (Choudhury and Hahne, 1998): a queue may have alpha times what is left of the
 * buffer that its switch shares.
 */
static bool shares_enough(struct worker *worker, const struct port *port, bool urgent,
                          uint32_t bytes, uint64_t now)
{
    const struct dp_settings *settings = &worker->dp->settings;
    if (settings->shared_bytes == 0 || port->node < worker->dp->hosts)
        return true;
    uint64_t used = switch_bytes(worker, port->node, now);
    if (used + bytes > settings->shared_bytes)
        return false;
    double limit = settings->shared_alpha * (double)(settings->shared_bytes - used);
    return urgent || (double)(port->queue_bytes - port->urgent_bytes + bytes) <= limit;
}

/* As in the reference simulator, what is urgent has a limit of its own, of twice the buffer. */
bool port_has_room(struct worker *worker, struct port *port, bool urgent, uint32_t bytes,
                   uint64_t now)
{
    port_advance(worker, port, now);
    uint64_t limit = worker->dp->settings.buffer_bytes;
    uint64_t band = urgent ? port->urgent_bytes : port->queue_bytes - port->urgent_bytes;
    return (limit == 0 || band + bytes <= (urgent ? 2 * limit : limit)) &&
           shares_enough(worker, port, urgent, bytes, now);
}

void port_take(struct port *port, bool urgent, uint32_t bytes)
{
    port->queue_bytes += bytes;
    port->queue_packets++;
    if (urgent)
        port->urgent_bytes += bytes;
    note_maxima(port);
}

void port_drop(struct worker *worker, struct port *port, uint32_t class)
{
    if (port->up)
        worker->totals.dropped_queue++;
    else
        worker->totals.dropped_down++;
    port->drops++;
    port->dropped[class]++;
}

void port_serve(struct worker *worker, struct port *port, uint32_t number, uint32_t bytes,
                uint64_t arrived, uint64_t from)
{
    struct dp *dp = worker->dp;
    uint64_t start = from > port->free_at ? from : port->free_at;
    const struct speed *speed = speed_of(dp, port);
    uint64_t departure = start + serialisation(speed, bytes);
    port->free_at = departure + speed->gap_ps;
    uint32_t class = packet_at(dp, number)->class;
    port->sent[class].packets++;
    port->sent[class].bytes += bytes;
    port->area_bytes += (double)bytes * (double)(departure - arrived);
    port->area_packets += (double)(departure - arrived);
    fifo_push(&port->tail, &worker->chunks, (struct entry){ departure, number, bytes });
    uint64_t due = departure + speed->delay_ps;
    if (due < worker->next_event)
        worker->next_event = due;
    if (dp->watched) {
        if (dp->traced)
            trace_hop(worker, port, packet_at(dp, number), bytes, arrived, departure);
        if (dp->real)
            real_notice(dp, port);
    }
}

bool port_enqueue(struct worker *worker, struct port *port, uint32_t number, uint64_t now)
{
    const struct packet *packet = packet_at(worker->dp, number);
    uint32_t bytes = port_charge(worker->dp, packet);
    if (!port->up || !port_has_room(worker, port, false, bytes, now)) {
        port_drop(worker, port, packet->class);
        return false;
    }
    port_take(port, false, bytes);
    port_serve(worker, port, number, bytes, now, now);
    return true;
}

static struct dp_sample *next_sample(struct worker *worker)
{
    if (worker->sample_count == worker->sample_room) {
        uint64_t room = worker->sample_room ? 2 * worker->sample_room : 4096;
        struct dp_sample *grown = realloc(worker->samples, room * sizeof *grown);
        if (!grown) {
            worker->failed = true;
            return NULL;
        }
        worker->samples = grown;
        worker->sample_room = room;
    }
    return &worker->samples[worker->sample_count++];
}

void port_sample(struct worker *worker, struct port *port, uint32_t node, uint32_t number,
                 uint64_t time)
{
    bool changed = port->recent_bytes != port->sampled_bytes ||
                   port->recent_packets != port->sampled_packets;
    struct dp_sample *sample = changed ? next_sample(worker) : NULL;
    if (sample)
        *sample = (struct dp_sample){ time, node, number, port->recent_bytes,
                                      port->recent_packets };
    if (port->recent_bytes > port->max_bytes)
        port->max_bytes = port->recent_bytes;
    if (port->recent_packets > port->max_packets)
        port->max_packets = port->recent_packets;
    port->sampled_bytes = port->recent_bytes;
    port->sampled_packets = port->recent_packets;
    port->recent_bytes = port->queue_bytes;
    port->recent_packets = port->queue_packets;
}

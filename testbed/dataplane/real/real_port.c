#include "frame.h"
#include "port.h"
#include "real.h"

/*
 * Ports on sockets. A frame goes on the wire when the clock reaches its ideal departure plus the
 * link's delay; being late on one does not push the next. The lateness, and what it does to the
 * distances between frames, is the emulation's error and is kept: it is that of the whole batch.
 */

void real_notice(struct dp *dp, const struct port *port)
{
    struct real_front *real = dp->real;
    uint32_t number = (uint32_t)(port - dp->ports);
    if (real->timers.time[number] == TIME_NEVER)
        timers_set(&real->timers, number,
                   fifo_departure(real->ports[number].head) + speed_of(dp, port)->delay_ps);
}

static uint64_t distance(uint64_t one, uint64_t other)
{
    return one > other ? one - other : other - one;
}

/* Compare two departures of one busy period: the real distance against the ideal one. */
static void note_gap(const struct dp *dp, const struct speed *speed, struct real_port *port,
                     const struct entry *entry, uint64_t put)
{
    uint64_t started = entry->departure - serialisation(speed, entry->bytes);
    uint64_t frame = serialisation(speed, dp->settings.payload_bytes + dp->settings.header_bytes);
    if (port->put > 0 && started <= port->departure + speed->gap_ps) {
        uint64_t error = distance(put - port->put, entry->departure - port->departure);
        port->gaps++;
        port->gaps_within_10pct += error * 10 <= frame;
        port->gaps_within_25pct += error * 4 <= frame;
        port->gaps_within_frame += error <= frame;
    }
    uint64_t due = entry->departure + speed->delay_ps;
    if (put > due && put - due > port->late_max)
        port->late_max = put - due;
    port->departure = entry->departure;
    port->put = put;
}

static uint32_t late_bucket(uint64_t late)
{
    if (late < 8)
        return (uint32_t)late;
    uint32_t octave = 63 - (uint32_t)__builtin_clzll(late);
    return 4 * octave + (uint32_t)(late >> (octave - 2) & 3);
}

static uint64_t bucket_top(uint32_t bucket)
{
    if (bucket < 12)
        return bucket;
    return ((uint64_t)(bucket % 4) + 5) << (bucket / 4 - 2);
}

static void note_pace(const struct speed *speed, struct real_host *host, const struct entry *entry,
                      uint64_t put)
{
    uint64_t due = entry->departure + speed->delay_ps;
    uint64_t late = put > due ? put - due : 0;
    if (host->frames++ == 0) {
        host->first_due = due;
        host->first_put = put;
    } else {
        host->busy += serialisation(speed, entry->bytes) + speed->gap_ps;
    }
    host->last_due = due;
    host->last_put = put;
    host->late[late_bucket(late)]++;
    if (late > host->late_max)
        host->late_max = late;
}

static void lose(void *context, uint32_t place)
{
    struct dp *dp = context;
    uint32_t number = dp->real->departures[place].port;
    dp->ports[number].drops++;
    dp->workers[0].totals.dropped_down++;
    dp->workers[0].totals.delivered -= number >= dp->first_port[dp->hosts];
}

static void note_departure(struct dp *dp, const struct real_departure *departure)
{
    uint32_t number = departure->port;
    const struct entry *entry = &departure->entry;
    const struct speed *speed = speed_of(dp, &dp->ports[number]);
    note_gap(dp, speed, &dp->real->ports[number], entry, dp->now);
    if (number >= dp->first_port[dp->hosts])
        dp->workers[0].totals.delivered++;
    else if (packet_at(dp, entry->packet)->class == FRAME_DATA)
        note_pace(speed, &dp->real->hosts[number], entry, dp->now);
}

void real_flush(struct dp *dp)
{
    struct real_front *real = dp->real;
    uint32_t count = real->batch.count;
    for (uint32_t i = 0; i < count; i++)
        note_departure(dp, &real->departures[i]);
    wire_flush(&real->batch, lose, dp);
    for (uint32_t i = 0; i < count; i++)
        packet_free(&dp->workers[0], real->departures[i].entry.packet);
}

static void put_on_wire(struct dp *dp, uint32_t number, struct entry entry)
{
    struct real_front *real = dp->real;
    const struct real_port *port = &real->ports[number];
    const struct packet *packet = packet_at(dp, entry.packet);
    bool other = real->batch.fd != port->sender;
    if (real->batch.count == WIRE_BATCH || (real->batch.count > 0 && other))
        real_flush(dp);
    real->batch.fd = port->sender;
    real->departures[real->batch.count] = (struct real_departure){ entry, number };
    wire_add(&real->batch, port->ifindex, packet->data, packet->stored, packet->length);
}

void real_transmit(struct dp *dp, uint32_t number)
{
    struct real_front *real = dp->real;
    struct real_port *port = &real->ports[number];
    uint64_t delay = speed_of(dp, &dp->ports[number])->delay_ps;
    struct entry entry = *port->head.entry;
    port_advance(&dp->workers[0], &dp->ports[number], entry.departure);
    put_on_wire(dp, number, entry);
    fifo_take(&port->head, &dp->workers[0].chunks);
    uint64_t next = fifo_departure(port->head);
    timers_set(&real->timers, number, next == TIME_NEVER ? next : next + delay);
}

/* --- Reading --- */

void real_read_port(const struct dp *dp, const struct port *port, struct dp_port_record *record)
{
    struct real_port *own = &dp->real->ports[port - dp->ports];
    if (own->ifindex)
        wire_count_lost(&own->in);
    record->overruns = own->in.lost;
    record->gaps = own->gaps;
    record->gaps_within_10pct = own->gaps_within_10pct;
    record->gaps_within_25pct = own->gaps_within_25pct;
    record->gaps_within_frame = own->gaps_within_frame;
    record->late_max_ps = own->late_max;
}

void real_read_totals(const struct dp *dp, struct dp_totals *totals)
{
    const struct real_front *real = dp->real;
    totals->noise = real->noise;
    for (uint32_t i = 0; i < real->polled_count; i++) {
        struct wire_socket *in = &real->ports[real->polled[i]].in;
        wire_count_lost(in);
        totals->socket_drops += in->lost;
    }
    for (uint32_t i = 0; i < dp->port_count; i++) {
        struct cursor cursor = real->ports[i].head;
        for (; cursor.entry && fifo_departure(cursor) != TIME_NEVER; fifo_step(&cursor))
            totals->left++;
    }
}

static uint64_t late_percentile(const struct real_host *host, uint64_t percent)
{
    uint64_t wanted = (host->frames * percent + 99) / 100;
    uint64_t seen = 0;
    uint32_t bucket = 0;
    for (; bucket < LATE_BUCKETS - 1; bucket++) {
        seen += host->late[bucket];
        if (seen >= wanted)
            break;
    }
    return bucket_top(bucket) < host->late_max ? bucket_top(bucket) : host->late_max;
}

static double share(uint64_t busy, uint64_t from, uint64_t to)
{
    return to > from ? (double)busy / (double)(to - from) : 0;
}

void dp_read_pacing(const struct dp *dp, struct dp_pacing *records)
{
    for (uint32_t i = 0; i < dp->hosts; i++) {
        records[i] = (struct dp_pacing){ 0 };
        if (!dp->real)
            continue;
        const struct real_host *host = &dp->real->hosts[i];
        records[i] = (struct dp_pacing){
            .frames = host->frames,
            .late_p99_ps = late_percentile(host, 99),
            .late_max_ps = host->late_max,
            .offered = share(host->busy, host->first_due, host->last_due),
            .achieved = share(host->busy, host->first_put, host->last_put),
        };
    }
}

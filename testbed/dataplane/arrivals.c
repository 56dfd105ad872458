#include "arrivals.h"

#include <stdlib.h>
#include <string.h>

#include "port.h"

static bool make_room(struct worker *worker, uint64_t bin)
{
    uint64_t room = worker->arrival_room ? worker->arrival_room : 64;
    while (room <= bin)
        room *= 2;
    struct dp_arrivals *grown = realloc(worker->arrivals, room * sizeof *grown);
    if (!grown) {
        worker->failed = true;
        return false;
    }
    memset(grown + worker->arrival_room, 0, (room - worker->arrival_room) * sizeof *grown);
    worker->arrivals = grown;
    worker->arrival_room = room;
    return true;
}

static void add(struct worker *worker, uint64_t bin, uint32_t class, uint64_t bytes)
{
    if (bin >= DP_ARRIVAL_BINS || (bin >= worker->arrival_room && !make_room(worker, bin)))
        return;
    if (class == FRAME_DATA)
        worker->arrivals[bin].data_bytes += bytes;
    else
        worker->arrivals[bin].ack_bytes += bytes;
}

/* A frame whose last bit comes at `now` has come evenly: each bin gets its part. */
void arrivals_note(struct worker *worker, const struct port *port, const struct packet *packet,
                   uint64_t now)
{
    uint64_t bytes = port_charge(worker->dp, packet);
    uint64_t time = serialisation(speed_of(worker->dp, port), (uint32_t)bytes);
    uint64_t begin = now > time ? now - time : 0;
    uint64_t before = 0;
    for (uint64_t bin = begin / DP_ARRIVAL_PS; before < bytes; bin++) {
        uint64_t end = (bin + 1) * DP_ARRIVAL_PS;
        uint64_t until = end < now ? bytes * (end - begin) / time : bytes;
        add(worker, bin, packet->class, until - before);
        before = until;
    }
}

uint64_t dp_arrival_count(const struct dp *dp)
{
    uint64_t bins = (dp->now + DP_ARRIVAL_PS - 1) / DP_ARRIVAL_PS;
    return bins < DP_ARRIVAL_BINS ? bins : DP_ARRIVAL_BINS;
}

void dp_read_arrivals(const struct dp *dp, struct dp_arrivals *records)
{
    uint64_t count = dp_arrival_count(dp);
    memset(records, 0, count * sizeof *records);
    for (uint32_t i = 0; i < DP_THREADS; i++) {
        const struct worker *worker = &dp->workers[i];
        for (uint64_t bin = 0; bin < count && bin < worker->arrival_room; bin++) {
            records[bin].data_bytes += worker->arrivals[bin].data_bytes;
            records[bin].ack_bytes += worker->arrivals[bin].ack_bytes;
        }
    }
}

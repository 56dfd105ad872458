#include "trace.h"

#include <stdlib.h>

#include "build.h"
#include "frame.h"

static struct dp_hop *next_hop(struct worker *worker)
{
    if (worker->hop_count == worker->hop_room) {
        uint64_t room = worker->hop_room ? 2 * worker->hop_room : 4096;
        struct dp_hop *grown = realloc(worker->hops, room * sizeof *grown);
        if (!grown) {
            worker->failed = true;
            return NULL;
        }
        worker->hops = grown;
        worker->hop_room = room;
    }
    return &worker->hops[worker->hop_count++];
}

void trace_hop(struct worker *worker, const struct port *port, const struct packet *packet,
               uint32_t bytes, uint64_t arrived, uint64_t departure)
{
    struct dp_hop *hop = next_hop(worker);
    if (!hop)
        return;
    *hop = (struct dp_hop){
        .arrived_ps = arrived,
        .departure_ps = departure,
        .place = (uint32_t)(port - worker->dp->ports),
        .flow = UINT32_MAX,
        .bytes = bytes,
        .length = packet->length,
        .kind = packet->class,
    };
    if (packet->class == FRAME_OTHER)
        return;
    struct frame_view view = frame_read(packet);
    hop->flow = view.flow;
    hop->psn = view.psn;
    hop->entropy = view.entropy;
    hop->marked = view.congested;
}

void dp_trace(struct dp *dp, uint32_t on)
{
    dp->traced = on != 0;
    dp->watched = dp->traced || dp->real;
}

uint64_t dp_hop_count(const struct dp *dp)
{
    uint64_t count = 0;
    for (uint32_t i = 0; i < dp->active_workers; i++)
        count += dp->workers[i].hop_count;
    return count;
}

/* Count the hops of each port at its place, then turn that into the row of its first. */
static void find_first_rows(const struct dp *dp, uint64_t *row)
{
    for (uint32_t i = 0; i < dp->active_workers; i++)
        for (uint64_t hop = 0; hop < dp->workers[i].hop_count; hop++)
            row[dp->workers[i].hops[hop].place]++;
    uint64_t before = 0;
    for (uint32_t port = 0; port < dp->port_count; port++) {
        uint64_t count = row[port];
        row[port] = before;
        before += count;
    }
}

static void empty(struct worker *worker)
{
    free(worker->hops);
    worker->hops = NULL;
    worker->hop_count = 0;
    worker->hop_room = 0;
}

static int by_departure(const void *one, const void *other)
{
    uint64_t a = ((const struct dp_hop *)one)->departure_ps;
    uint64_t b = ((const struct dp_hop *)other)->departure_ps;
    return (a > b) - (a < b);
}

/* A port's hops are in order unless several workers had it in turn. */
static void put_in_order(struct dp_hop *hops, uint64_t count)
{
    for (uint64_t i = 1; i < count; i++)
        if (hops[i].departure_ps < hops[i - 1].departure_ps) {
            qsort(hops, count, sizeof *hops, by_departure);
            return;
        }
}

int dp_take_hops(struct dp *dp, struct dp_hop *hops)
{
    uint64_t *row = calloc((size_t)dp->port_count + 1, sizeof *row);
    if (!row)
        return build_fail(dp, "not enough memory for a trace of %u ports", dp->port_count);
    find_first_rows(dp, row);
    for (uint32_t i = 0; i < dp->active_workers; i++) {
        struct worker *worker = &dp->workers[i];
        for (uint64_t hop = 0; hop < worker->hop_count; hop++)
            hops[row[worker->hops[hop].place]++] = worker->hops[hop];
        empty(worker);
    }
    for (uint32_t port = 0; port < dp->port_count; port++) {
        uint64_t first = port > 0 ? row[port - 1] : 0;
        put_in_order(hops + first, row[port] - first);
    }
    free(row);
    return 0;
}

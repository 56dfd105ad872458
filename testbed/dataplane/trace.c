#include "trace.h"

#include <stdlib.h>
#include <string.h>

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

void dp_take_hops(struct dp *dp, struct dp_hop *hops)
{
    for (uint32_t i = 0; i < dp->active_workers; i++) {
        struct worker *worker = &dp->workers[i];
        memcpy(hops, worker->hops, worker->hop_count * sizeof *hops);
        hops += worker->hop_count;
        worker->hop_count = 0;
    }
}

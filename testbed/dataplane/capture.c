#include "capture.h"

#include <stdlib.h>
#include <string.h>

#include "build.h"

static void *room_for(struct worker *worker, void *array, uint64_t *room, uint64_t wanted,
                      size_t size)
{
    if (wanted <= *room)
        return array;
    uint64_t more = 2 * wanted > 4096 ? 2 * wanted : 4096;
    void *grown = realloc(array, more * size);
    if (!grown) {
        worker->failed = true;
        return array;
    }
    *room = more;
    return grown;
}

void capture_frame(struct worker *worker, const struct port *port, const struct entry *entry)
{
    const struct packet *packet = packet_at(worker->dp, entry->packet);
    uint64_t first = worker->header_bytes;
    worker->captured = room_for(worker, worker->captured, &worker->captured_room,
                                worker->captured_count + 1, sizeof *worker->captured);
    worker->headers =
        room_for(worker, worker->headers, &worker->header_room, first + packet->stored, 1);
    if (worker->failed)
        return;
    memcpy(worker->headers + first, packet->data, packet->stored);
    worker->header_bytes += packet->stored;
    worker->captured[worker->captured_count++] = (struct dp_captured){
        .departure_ps = entry->departure,
        .first = first,
        .place = (uint32_t)(port - worker->dp->ports),
        .length = packet->length,
        .stored = packet->stored,
    };
}

int dp_capture(struct dp *dp, uint64_t count, const uint32_t *places)
{
    for (uint64_t i = 0; i < count; i++)
        if (places[i] >= dp->port_count)
            return build_fail(dp, "there is no port %u to capture at", places[i]);
    for (uint64_t i = 0; i < count; i++)
        dp->ports[places[i]].captured = true;
    return 0;
}

uint64_t dp_captured_count(const struct dp *dp)
{
    uint64_t count = 0;
    for (uint32_t i = 0; i < dp->active_workers; i++)
        count += dp->workers[i].captured_count;
    return count;
}

uint64_t dp_captured_bytes(const struct dp *dp)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < dp->active_workers; i++)
        bytes += dp->workers[i].header_bytes;
    return bytes;
}

void dp_take_captured(struct dp *dp, struct dp_captured *rows, uint8_t *bytes)
{
    uint64_t before = 0;
    for (uint32_t i = 0; i < dp->active_workers; i++) {
        struct worker *worker = &dp->workers[i];
        for (uint64_t row = 0; row < worker->captured_count; row++) {
            *rows = worker->captured[row];
            rows++->first += before;
        }
        if (worker->header_bytes > 0)
            memcpy(bytes + before, worker->headers, worker->header_bytes);
        before += worker->header_bytes;
        worker->captured_count = 0;
        worker->header_bytes = 0;
    }
}

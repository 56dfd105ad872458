#include "waiting.h"

#include <assert.h>
#include <stdlib.h>

#include "frame.h"
#include "hosts/entropy.h"
#include "port.h"

enum { FIRST_ROOM = 16, TRIMMED_BYTES = FRAME_TRIMMED_LENGTH + 4 };

/* --- A band --- */

static struct band *band_of(const struct sw *sw, uint32_t port, bool urgent)
{
    return &sw->waiting[BANDS * port + (urgent ? BAND_URGENT : BAND_OTHERS)];
}

static struct waiting_frame *frame_at(const struct band *band, uint32_t i)
{
    return &band->frames[(band->head + i) & (band->room - 1)];
}

static void grow(struct band *band)
{
    uint32_t room = band->room ? 2 * band->room : FIRST_ROOM;
    struct waiting_frame *frames = malloc(room * sizeof *frames);
    if (!frames)
        abort();
    for (uint32_t i = 0; i < band->count; i++)
        frames[i] = *frame_at(band, i);
    free(band->frames);
    *band = (struct band){ frames, 0, band->count, room };
}

/* --- A port's bands --- */

bool waiting_in_bands(const struct dp *dp)
{
    return dp->settings.ack_priority || dp->settings.trim;
}

int waiting_open(struct sw *sw)
{
    sw->waiting = calloc((size_t)BANDS * sw->port_count, sizeof *sw->waiting);
    return sw->waiting ? timers_open(&sw->services, sw->port_count) : -1;
}

void waiting_close(struct sw *sw)
{
    for (uint32_t i = 0; sw->waiting && i < BANDS * sw->port_count; i++)
        free(sw->waiting[i].frames);
    free(sw->waiting);
    timers_close(&sw->services);
}

uint32_t waiting_count(const struct sw *sw, uint32_t port)
{
    return band_of(sw, port, true)->count + band_of(sw, port, false)->count;
}

const struct waiting_frame *waiting_at(const struct sw *sw, uint32_t port, uint32_t i)
{
    const struct band *urgent = band_of(sw, port, true);
    if (i < urgent->count)
        return frame_at(urgent, i);
    return frame_at(band_of(sw, port, false), i - urgent->count);
}

uint64_t waiting_next(const struct sw *sw)
{
    return timers_next(&sw->services);
}

void waiting_schedule(struct sw *sw, uint32_t port)
{
    uint64_t free_at = sw->ports[port].free_at;
    bool some = waiting_count(sw, port) > 0;
    uint64_t arrived = some ? waiting_at(sw, port, 0)->enqueued_at : 0;
    uint64_t service = arrived > free_at ? arrived : free_at;
    timers_set(&sw->services, port, some ? service : TIME_NEVER);
}

struct waiting_frame waiting_take(struct sw *sw, uint32_t port)
{
    struct band *urgent = band_of(sw, port, true);
    struct band *band = urgent->count ? urgent : band_of(sw, port, false);
    assert(band->count > 0);
    struct waiting_frame frame = *frame_at(band, 0);
    band->head = (band->head + 1) & (band->room - 1);
    band->count--;
    return frame;
}

static void put(struct sw *sw, uint32_t number, struct waiting_frame frame)
{
    struct port *port = &sw->ports[number];
    struct band *band = band_of(sw, number, frame.urgent);
    port_take(port, frame.urgent, frame.bytes);
    frame.packets_before = port->queue_packets - 1;
    if (band->count == band->room)
        grow(band);
    band->count++;
    *frame_at(band, band->count - 1) = frame;
    waiting_schedule(sw, number);
}

static bool has_room(struct sw *sw, uint32_t number, const struct waiting_frame *frame)
{
    struct port *port = &sw->ports[number];
    return port->up && port_has_room(sw->worker, port, frame->urgent, frame->bytes, sw->now);
}

/* --- Trimming --- */

/* Let a frame's header wait, or drop it. */
static bool put_cut(struct sw *sw, uint32_t number, struct waiting_frame frame)
{
    struct port *port = &sw->ports[number];
    port->area_bytes +=
        ((double)frame.bytes - TRIMMED_BYTES) * (double)(sw->now - frame.enqueued_at);
    frame.bytes = TRIMMED_BYTES;
    frame.class = FRAME_TRIMMED;
    frame.urgent = frame.cut = true;
    if (!has_room(sw, number, &frame)) {
        port_drop(sw->worker, port, FRAME_TRIMMED);
        return false;
    }
    port->trims++;
    sw->worker->totals.trimmed++;
    put(sw, number, frame);
    return true;
}

static void discard(struct sw *sw, const struct waiting_frame *frame)
{
    if (frame->held)
        sw->program->discard(sw->state, frame->held);
    else
        packet_free(sw->worker, frame->packet);
}

/* Cut the last data frame that waits; false if there is none. */
static bool cut_last(struct sw *sw, uint32_t number)
{
    struct port *port = &sw->ports[number];
    struct band *band = band_of(sw, number, false);
    if (band->count == 0 || frame_at(band, band->count - 1)->class != FRAME_DATA)
        return false;
    struct waiting_frame last = *frame_at(band, --band->count);
    port->queue_bytes -= last.bytes;
    port->queue_packets--;
    if (!put_cut(sw, number, last))
        discard(sw, &last);
    return true;
}

/* As in the reference simulator: the arriving frame is cut, or as often the last one that waits. */
bool waiting_add(struct sw *sw, uint32_t number, struct waiting_frame frame)
{
    struct port *port = &sw->ports[number];
    bool room = has_room(sw, number, &frame);
    bool cuts = sw->dp->settings.trim && frame.class == FRAME_DATA && port->up;
    if (!room && cuts && random_next(&port->random) >> 63 && cut_last(sw, number))
        room = has_room(sw, number, &frame);
    if (room)
        put(sw, number, frame);
    else if (cuts)
        return put_cut(sw, number, frame);
    else
        port_drop(sw->worker, port, frame.class);
    return room;
}

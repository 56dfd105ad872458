#include "switch.h"

#include <assert.h>
#include <string.h>

#include "frame.h"
#include "port.h"
#include "waiting.h"

static uint64_t ticks(const struct sw *sw, uint64_t time)
{
    uint64_t tick = sw->dp->settings.tick_ps;
    return tick == 1 ? time : time / tick;
}

/* A packet with a copy of a frame of the program's; UINT32_MAX if it cannot be kept. */
static uint32_t copy_of(struct sw *sw, const struct pl_frame *frame, enum frame_class class)
{
    if (frame->stored > LARGE_ROOM) {
        sw->worker->totals.dropped_header++;
        return UINT32_MAX;
    }
    uint32_t number = packet_new(sw->worker, frame->stored);
    struct packet *packet = packet_at(sw->dp, number);
    packet->length = frame->length;
    packet->stored = frame->stored & 0xffffff;
    packet->class = class & 0xff;
    memcpy(packet->data, frame->data, frame->stored);
    if (class == FRAME_OTHER)
        frame_classify(packet);
    return number;
}

/* The packet that the program was given if it rewrote it in place, unless a port has it already. */
static uint32_t packet_for(struct sw *sw, const struct pl_frame *frame)
{
    if (frame->data != sw->packet->data || sw->kept)
        return copy_of(sw, frame, sw->packet->class);
    sw->packet->length = frame->length;
    sw->packet->stored = frame->stored & 0xffffff;
    return sw->packet_number;
}

static void count_output(struct sw *sw)
{
    sw->worker->totals.copied += sw->outputs++ > 0;
}

/* --- Frames that wait --- */

/* Let the packet, as its header only if it was cut, be served now. */
static void serve_packet(struct sw *sw, uint32_t number)
{
    const struct waiting_frame *waited = &sw->service;
    struct packet *packet = packet_at(sw->dp, number);
    struct port *port = &sw->ports[sw->serving];
    if (waited->cut && packet->class == FRAME_DATA)
        frame_trim(packet, port->to_host);
    uint32_t bytes = port_charge(sw->dp, packet);
    port->queue_bytes += bytes;
    port->queue_bytes -= waited->bytes;
    port->urgent_bytes += waited->urgent ? bytes : 0;
    port->urgent_bytes -= waited->urgent ? waited->bytes : 0;
    port->urgent = waited->urgent;
    sw->kept = true;
    port_serve(sw->worker, port, number, bytes, waited->enqueued_at, sw->now);
}

static void transmit(void *context, uint32_t port_number, const struct pl_frame *frame)
{
    struct sw *sw = context;
    assert(port_number == sw->serving);
    uint32_t number = copy_of(sw, frame, FRAME_OTHER);
    if (number == UINT32_MAX)
        return;
    count_output(sw);
    serve_packet(sw, number);
}

static void finish_egress(struct sw *sw, uint32_t number)
{
    struct pl_queueing met = {
        .enqueued_at = ticks(sw, sw->service.enqueued_at),
        .dequeued_at = ticks(sw, sw->now),
        .packets_at_enqueue = sw->service.packets_before,
        .packets_at_dequeue = waiting_count(sw, number),
    };
    struct packet none = { .class = FRAME_OTHER };
    sw->packet = &none;
    sw->packet_number = UINT32_MAX;
    sw->outputs = 0;
    sw->kept = false;
    sw->program->dequeue(sw->state, sw->service.held, &met);
    sw->worker->totals.dropped_program += sw->outputs == 0;
    sw->packet = NULL;
}

static void forget(struct port *port, const struct waiting_frame *frame)
{
    port->queue_bytes -= frame->bytes;
    port->queue_packets--;
    port->urgent_bytes -= frame->urgent ? frame->bytes : 0;
}

uint64_t switch_next_service(const struct sw *sw)
{
    return waiting_next(sw);
}

void switch_serve(struct worker *worker, struct sw *sw, uint64_t now)
{
    assert(waiting_next(sw) == now);
    uint32_t number = sw->services.heap[0];
    sw->worker = worker;
    sw->now = now;
    sw->serving = number;
    port_advance(worker, &sw->ports[number], now);
    sw->service = waiting_take(sw, number);
    if (!sw->service.held)
        serve_packet(sw, sw->service.packet);
    else
        finish_egress(sw, number);
    if (!sw->kept)
        forget(&sw->ports[number], &sw->service);
    waiting_schedule(sw, number);
}

/* --- From the program --- */

static struct waiting_frame arriving(const struct sw *sw, const struct packet *shape)
{
    return (struct waiting_frame){
        .enqueued_at = sw->now,
        .bytes = port_charge(sw->dp, shape),
        .class = shape->class,
        .urgent = frame_is_urgent(sw->packet, &sw->dp->settings),
    };
}

static void enqueue_held(struct sw *sw, uint32_t port, uint32_t length, struct pl_held *held)
{
    struct packet shape = { .length = length, .class = sw->packet->class };
    bool leads_somewhere = port > 0 && port < sw->port_count;
    struct waiting_frame frame = arriving(sw, &shape);
    frame.held = held;
    if (leads_somewhere && waiting_add(sw, port, frame))
        return;
    sw->worker->totals.dropped_down += !leads_somewhere;
    sw->program->discard(sw->state, held);
}

static bool enqueue_packet(struct sw *sw, uint32_t port, uint32_t number)
{
    if (!sw->waiting)
        return port_enqueue(sw->worker, &sw->ports[port], number, sw->now);
    struct waiting_frame frame = arriving(sw, packet_at(sw->dp, number));
    frame.packet = number;
    return waiting_add(sw, port, frame);
}

static void enqueue_final(struct sw *sw, uint32_t port, const struct pl_frame *frame)
{
    uint32_t number = packet_for(sw, frame);
    if (number == UINT32_MAX)
        return;
    bool leads_somewhere = port > 0 && port < sw->port_count;
    if (leads_somewhere && enqueue_packet(sw, port, number)) {
        sw->kept |= number == sw->packet_number;
        return;
    }
    sw->worker->totals.dropped_down += !leads_somewhere;
    if (number != sw->packet_number)
        packet_free(sw->worker, number);
}

static void enqueue(void *context, uint32_t port, uint32_t priority, const struct pl_frame *frame,
                    struct pl_held *held)
{
    (void)priority;
    struct sw *sw = context;
    count_output(sw);
    if (held)
        enqueue_held(sw, port, frame->length, held);
    else
        enqueue_final(sw, port, frame);
}

void switch_receive(struct worker *worker, struct sw *sw, uint32_t port, uint32_t number,
                    uint64_t now)
{
    struct packet *packet = packet_at(sw->dp, number);
    struct pl_frame frame = { packet->data, packet->stored, packet->length };
    sw->worker = worker;
    sw->packet = packet;
    sw->packet_number = number;
    sw->outputs = 0;
    sw->kept = false;
    assert(now >= sw->now);
    sw->now = now;
    worker->totals.hops++;
    sw->program->receive(sw->state, port, &frame, ticks(sw, now));
    worker->totals.dropped_program += sw->outputs == 0;
    if (!sw->kept)
        packet_free(worker, number);
}

int switch_open(struct dp *dp, struct sw *sw, const struct pl_program *program, uint32_t node,
                uint64_t seed)
{
    *sw = (struct sw){
        .worker = &dp->workers[0],
        .program = program,
        .dp = dp,
        .node = node,
        .ports = &dp->ports[dp->first_port[node]],
        .inputs = &dp->inputs[dp->first_port[node]],
        .port_count = dp->first_port[node + 1] - dp->first_port[node],
        .world = { .context = sw, .enqueue = enqueue, .transmit = transmit },
    };
    bool waits = !program->pure_egress || waiting_in_bands(dp);
    if (waits && waiting_open(sw) != 0)
        return -1;
    sw->state = program->create(&sw->world, seed);
    return sw->state ? 0 : -1;
}

void switch_close(struct sw *sw)
{
    waiting_close(sw);
    if (sw->state)
        sw->program->destroy(sw->state);
}

#include "switch.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "frame.h"
#include "port.h"

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

/* --- Programs whose egress runs at dequeue --- */

static void grow(struct held_queue *queue)
{
    uint32_t room = queue->room ? 2 * queue->room : 16;
    struct held_frame *frames = malloc(room * sizeof *frames);
    if (!frames)
        abort();
    for (uint32_t i = 0; i < queue->count; i++)
        frames[i] = queue->frames[(queue->head + i) & (queue->room - 1)];
    free(queue->frames);
    *queue = (struct held_queue){ frames, 0, queue->count, room };
}

static void schedule(struct sw *sw, uint32_t port)
{
    const struct held_queue *queue = &sw->held[port];
    uint64_t free_at = sw->ports[port].free_at;
    uint64_t arrived = queue->count ? queue->frames[queue->head].enqueued_at : 0;
    uint64_t service = arrived > free_at ? arrived : free_at;
    timers_set(&sw->services, port, queue->count ? service : TIME_NEVER);
}

static void hold(struct sw *sw, uint32_t number, uint32_t length, struct pl_held *held)
{
    struct port *port = &sw->ports[number];
    struct held_queue *queue = &sw->held[number];
    struct packet shape = { .length = length, .class = sw->packet->class };
    uint32_t bytes = port_charge(sw->dp, &shape);
    if (!port_admit(sw->worker, port, shape.class, bytes, sw->now)) {
        sw->program->discard(sw->state, held);
        return;
    }
    if (queue->count == queue->room)
        grow(queue);
    queue->frames[(queue->head + queue->count++) & (queue->room - 1)] =
        (struct held_frame){ held, sw->now, bytes, port->queue_packets - 1 };
    schedule(sw, number);
}

static void transmit(void *context, uint32_t port_number, const struct pl_frame *frame)
{
    struct sw *sw = context;
    struct port *port = &sw->ports[port_number];
    const struct held_queue *queue = &sw->held[port_number];
    const struct held_frame *held = &queue->frames[queue->head];
    uint32_t number = copy_of(sw, frame, FRAME_OTHER);
    if (number == UINT32_MAX)
        return;
    uint32_t bytes = port_charge(sw->dp, packet_at(sw->dp, number));
    port->queue_bytes += bytes;
    port->queue_bytes -= held->bytes;
    sw->kept = true;
    count_output(sw);
    port_serve(sw->worker, port, number, bytes, held->enqueued_at, sw->now);
}

uint64_t switch_next_service(const struct sw *sw)
{
    return timers_next(&sw->services);
}

void switch_serve(struct worker *worker, struct sw *sw, uint64_t now)
{
    struct packet none = { .class = FRAME_OTHER };
    assert(timers_next(&sw->services) == now);
    uint32_t number = sw->services.heap[0];
    struct held_queue *queue = &sw->held[number];
    struct held_frame frame = queue->frames[queue->head];
    struct port *port = &sw->ports[number];
    port_advance(sw->dp, port, now);
    sw->worker = worker;
    sw->now = now;
    sw->packet = &none;
    sw->packet_number = UINT32_MAX;
    sw->outputs = 0;
    sw->kept = false;
    struct pl_queueing met = {
        .enqueued_at = ticks(sw, frame.enqueued_at),
        .dequeued_at = ticks(sw, now),
        .packets_at_enqueue = frame.packets_before,
        .packets_at_dequeue = queue->count - 1,
    };
    sw->program->dequeue(sw->state, frame.held, &met);
    if (!sw->kept) {
        port->queue_bytes -= frame.bytes;
        port->queue_packets--;
    }
    worker->totals.dropped_program += sw->outputs == 0;
    queue->head = (queue->head + 1) & (queue->room - 1);
    queue->count--;
    schedule(sw, number);
}

/* --- From the program --- */

static void enqueue_held(struct sw *sw, uint32_t port, uint32_t length, struct pl_held *held)
{
    if (port > 0 && port < sw->port_count) {
        hold(sw, port, length, held);
        return;
    }
    sw->worker->totals.dropped_down++;
    sw->program->discard(sw->state, held);
}

static void enqueue_final(struct sw *sw, uint32_t port, const struct pl_frame *frame)
{
    uint32_t number = packet_for(sw, frame);
    if (number == UINT32_MAX)
        return;
    bool leads_somewhere = port > 0 && port < sw->port_count;
    if (leads_somewhere && port_enqueue(sw->worker, &sw->ports[port], number, sw->now)) {
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
    if (!program->pure_egress) {
        sw->held = calloc(sw->port_count, sizeof *sw->held);
        if (!sw->held || timers_open(&sw->services, sw->port_count) != 0)
            return -1;
    }
    sw->state = program->create(&sw->world, seed);
    return sw->state ? 0 : -1;
}

void switch_close(struct sw *sw)
{
    for (uint32_t port = 0; sw->held && port < sw->port_count; port++)
        free(sw->held[port].frames);
    free(sw->held);
    timers_close(&sw->services);
    if (sw->state)
        sw->program->destroy(sw->state);
}

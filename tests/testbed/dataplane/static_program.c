#include <stdlib.h>
#include <string.h>

#include "pipeline.h"

/*
 * A program that looks like a compiled one: a frame goes to the port that register array 0 has for
 * the last byte of its IPv4 destination; PL_DROP_PORT drops it, MULTICAST sends it to two ports.
 * Array 1 has, byte by byte, the first HEADERS bytes of the first LOGGED frames. With -DHELD the
 * program is one whose egress runs at dequeue: it grows each frame by -DGROWN bytes there.
 */

enum { PORTS = 256, MULTICAST = 600, LOGGED = 1024, HEADERS = 72 };

#ifndef GROWN
#define GROWN 0
#endif

struct pl_switch {
    struct pl_world world;
    uint16_t ports[PORTS];
    uint8_t log[LOGGED * HEADERS];
    uint32_t logged;
};

struct pl_held {
    uint32_t port;
    struct pl_frame frame;
    uint8_t data[256];
};

static struct pl_switch *create(const struct pl_world *world, uint64_t seed)
{
    (void)seed;
    struct pl_switch *sw = calloc(1, sizeof *sw);
    if (sw)
        sw->world = *world;
    return sw;
}

static void destroy(struct pl_switch *sw)
{
    free(sw);
}

static void send(struct pl_switch *sw, uint32_t port, const struct pl_frame *frame)
{
#ifdef HELD
    struct pl_held *held = malloc(sizeof *held);
    held->port = port;
    held->frame = *frame;
    held->frame.data = held->data;
    memcpy(held->data, frame->data, frame->stored);
    struct pl_frame unfinished = { NULL, 0, frame->length };
    sw->world.enqueue(sw->world.context, port, 0, &unfinished, held);
#else
    sw->world.enqueue(sw->world.context, port, 0, frame, NULL);
#endif
}

static void dequeue(struct pl_switch *sw, struct pl_held *held, const struct pl_queueing *queueing)
{
    (void)queueing;
    held->frame.length += GROWN;
    sw->world.transmit(sw->world.context, held->port, &held->frame);
    free(held);
}

static void discard(struct pl_switch *sw, struct pl_held *held)
{
    (void)sw;
    free(held);
}

static void receive(struct pl_switch *sw, uint32_t port, const struct pl_frame *frame,
                    uint64_t now)
{
    (void)port;
    (void)now;
    uint32_t out = sw->ports[frame->data[33]];
    if (sw->logged < LOGGED) {
        uint32_t kept = frame->stored < HEADERS ? frame->stored : HEADERS;
        memcpy(sw->log + HEADERS * sw->logged++, frame->data, kept);
    }
    if (out == MULTICAST) {
        send(sw, 1, frame);
        send(sw, 2, frame);
    } else if (out != PL_DROP_PORT) {
        send(sw, out, frame);
    }
}

static int64_t register_write(struct pl_switch *sw, uint32_t array, uint32_t first, uint32_t count,
                              const uint8_t *values)
{
    if (array != 0 || first + count > PORTS)
        return PL_NO_SUCH;
    for (uint32_t i = 0; i < count; i++)
        sw->ports[first + i] = (uint16_t)(values[2 * i] << 8 | values[2 * i + 1]);
    return PL_OK;
}

static int64_t register_read(struct pl_switch *sw, uint32_t array, uint32_t first, uint32_t count,
                             uint8_t *values)
{
    if (array != 1 || first + count > LOGGED * HEADERS)
        return PL_NO_SUCH;
    memcpy(values, sw->log + first, count);
    return sw->logged;
}

const struct pl_program pl_program = {
    .abi = PL_ABI,
    .name = "static",
    .digest = "static",
#ifndef HELD
    .pure_egress = 1,
#endif
    .create = create,
    .destroy = destroy,
    .receive = receive,
    .dequeue = dequeue,
    .discard = discard,
    .register_write = register_write,
    .register_read = register_read,
};

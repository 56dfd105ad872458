#include <stdlib.h>
#include <string.h>

#include "pipeline.h"

/*
 * A program that looks like a compiled one: frames go to the port that the last byte of their IPv4
 * destination names in a table of 256 ports, register array 0. A port of PL_DROP_PORT drops.
 */

struct pl_switch {
    struct pl_world world;
    uint16_t ports[256];
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

static void receive(struct pl_switch *sw, uint32_t port, const struct pl_frame *frame,
                    uint64_t now)
{
    (void)port;
    (void)now;
    uint32_t out = sw->ports[frame->data[33]];
    if (out != PL_DROP_PORT)
        sw->world.enqueue(sw->world.context, out, 0, frame, NULL);
}

static int64_t register_write(struct pl_switch *sw, uint32_t array, uint32_t first, uint32_t count,
                              const uint8_t *values)
{
    if (array != 0 || first + count > 256)
        return PL_NO_SUCH;
    for (uint32_t i = 0; i < count; i++)
        sw->ports[first + i] = (uint16_t)(values[2 * i] << 8 | values[2 * i + 1]);
    return PL_OK;
}

const struct pl_program pl_program = {
    .abi = PL_ABI,
    .name = "static",
    .digest = "static",
    .pure_egress = 1,
    .create = create,
    .destroy = destroy,
    .receive = receive,
    .register_write = register_write,
};

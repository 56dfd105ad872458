#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "build.h"
#include "real.h"

/* Setting up the real clock's share: sockets, and the ports on them. */

enum {
    SLOT_BYTES = 256,  /* the headers of a RoCEv2 frame and what the kernel says of it */
    SLOTS = 1024
};

static int make(struct dp *dp)
{
    struct real_front *real = calloc(1, sizeof *real);
    if (!real)
        return -1;
    dp->real = real;
    dp->watched = true;
    real->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    real->control_fd = -1;
    real->ports = calloc(dp->port_count + 1, sizeof *real->ports);
    real->hosts = calloc(dp->hosts + 1, sizeof *real->hosts);
    real->polled = calloc(dp->port_count + 1, sizeof *real->polled);
    if (!real->ports || !real->hosts || !real->polled || real->epoll_fd < 0)
        return -1;
    return timers_open(&real->timers, dp->port_count + dp->nodes);
}

static int ensure(struct dp *dp)
{
    if (dp->real || make(dp) == 0)
        return 0;
    return build_fail(dp, "not enough memory for sockets");
}

void real_close(struct dp *dp)
{
    struct real_front *real = dp->real;
    for (uint32_t i = 0; i < real->polled_count; i++)
        wire_close(&real->ports[real->polled[i]].in);
    timers_close(&real->timers);
    if (real->epoll_fd >= 0)
        close(real->epoll_fd);
    free(real->ports);
    free(real->hosts);
    free(real->polled);
    free(real);
    dp->real = NULL;
    dp->watched = dp->traced;
}

static int open_socket(struct dp *dp, struct real_port *port, const struct dp_wire *wire)
{
    if (wire->ifindex == 0 || wire_open(&port->in, wire->receiver, wire->ifindex, SLOT_BYTES, SLOTS,
                                        PACKET_ROOM) != 0 ||
        wire_open_sender(wire->sender) != 0)
        return build_fail(dp, "packet socket %d on interface %u: %s", wire->receiver,
                          wire->ifindex, strerror(wire->ifindex ? errno : ENODEV));
    struct epoll_event event = { .events = EPOLLIN, .data.fd = wire->receiver };
    if (epoll_ctl(dp->real->epoll_fd, EPOLL_CTL_ADD, wire->receiver, &event) != 0)
        return build_fail(dp, "packet socket %d: %s", wire->receiver, strerror(errno));
    return 0;
}

static int attach(struct dp *dp, const struct dp_wire *wire)
{
    uint32_t index = 0;
    if (port_index(dp, wire->node, wire->port, &index) != 0)
        return DP_FAILED;
    if (dp->ports[index].tail.entry)
        return build_fail(dp, "port %u of node %u is connected already", wire->port, wire->node);
    struct real_port *port = &dp->real->ports[index];
    port->node = wire->node;
    port->number = wire->port;
    port->rank = wire->rank;
    port->sender = wire->sender;
    if (open_socket(dp, port, wire) != 0)
        return DP_FAILED;
    port->ifindex = wire->ifindex;
    dp->real->polled[dp->real->polled_count++] = index;
    port_open(dp, &dp->ports[index], &port->head);
    return 0;
}

static int by_rank(const void *one, const void *other, void *context)
{
    const struct real_port *ports = context;
    uint32_t first = *(const uint32_t *)one;
    uint32_t second = *(const uint32_t *)other;
    if (ports[first].rank != ports[second].rank)
        return ports[first].rank < ports[second].rank ? 1 : -1;
    return first < second ? -1 : 1;
}

/* Hosts' frames enter at ports of the least rank. */
static void put_in_order(struct dp *dp)
{
    struct real_front *real = dp->real;
    uint32_t count = real->polled_count;
    qsort_r(real->polled, count, sizeof *real->polled, by_rank, real->ports);
    uint32_t least = count ? real->ports[real->polled[count - 1]].rank : 0;
    real->first_entry = count;
    while (real->first_entry > 0 && real->ports[real->polled[real->first_entry - 1]].rank == least)
        real->first_entry--;
    for (uint32_t i = real->first_entry; i < count; i++)
        dp->ports[real->polled[i]].to_host = true;
}

int dp_wires(struct dp *dp, uint64_t count, const struct dp_wire *wires)
{
    if (ensure(dp) != 0)
        return DP_FAILED;
    for (uint64_t i = 0; i < count; i++)
        if (attach(dp, &wires[i]) != 0)
            return DP_FAILED;
    put_in_order(dp);
    return 0;
}

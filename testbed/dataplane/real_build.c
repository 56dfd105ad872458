#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "build.h"
#include "real.h"

/* Setting up the real clock's share: sockets, and the ports on them. */

enum {
    FIRST_PLACES = 64,
    SLOT_MARGIN = 256,
    SLOT_LEAST = 2048,
    SOCKETS_LIMIT = 65536
};

static const uint64_t RING_ONE = 1 << 20;   /* of a socket with one interface */
static const uint64_t RING_ALL = 64 << 20;  /* of a socket with all of a namespace */

static int make(struct dp *dp)
{
    struct real_front *real = calloc(1, sizeof *real);
    if (!real)
        return -1;
    dp->real = real;
    real->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    real->control_fd = -1;
    real->place_mask = FIRST_PLACES - 1;
    real->ports = calloc(dp->port_count + 1, sizeof *real->ports);
    real->hosts = calloc(dp->hosts + 1, sizeof *real->hosts);
    real->places = calloc(FIRST_PLACES, sizeof *real->places);
    real->sockets = calloc(SOCKETS_LIMIT, sizeof *real->sockets);
    if (!real->ports || !real->hosts || !real->places || !real->sockets || real->epoll_fd < 0)
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
    for (uint32_t i = 0; i < real->socket_count; i++)
        wire_close(&real->sockets[i]);
    timers_close(&real->timers);
    if (real->epoll_fd >= 0)
        close(real->epoll_fd);
    free(real->ports);
    free(real->hosts);
    free(real->places);
    free(real->sockets);
    free(real);
    dp->real = NULL;
}

int dp_socket(struct dp *dp, int fd, uint32_t ifindex)
{
    if (ensure(dp) != 0)
        return DP_FAILED;
    struct real_front *real = dp->real;
    uint32_t number = real->socket_count;
    uint32_t slot = dp->settings.payload_bytes + dp->settings.header_bytes + SLOT_MARGIN;
    if (number == SOCKETS_LIMIT)
        return build_fail(dp, "more than %u sockets", number);
    if (wire_open(&real->sockets[number], fd, ifindex, slot > SLOT_LEAST ? slot : SLOT_LEAST,
                  ifindex ? RING_ONE : RING_ALL, PACKET_ROOM) != 0)
        return build_fail(dp, "packet socket %d on interface %u: %s", fd, ifindex,
                          strerror(errno));
    struct epoll_event event = { .events = EPOLLIN, .data.fd = fd };
    if (epoll_ctl(real->epoll_fd, EPOLL_CTL_ADD, fd, &event) != 0)
        return build_fail(dp, "packet socket %d: %s", fd, strerror(errno));
    real->socket_count++;
    return (int)number;
}

/* --- Which port is behind an interface --- */

static uint32_t slot_of(const struct real_front *real, uint32_t socket, uint32_t ifindex)
{
    uint32_t slot = (ifindex * 0x9e3779b1u ^ socket * 0x85ebca6bu) >> 7 & real->place_mask;
    while (real->places[slot].ifindex != 0 &&
           (real->places[slot].ifindex != ifindex || real->places[slot].socket != socket))
        slot = (slot + 1) & real->place_mask;
    return slot;
}

const struct real_place *real_find(const struct real_front *real, uint32_t socket,
                                   uint32_t ifindex)
{
    const struct real_place *place = &real->places[slot_of(real, socket, ifindex)];
    return place->ifindex ? place : NULL;
}

static int grow_places(struct real_front *real)
{
    struct real_place *old = real->places;
    uint32_t count = real->place_mask + 1;
    struct real_place *places = calloc(2 * (size_t)count, sizeof *places);
    if (!places)
        return -1;
    real->places = places;
    real->place_mask = 2 * count - 1;
    for (uint32_t i = 0; i < count; i++)
        if (old[i].ifindex)
            places[slot_of(real, old[i].socket, old[i].ifindex)] = old[i];
    free(old);
    return 0;
}

static int attach(struct dp *dp, const struct dp_wire *wire)
{
    struct real_front *real = dp->real;
    uint32_t index = 0;
    if (port_index(dp, wire->node, wire->port, &index) != 0)
        return DP_FAILED;
    if (!real || wire->socket >= real->socket_count || wire->ifindex == 0)
        return build_fail(dp, "port %u of node %u: no socket %u or interface %u", wire->port,
                          wire->node, wire->socket, wire->ifindex);
    if (dp->ports[index].tail.entry)
        return build_fail(dp, "port %u of node %u is connected already", wire->port, wire->node);
    if (2 * ++real->place_count > real->place_mask && grow_places(real) != 0)
        return build_fail(dp, "not enough memory for sockets");
    real->places[slot_of(real, wire->socket, wire->ifindex)] =
        (struct real_place){ wire->socket, wire->ifindex, wire->port, wire->node };
    real->ports[index].socket = wire->socket;
    real->ports[index].ifindex = wire->ifindex;
    port_open(dp, &dp->ports[index], &real->ports[index].head);
    return 0;
}

int dp_wires(struct dp *dp, uint64_t count, const struct dp_wire *wires)
{
    for (uint64_t i = 0; i < count; i++)
        if (attach(dp, &wires[i]) != 0)
            return DP_FAILED;
    return 0;
}

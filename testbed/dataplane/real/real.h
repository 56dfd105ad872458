#ifndef REAL_H
#define REAL_H
#include "core.h"
#include "timers.h"
#include "wire.h"

/*
 * The real clock's share of a network: sockets instead of cables, timers instead of windows. The
 * functions for ports are called only where dp->real is set.
 */

struct real_port {
    struct cursor head;       /* first frame that is not on the wire yet */
    struct wire_socket in;
    int sender;
    uint32_t ifindex;         /* 0: this port is on no socket */
    uint32_t node;
    uint32_t number;          /* of the node's */
    uint32_t rank;
    uint64_t departure;       /* of the frame sent last: ideal, and on the real clock */
    uint64_t put;
    uint64_t gaps;
    uint64_t gaps_within_10pct;
    uint64_t gaps_within_25pct;
    uint64_t gaps_within_frame;
    uint64_t late_max;
};

enum { LATE_BUCKETS = 256 };  /* four to an octave of picoseconds */

struct real_host {
    uint64_t frames;
    uint64_t busy;            /* time that its data frames but the first take at line rate */
    uint64_t first_due;
    uint64_t last_due;
    uint64_t first_put;
    uint64_t last_put;
    uint64_t late_max;
    uint32_t late[LATE_BUCKETS];
};

/* A frame in the batch that goes on the wire next. */
struct real_departure {
    struct entry entry;
    uint32_t port;
};

struct real_front {
    struct real_port *ports;
    struct real_host *hosts;
    uint32_t *polled;          /* ports on sockets, the greatest rank first */
    uint32_t polled_count;
    uint32_t first_entry;      /* those from here on have the least rank: frames enter there */
    uint32_t next_entry;       /* whose turn it is among them */
    struct timers timers;      /* ports, then nodes */
    struct wire_batch batch;
    struct real_departure departures[WIRE_BATCH];
    int epoll_fd;
    int control_fd;            /* the one that epoll knows */
    uint64_t looked_ns;        /* when epoll was asked last */
    double dilation;
    uint64_t start_ns;
    bool started;
    uint64_t noise;
};

/* A frame was queued: it is due on the wire at its departure plus the link's delay. */
void real_notice(struct dp *dp, const struct port *port);

/* Add the next frame of a port to the batch; what the batch holds goes on the wire at dp->now. */
void real_transmit(struct dp *dp, uint32_t port);
void real_flush(struct dp *dp);

void real_read_port(const struct dp *dp, const struct port *port, struct dp_port_record *record);
void real_read_totals(const struct dp *dp, struct dp_totals *totals);
void real_close(struct dp *dp);

#endif

#ifndef FRONT_H
#define FRONT_H
#include <stdint.h>
#pragma GCC visibility push(default)

/*
 * Compiled programs as switches on network interfaces, on the real clock. Every port has one queue,
 * limited in frames; it may serve so many frames or bytes a second, and its cable may take time.
 * Programs see microseconds since the start, as those on BMv2 do. Calls that can fail return a
 * negative number and leave a sentence for front_error.
 *
 * Python reads this file too: between the guard lines it holds only what cffi's parser accepts.
 */

struct pl_program; /* see p4/codegen/pipeline.h */
struct pl_switch;
struct front;

struct front *front_new(void);
void front_free(struct front *front);
const char *front_error(const struct front *front);

/* Make a switch; returns its number, and in `made` its state, to be configured by the program. */
int front_add_switch(struct front *front, const struct pl_program *program, uint64_t seed,
                     struct pl_switch **made);

/*
 * Put a port of a switch, both by number, on the interface `ifindex`, through a packet socket of
 * protocol 0 that the caller closes once the port is gone. What comes in at an `inner` port is on
 * its way already, and is taken before what comes in at the others.
 */
int front_add_port(struct front *front, uint32_t number, uint32_t port, int32_t fd,
                   uint32_t ifindex, uint32_t inner);
/* Of the following, `port` must be one that was added. */
void front_remove_port(struct front *front, uint32_t number, uint32_t port);

struct front_limits {
    uint32_t depth;            /* frames that may wait */
    double frames_a_second;    /* 0: any number */
    double bytes_a_second;     /* 0: any number */
    double delay_us;
};
void front_limit(struct front *front, uint32_t number, uint32_t port,
                 const struct front_limits *limits);

/* Forward frames until `control_fd` (-1: none) is readable. */
int front_run(struct front *front, int32_t control_fd);

struct front_counts {
    uint64_t received;
    uint64_t sent;
    uint64_t dropped;    /* the queue was full, or the interface refused it */
    uint64_t overruns;   /* came in faster than they could be taken */
    uint64_t waiting;
};
void front_count(struct front *front, uint32_t number, uint32_t port,
                 struct front_counts *counts);

/* Microseconds since front_new. */
uint64_t front_now(const struct front *front);

/* Frames that programs sent to ports that there are not. */
uint64_t front_lost(const struct front *front);

#pragma GCC visibility pop
#endif

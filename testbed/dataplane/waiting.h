#ifndef WAITING_H
#define WAITING_H
#include "core.h"

/*
 * Frames that wait at a switch's ports for their service, where what is served next is decided only
 * then: those of programs whose egress runs at dequeue, and all where ports have two bands. A port
 * serves its first band first and interrupts no frame. In it are ACKs (`ack_priority`) and, where
 * ports trim, headers of frames that found no room, and NACKs that tell of them.
 */

/* Make and free what waits at a switch's ports. */
int waiting_open(struct sw *sw);
void waiting_close(struct sw *sw);

/* Whether ports have two bands. */
bool waiting_in_bands(const struct dp *dp);

/*
 * Let a frame wait at a port, whole or cut to its header: false if it was dropped, and still is the
 * caller's. Another one may be cut, or dropped, in its place.
 */
bool waiting_add(struct sw *sw, uint32_t port, struct waiting_frame frame);

/* When a frame's service starts next, TIME_NEVER if none waits; take the one that is next then. */
uint64_t waiting_next(const struct sw *sw);
struct waiting_frame waiting_take(struct sw *sw, uint32_t port);

/* After a service: set when the port's next one starts. */
void waiting_schedule(struct sw *sw, uint32_t port);

/* How many wait at a port in all, and the i-th of them in no order. */
uint32_t waiting_count(const struct sw *sw, uint32_t port);
const struct waiting_frame *waiting_at(const struct sw *sw, uint32_t port, uint32_t i);

#endif

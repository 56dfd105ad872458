#ifndef PORT_H
#define PORT_H
#include "core.h"

/*
 * A port: a FIFO that serves one frame after the other, byte for byte. Departures are computed when
 * frames are queued; `port_advance` catches up with what has left since. A frame is in the queue,
 * with all its bytes, until its last bit has left. The port takes the next frame one gap later.
 */

/* Bytes that ports charge for a frame. */
uint32_t port_charge(const struct dp *dp, const struct packet *packet);

/* Retire what has left by `now`, and mark the frames whose service started with a long queue. */
void port_advance(struct dp *dp, struct port *port, uint64_t now);

/* Count a frame of a class and `bytes` into the queue, or count its drop and return false. */
bool port_admit(struct worker *worker, struct port *port, uint32_t class, uint32_t bytes,
                uint64_t now);

/* Service of an admitted frame, at `from` the earliest. The packet is the link's from here on. */
void port_serve(struct worker *worker, struct port *port, uint32_t number, uint32_t bytes,
                uint64_t arrived, uint64_t from);

/* Admit a frame and let it be served in its turn; false if it was dropped (and not freed). */
bool port_enqueue(struct worker *worker, struct port *port, uint32_t number, uint64_t now);

/* Record the queue if it changed since the last sample. */
void port_sample(struct worker *worker, struct port *port, uint32_t node, uint32_t number,
                 uint64_t time);

#endif

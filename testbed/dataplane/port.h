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
void port_advance(struct worker *worker, struct port *port, uint64_t now);

/* Whether a frame of `bytes` fits into the queue, into its first band if it is urgent. */
bool port_has_room(struct worker *worker, struct port *port, bool urgent, uint32_t bytes,
                   uint64_t now);

/* Count a frame into the queue, or its drop. */
void port_take(struct port *port, bool urgent, uint32_t bytes);
void port_drop(struct worker *worker, struct port *port, uint32_t class);

/* Service of a frame that was taken, at `from` the earliest. From here on it is the link's. */
void port_serve(struct worker *worker, struct port *port, uint32_t number, uint32_t bytes,
                uint64_t arrived, uint64_t from);

/* Take a frame and let it be served in its turn; false if it was dropped (and not freed). */
bool port_enqueue(struct worker *worker, struct port *port, uint32_t number, uint64_t now);

/* Record the queue if it changed since the last sample. */
void port_sample(struct worker *worker, struct port *port, uint32_t node, uint32_t number,
                 uint64_t time);

#endif

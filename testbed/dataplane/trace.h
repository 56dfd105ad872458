#ifndef TRACE_H
#define TRACE_H
#include "core.h"

/* Every frame at every port, kept where a trace is asked for: see struct dp_hop. */

/* Keep that `port` serves a frame: it came at `arrived` and its last bit leaves at `departure`. */
void trace_hop(struct worker *worker, const struct port *port, const struct packet *packet,
               uint32_t bytes, uint64_t arrived, uint64_t departure);

#endif

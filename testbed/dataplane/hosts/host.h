#ifndef HOST_H
#define HOST_H
#include "core.h"

/*
 * A host: a NIC that sends its flows' data frames in turn, packet by packet, at its pace, and
 * alternates between data and ACKs while it has both (paper, section 2.2 and Appendix A). Which
 * path a frame takes is its entropy's, when a flow may send its congestion control's, and which
 * packet is next its recovery's: entropy.h, congestion.h, recovery.h.
 */

/* When the host does something by itself next, TIME_NEVER if only frames can wake it; and do it. */
uint64_t host_next(const struct dp *dp, const struct host *host);
void host_act(struct worker *worker, struct host *host, uint64_t now);

/* A frame has arrived. */
void host_receive(struct worker *worker, struct host *host, uint32_t number, uint64_t now);

#endif

#ifndef HOST_H
#define HOST_H
#include "core.h"

/*
 * A host: a NIC that sends its flows' data frames in turn, packet by packet, at its pace, and
 * alternates between data and ACKs while it has both (paper, section 2.2 and Appendix A).
 */

/* When the host does something by itself next, TIME_NEVER if only frames can wake it; and do it. */
uint64_t host_next(const struct dp *dp, const struct host *host);
void host_act(struct worker *worker, struct host *host, uint64_t now);

/* A frame has arrived. */
void host_receive(struct worker *worker, struct host *host, uint32_t number, uint64_t now);

/* Frames that a message of `bytes` in `subflows` equal pieces takes. */
uint64_t host_packets(const struct dp *dp, uint64_t bytes, uint32_t subflows);

#endif

#ifndef SENDING_H
#define SENDING_H
#include "core.h"

/*
 * A host's NIC: its flows' data frames in turn, packet by packet, at its pace, and data and ACKs
 * alternately while it has both. Flows in the ring have frames to send, and, as far as was known
 * when they were put there, may send one.
 */

/* When the NIC sends something next, TIME_NEVER if it has nothing; and let it. */
uint64_t sending_next(const struct host *host);
void sending_act(struct worker *worker, struct host *host, uint64_t now);

/* A flow begins, or may have become able to send. */
void sending_begin(struct dp *dp, struct host *host, uint32_t flow, uint64_t now);
void sending_offer(struct dp *dp, struct host *host, uint32_t flow, uint64_t now);

/* A packet that was turned into an ACK waits for its turn, and so does a packet's header only. */
void sending_queue_ack(struct host *host, uint32_t number);
void sending_queue_header(struct worker *worker, struct host *host, uint32_t flow, uint32_t psn,
                          uint16_t entropy);

#endif

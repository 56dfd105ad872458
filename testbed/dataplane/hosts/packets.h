#ifndef PACKETS_H
#define PACKETS_H
#include "core.h"

/* Messages as packets: subflows of nearly equal size, one packet of each in turn. */

/* Frames that a message of `bytes` in `subflows` equal pieces takes. */
uint64_t packets_of(const struct dp *dp, uint64_t bytes, uint32_t subflows);

/* Length of the frame (without FCS) that carries packet `psn`, and what ports charge for it. */
uint32_t packet_length(const struct dp *dp, const struct sender *sender, uint32_t psn);
uint32_t packet_bytes(const struct dp *dp, const struct sender *sender, uint32_t psn);

#endif

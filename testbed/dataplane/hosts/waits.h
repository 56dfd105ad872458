#ifndef WAITS_H
#define WAITS_H
#include "core.h"

/* Flows that wait for others, and what happens when those have come far enough. */

enum event { EVENT_SENT, EVENT_ACKNOWLEDGED, EVENT_DELIVERED };

/* Let flows of this host go on that wait for this of `flow`. */
void waits_release(struct dp *dp, struct host *host, uint32_t flow, enum event event, uint64_t now);

#endif

#ifndef BATCH_H
#define BATCH_H
#include "core.h"

/* The arrivals of one node in one window, brought into order of (time, port, place in the link). */

enum { BATCH_AHEAD = 6 };  /* how many frames ahead headers are prefetched */

void batch_grow(struct batch *batch);
void batch_free(struct batch *batch);

/* Order the arrivals, all within [begin, end); they were added port by port. */
const struct arrival *batch_sort(struct batch *batch, uint64_t begin, uint64_t end);

static inline void batch_add(struct batch *batch, uint64_t time, uint32_t packet, uint32_t port)
{
    if (batch->count == batch->room)
        batch_grow(batch);
    batch->arrivals[batch->count++] = (struct arrival){ time, packet, port };
}

#endif

#ifndef WATCH_H
#define WATCH_H
#include "core.h"

/*
 * What congestion control did over time to some flows: a row a signal. The rows of a flow are in
 * its sender's hands alone, so that threads need no agreement about them.
 */

struct watch {
    struct dp_watched *rows;
    uint64_t count;
    uint64_t room;
};

/* Keep a row of a flow, if it is watched, after its congestion control was told. */
void watch_note(struct dp *dp, uint32_t flow, const struct dp_signal *signal);

void watch_close(struct dp *dp);

#endif

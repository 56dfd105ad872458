#ifndef STARTS_H
#define STARTS_H
#include "core.h"

/* A host's flows that begin at a known time: a heap by time, by number where times are equal. */

static inline uint64_t starts_next(const struct dp *dp, const struct host *host)
{
    return host->start_count ? dp->start_at[*host->starts] : TIME_NEVER;
}

/* Add a flow that has waited for the last time at `now`: it begins after its delay. */
void starts_add(struct dp *dp, struct host *host, uint32_t flow, uint64_t now);

/* Take the earliest; there must be one. */
uint32_t starts_take(const struct dp *dp, struct host *host);

#endif

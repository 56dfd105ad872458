#ifndef ALARMS_H
#define ALARMS_H
#include <stdint.h>

/*
 * When flows of one host want to be looked at: a heap by time, and by flow where times are equal. A
 * flow may be in it several times; it knows itself which of its alarms it still means.
 */
struct alarm {
    uint64_t time;
    uint32_t flow;
};

struct alarms {
    struct alarm *heap;
    uint32_t count;
    uint32_t room;
};

static inline uint64_t alarms_next(const struct alarms *alarms)
{
    return alarms->count ? alarms->heap[0].time : UINT64_MAX;
}

void alarms_add(struct alarms *alarms, uint64_t time, uint32_t flow);

/* Take the earliest; there must be one. */
struct alarm alarms_take(struct alarms *alarms);

#endif

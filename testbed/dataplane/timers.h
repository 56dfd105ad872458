#ifndef TIMERS_H
#define TIMERS_H
#include <stdint.h>

/* One due time for each of a fixed number of things, the earliest first: an indexed heap. */
struct timers {
    uint64_t *time;   /* by thing; UINT64_MAX: none */
    uint32_t *place;  /* by thing: where it is in the heap */
    uint32_t *heap;
    uint32_t count;   /* in the heap */
};

int timers_open(struct timers *timers, uint32_t things);
void timers_close(struct timers *timers);

/* Give a thing a due time, or none (UINT64_MAX). Equal times are served in order of things. */
void timers_set(struct timers *timers, uint32_t thing, uint64_t time);

static inline uint64_t timers_next(const struct timers *timers)
{
    return timers->count ? timers->time[timers->heap[0]] : UINT64_MAX;
}

#endif

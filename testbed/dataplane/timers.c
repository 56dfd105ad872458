#include "timers.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

int timers_open(struct timers *timers, uint32_t things)
{
    timers->count = 0;
    timers->time = malloc((things + 1) * sizeof *timers->time);
    timers->place = malloc((things + 1) * sizeof *timers->place);
    timers->heap = malloc((things + 1) * sizeof *timers->heap);
    if (!timers->time || !timers->place || !timers->heap)
        return -1;
    memset(timers->time, 0xff, (things + 1) * sizeof *timers->time);
    return 0;
}

void timers_close(struct timers *timers)
{
    free(timers->time);
    free(timers->place);
    free(timers->heap);
}

static bool before(const struct timers *timers, uint32_t one, uint32_t other)
{
    if (timers->time[one] != timers->time[other])
        return timers->time[one] < timers->time[other];
    return one < other;
}

static void put(struct timers *timers, uint32_t place, uint32_t thing)
{
    timers->heap[place] = thing;
    timers->place[thing] = place;
}

static void rise(struct timers *timers, uint32_t place, uint32_t thing)
{
    while (place > 0 && before(timers, thing, timers->heap[(place - 1) / 2])) {
        put(timers, place, timers->heap[(place - 1) / 2]);
        place = (place - 1) / 2;
    }
    put(timers, place, thing);
}

static void sink(struct timers *timers, uint32_t place, uint32_t thing)
{
    for (;;) {
        uint32_t child = 2 * place + 1;
        if (child >= timers->count)
            break;
        if (child + 1 < timers->count &&
            before(timers, timers->heap[child + 1], timers->heap[child]))
            child++;
        if (!before(timers, timers->heap[child], thing))
            break;
        put(timers, place, timers->heap[child]);
        place = child;
    }
    put(timers, place, thing);
}

static void settle(struct timers *timers, uint32_t place, uint32_t thing)
{
    if (place > 0 && before(timers, thing, timers->heap[(place - 1) / 2]))
        rise(timers, place, thing);
    else
        sink(timers, place, thing);
}

void timers_set(struct timers *timers, uint32_t thing, uint64_t time)
{
    bool had = timers->time[thing] != UINT64_MAX;
    timers->time[thing] = time;
    if (!had && time == UINT64_MAX)
        return;
    if (!had) {
        rise(timers, timers->count++, thing);
        return;
    }
    if (time != UINT64_MAX) {
        settle(timers, timers->place[thing], thing);
        return;
    }
    uint32_t last = timers->heap[--timers->count];
    if (last != thing)
        settle(timers, timers->place[thing], last);
}

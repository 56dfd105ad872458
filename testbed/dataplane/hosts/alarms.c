#include "alarms.h"

#include <assert.h>
#include <stdbool.h>
#include <stdlib.h>

enum { FIRST_ROOM = 4 };

static bool before(struct alarm one, struct alarm other)
{
    return one.time != other.time ? one.time < other.time : one.flow < other.flow;
}

void alarms_add(struct alarms *alarms, uint64_t time, uint32_t flow)
{
    if (alarms->count == alarms->room) {
        alarms->room = alarms->room ? 2 * alarms->room : FIRST_ROOM;
        alarms->heap = realloc(alarms->heap, alarms->room * sizeof *alarms->heap);
        if (!alarms->heap)
            abort();
    }
    struct alarm added = { time, flow };
    uint32_t place = alarms->count++;
    for (; place > 0 && before(added, alarms->heap[(place - 1) / 2]); place = (place - 1) / 2)
        alarms->heap[place] = alarms->heap[(place - 1) / 2];
    alarms->heap[place] = added;
}

struct alarm alarms_take(struct alarms *alarms)
{
    assert(alarms->count > 0);
    struct alarm first = alarms->heap[0];
    struct alarm last = alarms->heap[--alarms->count];
    uint32_t place = 0;
    for (;;) {
        uint32_t child = 2 * place + 1;
        if (child >= alarms->count)
            break;
        if (child + 1 < alarms->count && before(alarms->heap[child + 1], alarms->heap[child]))
            child++;
        if (!before(alarms->heap[child], last))
            break;
        alarms->heap[place] = alarms->heap[child];
        place = child;
    }
    alarms->heap[place] = last;
    return first;
}

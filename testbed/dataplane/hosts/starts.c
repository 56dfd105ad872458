#include "starts.h"

static bool earlier(const struct dp *dp, uint32_t a, uint32_t b)
{
    return dp->start_at[a] != dp->start_at[b] ? dp->start_at[a] < dp->start_at[b] : a < b;
}

void starts_add(struct dp *dp, struct host *host, uint32_t flow, uint64_t now)
{
    uint64_t after_waiting = now + dp->delay[flow];
    if (dp->start_at[flow] < after_waiting)
        dp->start_at[flow] = after_waiting;
    uint32_t *heap = host->starts;
    uint32_t place = host->start_count++;
    while (place > 0 && earlier(dp, flow, heap[(place - 1) / 2])) {
        heap[place] = heap[(place - 1) / 2];
        place = (place - 1) / 2;
    }
    heap[place] = flow;
}

uint32_t starts_take(const struct dp *dp, struct host *host)
{
    uint32_t *heap = host->starts;
    uint32_t first = heap[0];
    uint32_t last = heap[--host->start_count];
    uint32_t place = 0;
    for (;;) {
        uint32_t child = 2 * place + 1;
        if (child >= host->start_count)
            break;
        if (child + 1 < host->start_count && earlier(dp, heap[child + 1], heap[child]))
            child++;
        if (!earlier(dp, heap[child], last))
            break;
        heap[place] = heap[child];
        place = child;
    }
    heap[place] = last;
    return first;
}

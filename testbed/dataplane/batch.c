#include "batch.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_ROOM = 1024 };

void batch_grow(struct batch *batch)
{
    batch->room = batch->room ? 2 * batch->room : FIRST_ROOM;
    batch->arrivals = realloc(batch->arrivals, batch->room * sizeof *batch->arrivals);
    batch->sorted = realloc(batch->sorted, batch->room * sizeof *batch->sorted);
    batch->buckets = realloc(batch->buckets, (batch->room + 1) * sizeof *batch->buckets);
    if (!batch->arrivals || !batch->sorted || !batch->buckets)
        abort();
}

void batch_free(struct batch *batch)
{
    free(batch->arrivals);
    free(batch->sorted);
    free(batch->buckets);
}

static void insertion_sort(struct arrival *arrivals, uint32_t count)
{
    for (uint32_t i = 1; i < count; i++) {
        struct arrival moved = arrivals[i];
        uint32_t place = i;
        for (; place > 0 && arrivals[place - 1].time > moved.time; place--)
            arrivals[place] = arrivals[place - 1];
        arrivals[place] = moved;
    }
}

/* Bits to shift a time in a window by, so that at most `limit` buckets result. */
static uint32_t shift_for(uint64_t width, uint32_t limit)
{
    uint32_t shift = 0;
    while (width >> shift >= limit)
        shift++;
    return shift;
}

/* About one arrival a bucket, then a sort that has little left to do; both keep equal times. */
const struct arrival *batch_sort(struct batch *batch, uint64_t begin, uint64_t end)
{
    uint32_t count = batch->count;
    if (count < 2)
        return batch->arrivals;
    uint32_t shift = shift_for(end - begin, count);
    uint32_t buckets = (uint32_t)((end - begin) >> shift) + 1;
    memset(batch->buckets, 0, buckets * sizeof *batch->buckets);
    for (uint32_t i = 0; i < count; i++)
        batch->buckets[(batch->arrivals[i].time - begin) >> shift]++;
    uint32_t place = 0;
    for (uint32_t i = 0; i < buckets; i++) {
        uint32_t in_bucket = batch->buckets[i];
        batch->buckets[i] = place;
        place += in_bucket;
    }
    for (uint32_t i = 0; i < count; i++)
        batch->sorted[batch->buckets[(batch->arrivals[i].time - begin) >> shift]++] =
            batch->arrivals[i];
    insertion_sort(batch->sorted, count);
    return batch->sorted;
}

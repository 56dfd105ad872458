#include "median.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_ROOM = 8 };

void median_free(struct median *median)
{
    free(median->recent);
    free(median->sorted);
    *median = (struct median){ 0 };
}

/* How many samples are smaller. */
static uint32_t rank_of(const struct median *median, uint64_t sample)
{
    uint32_t low = 0;
    uint32_t high = median->count;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (median->sorted[middle] < sample)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void grow(struct median *median)
{
    uint32_t room = median->room ? 2 * median->room : FIRST_ROOM;
    uint64_t *recent = malloc(room * sizeof *recent);
    uint64_t *sorted = realloc(median->sorted, room * sizeof *sorted);
    if (!recent || !sorted)
        abort();
    for (uint32_t i = 0; i < median->count; i++)
        recent[i] = median->recent[(median->first + i) % median->room];
    free(median->recent);
    median->recent = recent;
    median->sorted = sorted;
    median->room = room;
    median->first = 0;
}

static void forget_oldest(struct median *median)
{
    uint32_t rank = rank_of(median, median->recent[median->first]);
    assert(median->sorted[rank] == median->recent[median->first]);
    memmove(median->sorted + rank, median->sorted + rank + 1,
            (median->count - rank - 1) * sizeof *median->sorted);
    median->first = (median->first + 1) % median->room;
    median->count--;
}

void median_add(struct median *median, uint64_t sample, uint32_t keep)
{
    assert(keep > 0);
    while (median->count >= keep)
        forget_oldest(median);
    if (median->count == median->room)
        grow(median);
    uint32_t rank = rank_of(median, sample);
    memmove(median->sorted + rank + 1, median->sorted + rank,
            (median->count - rank) * sizeof *median->sorted);
    median->sorted[rank] = sample;
    median->recent[(median->first + median->count++) % median->room] = sample;
}

uint64_t median_read(const struct median *median)
{
    assert(median->count > 0);
    uint64_t upper = median->sorted[median->count / 2];
    if (median->count % 2 == 1)
        return upper;
    uint64_t lower = median->sorted[median->count / 2 - 1];
    return lower + (upper - lower) / 2;
}

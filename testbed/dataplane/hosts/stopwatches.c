#include "stopwatches.h"

#include <assert.h>
#include <stdlib.h>

enum { FIRST_ROOM = 16 };

void stopwatches_free(struct stopwatches *watches)
{
    free(watches->slots);
    *watches = (struct stopwatches){ 0 };
}

/* Where a number is, or where it would go. */
static uint32_t place_of(const struct stopwatches *watches, uint64_t key)
{
    uint32_t place = (uint32_t)key & (watches->room - 1);
    while (watches->slots[place].key != 0 && watches->slots[place].key != key)
        place = (place + 1) & (watches->room - 1);
    return place;
}

static void grow(struct stopwatches *watches)
{
    struct stopwatches grown = { .room = watches->room ? 2 * watches->room : FIRST_ROOM };
    grown.slots = calloc(grown.room, sizeof *grown.slots);
    if (!grown.slots)
        abort();
    for (uint32_t i = 0; i < watches->room; i++)
        if (watches->slots[i].key != 0)
            grown.slots[place_of(&grown, watches->slots[i].key)] = watches->slots[i];
    grown.count = watches->count;
    free(watches->slots);
    *watches = grown;
}

void stopwatches_start(struct stopwatches *watches, uint32_t number, uint64_t now)
{
    uint64_t key = (uint64_t)number + 1;
    if (2 * watches->count >= watches->room)
        grow(watches);
    struct stopwatch *slot = &watches->slots[place_of(watches, key)];
    if (slot->key == key)
        return;
    *slot = (struct stopwatch){ now, key };
    watches->count++;
    assert(watches->count < watches->room);
}

bool stopwatches_read(const struct stopwatches *watches, uint32_t number, uint64_t *since)
{
    if (watches->count == 0)
        return false;
    const struct stopwatch *slot = &watches->slots[place_of(watches, (uint64_t)number + 1)];
    *since = slot->since;
    return slot->key != 0;
}

/* Move later entries of the run back into the gap, so that every search still finds them. */
static void close_gap(struct stopwatches *watches, uint32_t gap)
{
    uint32_t mask = watches->room - 1;
    for (uint32_t place = (gap + 1) & mask; watches->slots[place].key != 0;
         place = (place + 1) & mask) {
        uint32_t home = (uint32_t)watches->slots[place].key & mask;
        if (((place - home) & mask) < ((place - gap) & mask))
            continue;
        watches->slots[gap] = watches->slots[place];
        gap = place;
    }
    watches->slots[gap].key = 0;
}

void stopwatches_stop(struct stopwatches *watches, uint32_t number)
{
    if (watches->count == 0)
        return;
    uint32_t place = place_of(watches, (uint64_t)number + 1);
    if (watches->slots[place].key == 0)
        return;
    watches->count--;
    close_gap(watches, place);
}

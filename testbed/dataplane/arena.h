#ifndef ARENA_H
#define ARENA_H
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Fixed blocks of one size in one reserved range of addresses, named by 32-bit numbers. The range
 * only ever grows; freed blocks wait in depots (one per thread, no lock) or, in batches, in the
 * arena itself.
 */
struct arena {
    uint8_t *base;
    size_t block_bytes;
    size_t reserved_bytes;
    size_t ready_bytes;  /* of the range, usable so far */
    uint32_t made;       /* blocks ever handed out */
    uint32_t *free;
    uint32_t free_count;
    uint32_t free_room;
    pthread_mutex_t lock;
};

enum { DEPOT_BATCH = 512, DEPOT_ROOM = 2 * DEPOT_BATCH };

struct depot {
    struct arena *arena;
    uint32_t count;
    uint32_t blocks[DEPOT_ROOM];
};

int arena_open(struct arena *arena, size_t block_bytes, size_t reserved_bytes);
void arena_close(struct arena *arena);

/* Slow paths of depot_take and depot_give; a machine out of memory ends the process. */
void depot_refill(struct depot *depot);
void depot_drain(struct depot *depot);

static inline void *arena_block(const struct arena *arena, uint32_t number)
{
    return arena->base + (size_t)number * arena->block_bytes;
}

static inline uint32_t depot_take(struct depot *depot)
{
    if (depot->count == 0)
        depot_refill(depot);
    return depot->blocks[--depot->count];
}

static inline void depot_give(struct depot *depot, uint32_t number)
{
    if (depot->count == DEPOT_ROOM)
        depot_drain(depot);
    depot->blocks[depot->count++] = number;
}

#endif

#include "arena.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { STEP_BYTES = 32 << 20 };

static void give_up(const char *what)
{
    fprintf(stderr, "dataplane: no memory for %s\n", what);
    abort();
}

int arena_open(struct arena *arena, size_t block_bytes, size_t reserved_bytes)
{
    memset(arena, 0, sizeof *arena);
    arena->block_bytes = block_bytes;
    arena->reserved_bytes = reserved_bytes;
    void *base = mmap(NULL, reserved_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                      -1, 0);
    if (base == MAP_FAILED)
        return -1;
    arena->base = base;
    pthread_mutex_init(&arena->lock, NULL);
    return 0;
}

void arena_close(struct arena *arena)
{
    if (!arena->base)
        return;
    munmap(arena->base, arena->reserved_bytes);
    free(arena->free);
    pthread_mutex_destroy(&arena->lock);
}

/* Make the next stretch of the range usable; large pages keep a big network's misses cheap. */
static void grow(struct arena *arena)
{
    uint8_t *from = arena->base + arena->ready_bytes;
    if (arena->ready_bytes + STEP_BYTES > arena->reserved_bytes ||
        mprotect(from, STEP_BYTES, PROT_READ | PROT_WRITE) != 0)
        give_up("packets");
    if (arena->ready_bytes > 0)
        madvise(from, STEP_BYTES, MADV_HUGEPAGE);
    arena->ready_bytes += STEP_BYTES;
}

static uint32_t make(struct arena *arena)
{
    size_t end = ((size_t)arena->made + 1) * arena->block_bytes;
    if (end > arena->ready_bytes)
        grow(arena);
    return arena->made++;
}

void depot_refill(struct depot *depot)
{
    struct arena *arena = depot->arena;
    pthread_mutex_lock(&arena->lock);
    while (depot->count < DEPOT_BATCH && arena->free_count > 0)
        depot->blocks[depot->count++] = arena->free[--arena->free_count];
    if (depot->count == 0) {
        uint32_t first = arena->made;
        for (uint32_t i = 0; i < DEPOT_BATCH; i++)
            make(arena);
        while (depot->count < DEPOT_BATCH) {
            depot->blocks[depot->count] = first + DEPOT_BATCH - 1 - depot->count;
            depot->count++;
        }
    }
    pthread_mutex_unlock(&arena->lock);
}

void depot_drain(struct depot *depot)
{
    struct arena *arena = depot->arena;
    pthread_mutex_lock(&arena->lock);
    if (arena->free_count + DEPOT_BATCH > arena->free_room) {
        arena->free_room = arena->free_room ? 2 * arena->free_room : 16 * DEPOT_BATCH;
        arena->free = realloc(arena->free, arena->free_room * sizeof *arena->free);
        if (!arena->free)
            give_up("the list of free packets");
    }
    depot->count -= DEPOT_BATCH;
    memcpy(arena->free + arena->free_count, depot->blocks + depot->count,
           DEPOT_BATCH * sizeof *arena->free);
    arena->free_count += DEPOT_BATCH;
    pthread_mutex_unlock(&arena->lock);
}

#ifndef FIFO_H
#define FIFO_H
#include <stdint.h>

#include "arena.h"

/*
 * The frames of one directed link, from the moment they are queued at its sender until its
 * receiver takes them: a chain of small chunks with one writer and any number of readers (cursors),
 * of which the last frees the chunks. Writer and last reader may be on different threads: an entry
 * is published by its departure time, and the one after it says TIME_NEVER until it is written.
 */
#define TIME_NEVER UINT64_MAX

enum { CHUNK_ENTRIES = 31 };

struct entry {
    uint64_t departure;  /* when its last bit leaves the sender */
    uint32_t packet;
    uint32_t bytes;      /* what the port charges for it */
};

struct chunk {
    struct entry entries[CHUNK_ENTRIES];
    struct chunk *next;
    uint32_t number;
};

struct cursor {
    struct chunk *chunk;
    uint32_t index;
};

_Static_assert(sizeof(struct chunk) == 512, "a chunk is eight cache lines");

static inline struct chunk *chunk_new(struct depot *depot)
{
    uint32_t number = depot_take(depot);
    struct chunk *chunk = arena_block(depot->arena, number);
    chunk->number = number;
    chunk->entries[0].departure = TIME_NEVER;
    return chunk;
}

static inline const struct entry *fifo_entry(const struct cursor *cursor)
{
    return &cursor->chunk->entries[cursor->index];
}

/* Departure of the entry at a cursor, TIME_NEVER if there is none yet. */
static inline uint64_t fifo_departure(const struct cursor *cursor)
{
    return __atomic_load_n(&fifo_entry(cursor)->departure, __ATOMIC_ACQUIRE);
}

static inline void fifo_push(struct cursor *tail, struct depot *depot, struct entry entry)
{
    struct entry *slot = &tail->chunk->entries[tail->index];
    struct chunk *chunk = tail->chunk;
    slot->packet = entry.packet;
    slot->bytes = entry.bytes;
    if (++tail->index == CHUNK_ENTRIES) {
        chunk->next = chunk_new(depot);
        *tail = (struct cursor){ chunk->next, 0 };
    } else {
        __atomic_store_n(&slot[1].departure, TIME_NEVER, __ATOMIC_RELAXED);
    }
    __atomic_store_n(&slot->departure, entry.departure, __ATOMIC_RELEASE);
}

static inline void fifo_step(struct cursor *cursor)
{
    if (++cursor->index == CHUNK_ENTRIES)
        *cursor = (struct cursor){ cursor->chunk->next, 0 };
}

/* Step of the last reader: nobody looks at a chunk that it has left. */
static inline void fifo_take(struct cursor *head, struct depot *depot)
{
    struct chunk *chunk = head->chunk;
    fifo_step(head);
    if (head->chunk != chunk)
        depot_give(depot, chunk->number);
}

#endif

#ifndef FIFO_H
#define FIFO_H
#include <stdbool.h>
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

enum { CHUNK_BYTES = 512 };
_Static_assert(sizeof(struct chunk) == CHUNK_BYTES, "a chunk is eight cache lines");

/* A place in a chain; chunks are aligned to their size, so the place tells the chunk. */
struct cursor {
    struct entry *entry;  /* NULL: there is no link */
};

static inline struct chunk *chunk_of(struct cursor cursor)
{
    return (struct chunk *)((uintptr_t)cursor.entry & ~(uintptr_t)(CHUNK_BYTES - 1));
}

static inline bool chunk_ends(struct cursor cursor)
{
    return cursor.entry == &chunk_of(cursor)->entries[CHUNK_ENTRIES];
}

static inline struct chunk *chunk_new(struct depot *depot)
{
    uint32_t number = depot_take(depot);
    struct chunk *chunk = arena_block(depot->arena, number);
    chunk->number = number;
    chunk->entries[0].departure = TIME_NEVER;
    return chunk;
}

/* Departure of the entry at a cursor, TIME_NEVER if there is none yet. */
static inline uint64_t fifo_departure(struct cursor cursor)
{
    return __atomic_load_n(&cursor.entry->departure, __ATOMIC_ACQUIRE);
}

static inline void fifo_push(struct cursor *tail, struct depot *depot, struct entry entry)
{
    struct entry *slot = tail->entry++;
    slot->packet = entry.packet;
    slot->bytes = entry.bytes;
    if (chunk_ends(*tail)) {
        struct chunk *next = chunk_new(depot);
        chunk_of(*tail)->next = next;
        tail->entry = next->entries;
    } else {
        __atomic_store_n(&tail->entry->departure, TIME_NEVER, __ATOMIC_RELAXED);
    }
    __atomic_store_n(&slot->departure, entry.departure, __ATOMIC_RELEASE);
}

static inline void fifo_step(struct cursor *cursor)
{
    cursor->entry++;
    if (chunk_ends(*cursor))
        cursor->entry = chunk_of(*cursor)->next->entries;
}

/* Step of the last reader: nobody looks at a chunk that it has left. */
static inline void fifo_take(struct cursor *head, struct depot *depot)
{
    struct chunk *chunk = chunk_of(*head);
    fifo_step(head);
    if (chunk_of(*head) != chunk)
        depot_give(depot, chunk->number);
}

#endif

#ifndef TABLE_H
#define TABLE_H
#include "state.h"
#include <string.h>

/*
 * A table's entries. Rows live in one array, which a handle indexes; each row is in the hash
 * bucket of its masked key. Entries with the same mask form a class, and the classes are kept in
 * the order of their best entry, so that a lookup may stop early. Tables with range fields keep
 * their rows in order and scan them. A store may serve several switches: it is copied at the
 * first write.
 */

struct pl_row {
    uint32_t next;   /* in the bucket: row number + 1 */
    uint32_t class;  /* whose mask it has */
    uint32_t rank;   /* the smaller wins */
    uint32_t order;  /* of arrival: the earlier wins among equals */
    uint32_t action; /* or member, or group */
    uint32_t used;
    uint64_t words[]; /* the key, upper ends (range tables only), the action's arguments */
};

struct pl_class {
    uint64_t seed;
    uint32_t best; /* rank of its best row */
    uint32_t rows;
    uint64_t mask[];
};

struct pl_store {
    uint32_t references;
    uint32_t count;
    uint32_t capacity;
    uint32_t free; /* row number + 1 */
    uint32_t order;
    uint32_t class_count;
    uint32_t class_capacity;
    uint32_t bucket_mask;
    uint32_t *buckets; /* row number + 1 */
    uint8_t *rows;
    uint8_t *classes;
    uint32_t *ranked;   /* classes by their best row; for scanned tables: rows */
    int32_t default_action;
    uint64_t *default_arguments;
};

static inline struct pl_row *pl_store_row(const struct pl_store *store, uint32_t row_bytes,
                                          uint32_t number)
{
    return (struct pl_row *)(void *)(store->rows + (size_t)number * row_bytes);
}

static inline uint32_t pl_class_bytes(uint32_t words)
{
    return (uint32_t)sizeof(struct pl_class) + 8 * words;
}

static inline struct pl_class *pl_store_class(const struct pl_store *store, uint32_t words,
                                              uint32_t number)
{
    return (struct pl_class *)(void *)(store->classes + (size_t)number * pl_class_bytes(words));
}

static inline uint64_t pl_mix(uint64_t hash, uint64_t word)
{
    unsigned __int128 product = (unsigned __int128)(hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static inline uint32_t pl_hash_key(uint64_t seed, const uint64_t *key, uint32_t words)
{
    uint64_t hash = seed;
    for (uint32_t i = 0; i < words; i++)
        hash = pl_mix(hash, key[i]);
    return (uint32_t)hash;
}

static inline bool pl_same_key(const uint64_t *left, const uint64_t *right, uint32_t words)
{
    uint64_t difference = 0;
    for (uint32_t i = 0; i < words; i++)
        difference |= left[i] ^ right[i];
    return difference == 0;
}

/* The row that has exactly this key, or NULL. */
static inline const struct pl_row *pl_lookup_hashed(const struct pl_store *store,
                                                    const uint64_t *key, uint32_t words,
                                                    uint32_t row_bytes)
{
    if (store->count == 0)
        return NULL;
    uint32_t next = store->buckets[pl_hash_key(0, key, words) & store->bucket_mask];
    while (next) {
        const struct pl_row *row = pl_store_row(store, row_bytes, next - 1);
        if (pl_same_key(row->words, key, words))
            return row;
        next = row->next;
    }
    return NULL;
}

static inline bool pl_row_before(const struct pl_row *left, const struct pl_row *right)
{
    if (!right || left->rank != right->rank)
        return !right || left->rank < right->rank;
    return left->order < right->order;
}

/* The best row of one class for a key. */
static inline const struct pl_row *pl_lookup_class(const struct pl_store *store, uint32_t number,
                                                   const uint64_t *key, uint32_t words,
                                                   uint32_t row_bytes)
{
    const struct pl_class *class = pl_store_class(store, words, number);
    const struct pl_row *best = NULL;
    uint64_t masked[words];
    if (!class->rows)
        return NULL;
    for (uint32_t i = 0; i < words; i++)
        masked[i] = key[i] & class->mask[i];
    uint32_t next = store->buckets[pl_hash_key(class->seed, masked, words) & store->bucket_mask];
    while (next) {
        const struct pl_row *row = pl_store_row(store, row_bytes, next - 1);
        if (row->class == number && pl_same_key(row->words, masked, words) &&
            pl_row_before(row, best))
            best = row;
        next = row->next;
    }
    return best;
}

/* The best row (longest prefix, or smallest priority) for a key, or NULL. */
static inline const struct pl_row *pl_lookup_masked(const struct pl_store *store,
                                                    const uint64_t *key, uint32_t words,
                                                    uint32_t row_bytes)
{
    const struct pl_row *best = NULL;
    for (uint32_t i = 0; i < store->class_count; i++) {
        uint32_t number = store->ranked[i];
        if (best && best->rank < pl_store_class(store, words, number)->best)
            break;
        const struct pl_row *row = pl_lookup_class(store, number, key, words, row_bytes);
        if (row && pl_row_before(row, best))
            best = row;
    }
    return best;
}

const struct pl_row *pl_lookup_scanned(const struct pl_store *store, const struct pl_table *table,
                                       const uint64_t *key);

/* What a lookup found: an action, its arguments, and whether an entry was hit. */
struct pl_found {
    int32_t action;
    const uint64_t *arguments;
    const struct pl_row *row; /* NULL: a miss */
};

static inline struct pl_found pl_found_row(const struct pl_store *store, const struct pl_row *row,
                                           uint32_t value_words)
{
    if (row)
        return (struct pl_found){(int32_t)row->action, row->words + value_words, row};
    return (struct pl_found){store->default_action, store->default_arguments, NULL};
}

/* A row's number, which is its handle and the index of its direct counter and meter. */
static inline uint32_t pl_row_number(const struct pl_store *store, const struct pl_row *row,
                                     uint32_t row_bytes)
{
    return (uint32_t)((size_t)((const uint8_t *)row - store->rows) / row_bytes);
}

struct pl_store *pl_store_new(const struct pl_table *table);
void pl_store_release(struct pl_store *store);
int64_t pl_store_fill(struct pl_switch *sw, uint32_t number);

int64_t pl_table_add(struct pl_switch *sw, uint32_t number, const struct pl_entry *entry);
int64_t pl_table_add_many(struct pl_switch *sw, uint32_t number, const struct pl_entry *entries,
                          uint32_t count, int64_t *handles);
int64_t pl_table_modify(struct pl_switch *sw, uint32_t number, int64_t handle, uint32_t action,
                        const uint8_t *parameters);
int64_t pl_table_delete(struct pl_switch *sw, uint32_t number, int64_t handle);
int64_t pl_table_default(struct pl_switch *sw, uint32_t number, uint32_t action,
                         const uint8_t *parameters);
int64_t pl_table_count(struct pl_switch *sw, uint32_t number);
int64_t pl_table_share(struct pl_switch *sw, uint32_t number, struct pl_switch *from);
int64_t pl_table_next(struct pl_switch *sw, uint32_t number, int64_t handle);
int64_t pl_table_read(struct pl_switch *sw, uint32_t number, int64_t handle, uint8_t *value,
                      uint8_t *second, uint8_t *parameters, uint32_t *priority);

/* Read arguments of action number `action` from bytes to words, and back. */
int64_t pl_read_arguments(const struct pl_layout *layout, uint32_t action,
                          const uint8_t *parameters, uint64_t *words);
void pl_write_arguments(const struct pl_layout *layout, uint32_t action, const uint64_t *words,
                        uint8_t *parameters);

#endif

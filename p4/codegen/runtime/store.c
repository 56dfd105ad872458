#include "store.h"
#include "memory.h"
#include <stdlib.h>

/* Rows, classes and buckets of a table's store. */

enum { STORE_FIRST_ROWS = 4, STORE_FIRST_CLASSES = 2 };

struct pl_store *pl_store_new(const struct pl_table *table)
{
    struct pl_store *store = calloc(1, sizeof(*store) + 8U * table->argument_words);
    if (!store)
        return NULL;
    store->references = 1;
    store->default_action = table->default_action;
    store->default_arguments = (uint64_t *)(void *)(store + 1);
    return store;
}

void pl_store_release(struct pl_store *store)
{
    if (!store || __atomic_sub_fetch(&store->references, 1, __ATOMIC_ACQ_REL) > 0)
        return;
    free(store->buckets);
    free(store->rows);
    free(store->classes);
    free(store->ranked);
    free(store);
}

static bool store_copy_arrays(const struct pl_table *table, struct pl_store *to,
                              const struct pl_store *from)
{
    size_t ranked = table->engine == PL_SCANNED ? from->capacity : from->class_capacity;
    size_t classes = (size_t)from->class_capacity * pl_class_bytes(table->key_words);
    size_t buckets = from->buckets ? from->bucket_mask + (size_t)1 : 0;
    to->rows = pl_copy(from->rows, (size_t)from->capacity * table->row_bytes);
    to->classes = pl_copy(from->classes, classes);
    to->ranked = pl_copy(from->ranked, ranked * sizeof(*from->ranked));
    to->buckets = pl_copy(from->buckets, buckets * sizeof(*from->buckets));
    return (!from->rows || to->rows) && (!from->classes || to->classes) &&
           (!from->ranked || to->ranked) && (!from->buckets || to->buckets);
}

struct pl_store *pl_store_own(const struct pl_table *table, struct pl_store **place)
{
    struct pl_store *shared = *place;
    if (__atomic_load_n(&shared->references, __ATOMIC_ACQUIRE) == 1)
        return shared;
    struct pl_store *own = pl_store_new(table);
    if (!own)
        return NULL;
    uint64_t *arguments = own->default_arguments;
    *own = *shared;
    own->references = 1;
    own->default_arguments = arguments;
    memcpy(arguments, shared->default_arguments, 8U * table->argument_words);
    if (!store_copy_arrays(table, own, shared)) {
        pl_store_release(own);
        return NULL;
    }
    pl_store_release(shared);
    *place = own;
    return own;
}

static uint32_t row_hash(const struct pl_table *table, const struct pl_store *store,
                         const struct pl_row *row)
{
    uint64_t seed = 0;
    if (table->engine == PL_MASKED)
        seed = pl_store_class(store, table->key_words, row->class)->seed;
    return pl_hash_key(seed, row->words, table->key_words);
}

static void bucket_insert(const struct pl_table *table, struct pl_store *store, uint32_t number)
{
    struct pl_row *row = pl_store_row(store, table->row_bytes, number);
    uint32_t *bucket = &store->buckets[row_hash(table, store, row) & store->bucket_mask];
    row->next = *bucket;
    *bucket = number + 1;
}

static void bucket_remove(const struct pl_table *table, struct pl_store *store, uint32_t number)
{
    struct pl_row *row = pl_store_row(store, table->row_bytes, number);
    uint32_t *next = &store->buckets[row_hash(table, store, row) & store->bucket_mask];
    while (*next != number + 1)
        next = &pl_store_row(store, table->row_bytes, *next - 1)->next;
    *next = row->next;
}

static bool rows_grow(const struct pl_table *table, struct pl_store *store)
{
    uint32_t capacity = store->capacity ? 2 * store->capacity : STORE_FIRST_ROWS;
    if (!pl_resize(&store->rows, (size_t)capacity * table->row_bytes))
        return false;
    if (table->engine == PL_SCANNED &&
        !pl_resize(&store->ranked, capacity * sizeof(*store->ranked)))
        return false;
    uint32_t *buckets = calloc(capacity, sizeof(*buckets));
    if (!buckets)
        return false;
    for (uint32_t number = capacity; number-- > store->capacity;) {
        struct pl_row *row = pl_store_row(store, table->row_bytes, number);
        memset(row, 0, table->row_bytes);
        row->next = store->free;
        store->free = number + 1;
    }
    uint32_t old = store->capacity;
    free(store->buckets);
    store->buckets = buckets;
    store->bucket_mask = capacity - 1;
    store->capacity = capacity;
    if (table->engine == PL_SCANNED)
        return true;
    for (uint32_t number = 0; number < old; number++) {
        if (pl_store_row(store, table->row_bytes, number)->used)
            bucket_insert(table, store, number);
    }
    return true;
}

int64_t pl_store_class_of(const struct pl_table *table, struct pl_store *store,
                          const uint64_t *mask)
{
    uint32_t words = table->key_words;
    for (uint32_t i = 0; i < store->class_count; i++) {
        if (pl_same_key(pl_store_class(store, words, i)->mask, mask, words))
            return i;
    }
    if (store->class_count == store->class_capacity) {
        uint32_t capacity = store->class_capacity ? 2 * store->class_capacity : STORE_FIRST_CLASSES;
        if (!pl_resize(&store->classes, (size_t)capacity * pl_class_bytes(words)) ||
            !pl_resize(&store->ranked, capacity * sizeof(*store->ranked)))
            return PL_NO_MEMORY;
        store->class_capacity = capacity;
    }
    uint32_t number = store->class_count++;
    struct pl_class *class = pl_store_class(store, words, number);
    *class = (struct pl_class){.seed = number + UINT64_C(1), .best = UINT32_MAX};
    memcpy(class->mask, mask, 8U * words);
    store->ranked[number] = number;
    return number;
}

/* Move a class to its place among the ranked ones after its best rank changed. */
static void class_rank(const struct pl_table *table, struct pl_store *store, uint32_t number)
{
    uint32_t words = table->key_words;
    uint32_t best = pl_store_class(store, words, number)->best;
    uint32_t place = 0, to = 0;
    while (store->ranked[place] != number)
        place++;
    for (uint32_t i = place; i + 1 < store->class_count; i++)
        store->ranked[i] = store->ranked[i + 1];
    while (to + 1 < store->class_count &&
           pl_store_class(store, words, store->ranked[to])->best <= best)
        to++;
    for (uint32_t i = store->class_count - 1; i > to; i--)
        store->ranked[i] = store->ranked[i - 1];
    store->ranked[to] = number;
}

static void ranked_insert(const struct pl_table *table, struct pl_store *store, uint32_t number)
{
    struct pl_row *row = pl_store_row(store, table->row_bytes, number);
    uint32_t to = store->count;
    while (to > 0 &&
           pl_row_before(row, pl_store_row(store, table->row_bytes, store->ranked[to - 1]))) {
        store->ranked[to] = store->ranked[to - 1];
        to--;
    }
    store->ranked[to] = number;
}

static void ranked_remove(struct pl_store *store, uint32_t number)
{
    uint32_t place = 0;
    while (store->ranked[place] != number)
        place++;
    for (; place + 1 < store->count; place++)
        store->ranked[place] = store->ranked[place + 1];
}

/* Take a free row; its number, or an error. */
int64_t pl_store_take(const struct pl_table *table, struct pl_store *store)
{
    if (!store->free && !rows_grow(table, store))
        return PL_NO_MEMORY;
    uint32_t number = store->free - 1;
    store->free = pl_store_row(store, table->row_bytes, number)->next;
    return number;
}

/* Make a filled row part of lookups. */
void pl_store_link(const struct pl_table *table, struct pl_store *store, uint32_t number)
{
    struct pl_row *row = pl_store_row(store, table->row_bytes, number);
    row->used = 1;
    row->order = store->order++;
    if (table->engine == PL_SCANNED) {
        ranked_insert(table, store, number);
    } else {
        bucket_insert(table, store, number);
    }
    if (table->engine == PL_MASKED) {
        struct pl_class *class = pl_store_class(store, table->key_words, row->class);
        class->rows++;
        if (row->rank < class->best) {
            class->best = row->rank;
            class_rank(table, store, row->class);
        }
    }
    store->count++;
}

/* The best rank of a class whose best row may have gone. */
static void class_refresh(const struct pl_table *table, struct pl_store *store, uint32_t number)
{
    struct pl_class *class = pl_store_class(store, table->key_words, number);
    uint32_t best = UINT32_MAX;
    for (uint32_t i = 0; i < store->capacity && class->rows && !table->by_prefix; i++) {
        struct pl_row *row = pl_store_row(store, table->row_bytes, i);
        if (row->used && row->class == number && row->rank < best)
            best = row->rank;
    }
    if (table->by_prefix && class->rows)
        best = class->best;
    if (best != class->best) {
        class->best = best;
        class_rank(table, store, number);
    }
}

/* Take a row out of lookups and set it free. */
void pl_store_unlink(const struct pl_table *table, struct pl_store *store, uint32_t number)
{
    struct pl_row *row = pl_store_row(store, table->row_bytes, number);
    if (table->engine == PL_SCANNED) {
        ranked_remove(store, number);
    } else {
        bucket_remove(table, store, number);
    }
    row->used = 0;
    row->next = store->free;
    store->free = number + 1;
    store->count--;
    if (table->engine == PL_MASKED) {
        struct pl_class *class = pl_store_class(store, table->key_words, row->class);
        class->rows--;
        if (row->rank == class->best)
            class_refresh(table, store, row->class);
    }
}

static uint64_t take_bytes(const uint64_t *words, uint32_t byte, uint32_t count)
{
    uint64_t value = 0;
    for (uint32_t i = byte; i < byte + count; i++)
        value = value << 8 | (words[i / 8] >> (56 - 8 * (i % 8)) & 0xff);
    return value;
}

/* Compare a field of two keys, most significant byte first. */
static int compare_field(const uint64_t *left, const uint64_t *right, const struct pl_key *field)
{
    uint32_t end = field->byte + (field->bits + 7U) / 8U;
    for (uint32_t i = field->byte; i < end; i++) {
        uint64_t a = take_bytes(left, i, 1), b = take_bytes(right, i, 1);
        if (a != b)
            return a < b ? -1 : 1;
    }
    return 0;
}

static bool row_matches(const struct pl_table *table, const struct pl_row *row,
                        const uint64_t *key)
{
    const uint64_t *second = row->words + table->key_words;
    for (uint32_t i = 0; i < table->key_count; i++) {
        const struct pl_key *field = &table->keys[i];
        if (field->match == PL_RANGE) {
            if (compare_field(key, row->words, field) < 0 || compare_field(key, second, field) > 0)
                return false;
            continue;
        }
        for (uint32_t b = field->byte; b < field->byte + (field->bits + 7U) / 8U; b++) {
            uint64_t mask = take_bytes(second, b, 1);
            if ((take_bytes(key, b, 1) & mask) != take_bytes(row->words, b, 1))
                return false;
        }
    }
    return true;
}

const struct pl_row *pl_lookup_scanned(const struct pl_store *store, const struct pl_table *table,
                                       const uint64_t *key)
{
    for (uint32_t i = 0; i < store->count; i++) {
        const struct pl_row *row = pl_store_row(store, table->row_bytes, store->ranked[i]);
        if (row_matches(table, row, key))
            return row;
    }
    return NULL;
}

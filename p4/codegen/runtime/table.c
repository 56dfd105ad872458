#include "table.h"
#include "bits.h"
#include "extern.h"
#include "memory.h"
#include "store.h"

/* The control plane's calls on tables. */

static const struct pl_table *table_of(const struct pl_switch *sw, uint32_t number)
{
    return number < sw->layout->table_count ? &sw->layout->tables[number] : NULL;
}

static struct pl_row *row_of(const struct pl_switch *sw, uint32_t number, int64_t handle)
{
    const struct pl_store *store = sw->stores[number];
    if (handle < 0 || handle >= store->capacity)
        return NULL;
    struct pl_row *row =
        pl_store_row(store, sw->layout->tables[number].row_bytes, (uint32_t)handle);
    return row->used ? row : NULL;
}

static void bytes_to_words(uint64_t *words, const uint8_t *bytes, uint32_t count)
{
    memset(words, 0, (count + 7) / 8 * 8);
    for (uint32_t i = 0; i < count; i++)
        words[i / 8] |= (uint64_t)bytes[i] << (56 - 8 * (i % 8));
}

static void words_to_bytes(uint8_t *bytes, const uint64_t *words, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        bytes[i] = (uint8_t)(words[i / 8] >> (56 - 8 * (i % 8)));
}

static bool fits(const uint8_t *bytes, uint32_t bits)
{
    return bits % 8 == 0 || bytes[0] >> (bits % 8) == 0;
}

int64_t pl_read_arguments(const struct pl_layout *layout, uint32_t action,
                          const uint8_t *parameters, uint64_t *words)
{
    const struct pl_action *info = &layout->actions[action];
    for (uint32_t i = 0; i < info->count; i++) {
        const struct pl_parameter *parameter = &info->parameters[i];
        uint32_t bytes = (parameter->bits + 7U) / 8U;
        if (!fits(parameters, parameter->bits))
            return PL_BAD_VALUE;
        if (parameter->bits <= 64) {
            words[parameter->word] = pl_load(parameters, bytes);
        } else {
            memcpy(&words[parameter->word], parameters, bytes);
        }
        parameters += bytes;
    }
    return PL_OK;
}

void pl_write_arguments(const struct pl_layout *layout, uint32_t action, const uint64_t *words,
                        uint8_t *parameters)
{
    const struct pl_action *info = &layout->actions[action];
    for (uint32_t i = 0; i < info->count; i++) {
        const struct pl_parameter *parameter = &info->parameters[i];
        uint32_t bytes = (parameter->bits + 7U) / 8U;
        if (parameter->bits <= 64) {
            pl_store(parameters, bytes, words[parameter->word]);
        } else {
            memcpy(parameters, &words[parameter->word], bytes);
        }
        parameters += bytes;
    }
}

static bool prefix_length(const uint8_t *mask, uint32_t bits, uint32_t *length)
{
    uint32_t bytes = (bits + 7) / 8, skip = 8 * bytes - bits;
    bool ended = false;
    *length = 0;
    for (uint32_t i = skip; i < 8 * bytes; i++) {
        bool one = mask[i / 8] >> (7 - i % 8) & 1;
        if (one && ended)
            return false;
        ended = ended || !one;
        *length += one;
    }
    return true;
}

/* Check an entry's fields; write the masked key, the mask (or upper ends) and the rank. */
static int64_t read_key(const struct pl_table *table, const struct pl_entry *entry, uint8_t *value,
                        uint8_t *second, uint32_t *rank)
{
    *rank = table->by_prefix || table->engine == PL_HASHED ? 0 : entry->priority;
    for (uint32_t i = 0; i < table->key_count; i++) {
        const struct pl_key *field = &table->keys[i];
        uint32_t at = field->byte, bytes = (field->bits + 7U) / 8U, length;
        memcpy(value + at, entry->value + at, bytes);
        memset(second + at, 0xff, bytes);
        if (field->bits % 8)
            second[at] = (uint8_t)((1U << (field->bits % 8)) - 1);
        if (entry->second && field->match != PL_EXACT)
            memcpy(second + at, entry->second + at, bytes);
        if (!fits(value + at, field->bits) || !fits(second + at, field->bits))
            return PL_BAD_VALUE;
        if (field->match == PL_RANGE) {
            if (memcmp(value + at, second + at, bytes) > 0)
                return PL_BAD_VALUE;
            continue;
        }
        if (field->match == PL_LPM) {
            if (!prefix_length(second + at, field->bits, &length))
                return PL_BAD_VALUE;
            if (table->by_prefix)
                *rank = field->bits - length;
        }
        for (uint32_t b = at; b < at + bytes; b++)
            value[b] &= second[b];
    }
    return PL_OK;
}

static bool takes_action(const struct pl_table *table, uint32_t action)
{
    for (uint32_t i = 0; i < table->action_count; i++) {
        if (table->actions[i] == action)
            return true;
    }
    return false;
}

/* Check an action (or member, or group) for a table and read its arguments. */
static int64_t read_action(const struct pl_switch *sw, const struct pl_table *table,
                           uint32_t action, const uint8_t *parameters, uint64_t *words)
{
    memset(words, 0, 8U * table->argument_words);
    if (table->profile != PL_NONE) {
        if (!pl_profile_has(sw, (uint32_t)table->profile, action))
            return PL_NO_SUCH;
        return pl_profile_empty(sw, (uint32_t)table->profile, action) ? PL_EMPTY : PL_OK;
    }
    if (!takes_action(table, action))
        return PL_NO_SUCH;
    return pl_read_arguments(sw->layout, action, parameters, words);
}

static bool same_entry(const struct pl_table *table, const struct pl_row *row,
                       const uint64_t *words, uint32_t class, uint32_t rank)
{
    return row->used && row->class == class && row->rank == rank &&
           pl_same_key(row->words, words, table->value_words);
}

static bool has_entry(const struct pl_table *table, const struct pl_store *store,
                      const uint64_t *words, uint32_t class, uint32_t rank)
{
    if (!store->buckets)
        return false;
    if (table->engine == PL_SCANNED) {
        for (uint32_t i = 0; i < store->count; i++) {
            const struct pl_row *row = pl_store_row(store, table->row_bytes, store->ranked[i]);
            if (same_entry(table, row, words, class, rank))
                return true;
        }
        return false;
    }
    uint64_t seed = 0;
    if (table->engine == PL_MASKED)
        seed = pl_store_class(store, table->key_words, class)->seed;
    uint32_t next =
        store->buckets[pl_hash_key(seed, words, table->key_words) & store->bucket_mask];
    for (; next; next = pl_store_row(store, table->row_bytes, next - 1)->next) {
        const struct pl_row *row = pl_store_row(store, table->row_bytes, next - 1);
        if (same_entry(table, row, words, class, rank))
            return true;
    }
    return false;
}

static int64_t add_row(struct pl_switch *sw, uint32_t number, const struct pl_entry *entry)
{
    const struct pl_table *table = &sw->layout->tables[number];
    uint8_t value[table->key_bytes + 1], second[table->key_bytes + 1];
    uint64_t words[2 * table->key_words + 1], arguments[table->argument_words + 1];
    uint32_t rank;
    int64_t class = 0;
    int64_t result = read_key(table, entry, value, second, &rank);
    if (result == PL_OK)
        result = read_action(sw, table, entry->action, entry->parameters, arguments);
    if (result != PL_OK)
        return result;
    bytes_to_words(words, value, table->key_bytes);
    bytes_to_words(words + table->key_words, second, table->key_bytes);
    struct pl_store *store = pl_store_own(table, &sw->stores[number]);
    if (!store)
        return PL_NO_MEMORY;
    if (table->engine == PL_MASKED)
        class = pl_store_class_of(table, store, words + table->key_words);
    if (class < 0)
        return class;
    if (has_entry(table, store, words, (uint32_t)class, rank))
        return PL_DUPLICATE;
    if (store->count >= table->size)
        return PL_FULL;
    int64_t handle = pl_store_take(table, store);
    if (handle < 0)
        return handle;
    struct pl_row *row = pl_store_row(store, table->row_bytes, (uint32_t)handle);
    row->class = (uint32_t)class;
    row->rank = rank;
    row->action = entry->action;
    memcpy(row->words, words, 8U * table->value_words);
    memcpy(row->words + table->value_words, arguments, 8U * table->argument_words);
    pl_store_link(table, store, (uint32_t)handle);
    result = pl_direct_reset(sw, number, (uint32_t)handle, store->capacity);
    if (result != PL_OK)
        pl_store_unlink(table, store, (uint32_t)handle);
    return result == PL_OK ? handle : result;
}

int64_t pl_table_add(struct pl_switch *sw, uint32_t number, const struct pl_entry *entry)
{
    const struct pl_table *table = table_of(sw, number);
    if (!table || table->engine == PL_NO_KEY)
        return PL_NO_SUCH;
    return table->entries_constant ? PL_READ_ONLY : add_row(sw, number, entry);
}

int64_t pl_table_add_many(struct pl_switch *sw, uint32_t number, const struct pl_entry *entries,
                          uint32_t count, int64_t *handles)
{
    for (uint32_t i = 0; i < count; i++) {
        handles[i] = pl_table_add(sw, number, &entries[i]);
        if (handles[i] < 0)
            return i;
    }
    return count;
}

int64_t pl_table_modify(struct pl_switch *sw, uint32_t number, int64_t handle, uint32_t action,
                        const uint8_t *parameters)
{
    const struct pl_table *table = table_of(sw, number);
    if (!table || !row_of(sw, number, handle))
        return PL_NO_SUCH;
    if (table->entries_constant)
        return PL_READ_ONLY;
    uint64_t arguments[table->argument_words + 1];
    int64_t result = read_action(sw, table, action, parameters, arguments);
    if (result != PL_OK)
        return result;
    if (!pl_store_own(table, &sw->stores[number]))
        return PL_NO_MEMORY;
    struct pl_row *row = row_of(sw, number, handle);
    row->action = action;
    memcpy(row->words + table->value_words, arguments, 8U * table->argument_words);
    return PL_OK;
}

int64_t pl_table_delete(struct pl_switch *sw, uint32_t number, int64_t handle)
{
    const struct pl_table *table = table_of(sw, number);
    if (!table || !row_of(sw, number, handle))
        return PL_NO_SUCH;
    if (table->entries_constant)
        return PL_READ_ONLY;
    struct pl_store *store = pl_store_own(table, &sw->stores[number]);
    if (!store)
        return PL_NO_MEMORY;
    pl_store_unlink(table, store, (uint32_t)handle);
    return PL_OK;
}

/* Read the default action that the program declares for a table. */
static int64_t read_own_default(const struct pl_switch *sw, const struct pl_table *table,
                                uint64_t *words)
{
    memset(words, 0, 8U * table->argument_words);
    if (table->default_action == PL_NONE)
        return PL_OK;
    return pl_read_arguments(sw->layout, (uint32_t)table->default_action,
                             table->default_parameters, words);
}

int64_t pl_table_default(struct pl_switch *sw, uint32_t number, uint32_t action,
                         const uint8_t *parameters)
{
    const struct pl_table *table = table_of(sw, number);
    if (!table)
        return PL_NO_SUCH;
    if (table->default_constant && action != PL_OWN)
        return PL_READ_ONLY;
    uint64_t arguments[table->argument_words + 1];
    int64_t result = action == PL_OWN ? read_own_default(sw, table, arguments)
                                      : read_action(sw, table, action, parameters, arguments);
    if (result != PL_OK)
        return result;
    struct pl_store *store = pl_store_own(table, &sw->stores[number]);
    if (!store)
        return PL_NO_MEMORY;
    store->default_action = action == PL_OWN ? table->default_action : (int32_t)action;
    memcpy(store->default_arguments, arguments, 8U * table->argument_words);
    return PL_OK;
}

int64_t pl_table_count(struct pl_switch *sw, uint32_t number)
{
    return table_of(sw, number) ? (int64_t)sw->stores[number]->count : PL_NO_SUCH;
}

int64_t pl_table_share(struct pl_switch *sw, uint32_t number, struct pl_switch *from)
{
    const struct pl_table *table = table_of(sw, number);
    if (!table || sw->layout != from->layout || table->profile != PL_NONE)
        return PL_NO_SUCH;
    struct pl_store *shared = from->stores[number];
    if (shared == sw->stores[number])
        return PL_OK;
    int64_t result = pl_direct_reset(sw, number, 0, shared->capacity);
    if (result != PL_OK)
        return result;
    __atomic_add_fetch(&shared->references, 1, __ATOMIC_ACQ_REL);
    pl_store_release(sw->stores[number]);
    sw->stores[number] = shared;
    return PL_OK;
}

int64_t pl_table_next(struct pl_switch *sw, uint32_t number, int64_t handle)
{
    if (!table_of(sw, number))
        return PL_NO_SUCH;
    for (int64_t next = handle + 1; next >= 0 && next < sw->stores[number]->capacity; next++) {
        if (row_of(sw, number, next))
            return next;
    }
    return PL_NO_SUCH;
}

/* Write a row's mask, or for range tables its upper ends. */
static void read_second(const struct pl_table *table, const struct pl_store *store,
                        const struct pl_row *row, uint8_t *second)
{
    memset(second, 0xff, table->key_bytes);
    if (table->engine == PL_MASKED) {
        const struct pl_class *class = pl_store_class(store, table->key_words, row->class);
        words_to_bytes(second, class->mask, table->key_bytes);
    } else if (table->engine == PL_SCANNED) {
        words_to_bytes(second, row->words + table->key_words, table->key_bytes);
    }
}

int64_t pl_table_read(struct pl_switch *sw, uint32_t number, int64_t handle, uint8_t *value,
                      uint8_t *second, uint8_t *parameters, uint32_t *priority)
{
    const struct pl_table *table = table_of(sw, number);
    if (!table)
        return PL_NO_SUCH;
    const struct pl_store *store = sw->stores[number];
    int64_t action = store->default_action;
    const uint64_t *arguments = store->default_arguments;
    *priority = 0;
    if (handle >= 0) {
        const struct pl_row *row = row_of(sw, number, handle);
        if (!row)
            return PL_NO_SUCH;
        words_to_bytes(value, row->words, table->key_bytes);
        read_second(table, store, row, second);
        *priority = row->rank;
        action = row->action;
        arguments = row->words + table->value_words;
    }
    if (action >= 0 && table->profile == PL_NONE)
        pl_write_arguments(sw->layout, (uint32_t)action, arguments, parameters);
    return action < 0 ? PL_NO_SUCH : action;
}

/*
 * Give a switch the entries and the default action that the program itself names, in place of what
 * the table had; without memory it has what was filled so far.
 */
int64_t pl_store_fill(struct pl_switch *sw, uint32_t number)
{
    const struct pl_table *table = &sw->layout->tables[number];
    struct pl_store *store = pl_store_new(table);
    if (!store)
        return PL_NO_MEMORY;
    pl_store_release(sw->stores[number]);
    sw->stores[number] = store;
    read_own_default(sw, table, store->default_arguments);
    for (uint32_t i = 0; i < table->entry_count; i++) {
        int64_t result = add_row(sw, number, &table->entries[i]);
        if (result < 0 && result != PL_DUPLICATE)
            return result;
    }
    return PL_OK;
}

#include "switch.h"
#include "extern.h"
#include "memory.h"
#include "random.h"
#include "table.h"
#include "traffic.h"

void pl_random_seed(struct pl_switch *sw, uint64_t seed)
{
    for (uint32_t i = 0; i < 4; i++) {
        seed += UINT64_C(0x9e3779b97f4a7c15);
        uint64_t mixed = (seed ^ seed >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
        mixed = (mixed ^ mixed >> 27) * UINT64_C(0x94d049bb133111eb);
        sw->random[i] = mixed ^ mixed >> 31;
    }
}

static bool make_arrays(struct pl_switch *sw)
{
    const struct pl_layout *layout = sw->layout;
    sw->counters = calloc(layout->counter_count + 1U, sizeof(*sw->counters));
    sw->meters = calloc(layout->meter_count + 1U, sizeof(*sw->meters));
    sw->profiles = calloc(layout->profile_count + 1U, sizeof(*sw->profiles));
    sw->value_sets = calloc(layout->value_set_count + 1U, sizeof(*sw->value_sets));
    sw->rounds = calloc(layout->calculation_count + 1U, sizeof(*sw->rounds));
    sw->hashes = calloc(layout->calculation_count + 1U, sizeof(*sw->hashes));
    return sw->counters && sw->meters && sw->profiles && sw->value_sets && sw->rounds &&
           sw->hashes;
}

static bool make_cells(struct pl_switch *sw)
{
    const struct pl_layout *layout = sw->layout;
    for (uint32_t i = 0; i < layout->counter_count; i++) {
        uint32_t size = layout->counters[i].size;
        sw->counters[i].cells = calloc(size + 1U, sizeof(*sw->counters[i].cells));
        sw->counters[i].size = size;
        if (!sw->counters[i].cells)
            return false;
    }
    for (uint32_t i = 0; i < layout->meter_count; i++) {
        uint32_t size = layout->meters[i].size;
        sw->meters[i].cells = calloc(size + 1U, sizeof(*sw->meters[i].cells));
        sw->meters[i].size = size;
        if (!sw->meters[i].cells)
            return false;
    }
    return true;
}

/* A switch and what every frame touches of it, side by side. */
static struct pl_switch *allocate(const struct pl_layout *layout)
{
    size_t stores = layout->table_count * sizeof(struct pl_store *);
    size_t residue = (layout->residue_bytes + (size_t)7) / 8 * 8;
    struct pl_switch *sw = calloc(1, sizeof(*sw) + stores + residue + layout->cell_bytes);
    if (!sw)
        return NULL;
    sw->stores = (struct pl_store **)(void *)(sw + 1);
    sw->residue = (uint8_t *)(sw + 1) + stores;
    sw->cells = sw->residue + residue;
    return sw;
}

struct pl_switch *pl_switch_new(const struct pl_layout *layout, const struct pl_world *world,
                                uint64_t seed)
{
    struct pl_switch *sw = allocate(layout);
    if (!sw)
        return NULL;
    sw->layout = layout;
    sw->world = *world;
    pl_random_seed(sw, seed);
    bool made = make_arrays(sw) && make_cells(sw);
    for (uint32_t i = 0; made && i < layout->table_count; i++)
        made = pl_store_fill(sw, i) == PL_OK;
    if (made)
        return sw;
    pl_switch_free(sw);
    return NULL;
}

static void clear_profiles(struct pl_switch *sw)
{
    for (uint32_t i = 0; sw->profiles && i < sw->layout->profile_count; i++) {
        struct pl_profile *profile = &sw->profiles[i];
        for (uint32_t m = 0; m < profile->member_count; m++)
            free(profile->members[m].arguments);
        for (uint32_t g = 0; g < profile->group_count; g++)
            free(profile->groups[g].members);
        free(profile->members);
        free(profile->groups);
        *profile = (struct pl_profile){0};
    }
}

/* Take away what the control plane gave value sets, hashes, multicast groups and sessions. */
static void clear_settings(struct pl_switch *sw)
{
    for (uint32_t i = 0; sw->value_sets && i < sw->layout->value_set_count; i++) {
        free(sw->value_sets[i].values);
        sw->value_sets[i] = (struct pl_value_set){0};
    }
    for (uint32_t i = 0; i < sw->layout->calculation_count; i++) {
        if (sw->hashes)
            free(sw->hashes[i].key);
        if (sw->rounds)
            free(sw->rounds[i].inputs);
        if (sw->hashes && sw->rounds) {
            sw->hashes[i] = (struct pl_hash_setting){0};
            sw->rounds[i] = (struct pl_rounds){0};
        }
    }
    for (uint32_t i = 0; i < sw->group_count; i++)
        free(sw->groups[i].replicas);
    sw->group_count = 0;
    sw->mirror_count = 0;
}

static void free_arrays(struct pl_switch *sw)
{
    for (uint32_t i = 0; sw->counters && i < sw->layout->counter_count; i++)
        free(sw->counters[i].cells);
    for (uint32_t i = 0; sw->meters && i < sw->layout->meter_count; i++)
        free(sw->meters[i].cells);
    free(sw->counters);
    free(sw->meters);
    free(sw->profiles);
    free(sw->value_sets);
    free(sw->rounds);
    free(sw->hashes);
    free(sw->groups);
    free(sw->mirrors);
}

int64_t pl_switch_reset(struct pl_switch *sw)
{
    const struct pl_layout *layout = sw->layout;
    for (uint32_t i = 0; i < layout->table_count; i++) {
        int64_t result = pl_store_fill(sw, i);
        if (result != PL_OK)
            return result;
    }
    clear_profiles(sw);
    clear_settings(sw);
    if (layout->cell_bytes)
        memset(sw->cells, 0, layout->cell_bytes);
    for (uint32_t i = 0; i < layout->counter_count; i++)
        memset(sw->counters[i].cells, 0, sw->counters[i].size * sizeof(*sw->counters[i].cells));
    for (uint32_t i = 0; i < layout->meter_count; i++)
        memset(sw->meters[i].cells, 0, sw->meters[i].size * sizeof(*sw->meters[i].cells));
    return PL_OK;
}

void pl_switch_free(struct pl_switch *sw)
{
    if (!sw)
        return;
    for (uint32_t i = 0; i < sw->layout->table_count; i++)
        pl_store_release(sw->stores[i]);
    clear_profiles(sw);
    clear_settings(sw);
    free_arrays(sw);
    pl_held_free_spare(sw);
    free(sw->joined);
    free(sw->scratch);
    free(sw->window);
    free(sw);
}

void pl_switch_faults(struct pl_switch *sw, struct pl_faults *faults)
{
    *faults = sw->faults;
}

const char *pl_error_text(int64_t code)
{
    switch (code) {
    case PL_OK:
        return "done";
    case PL_NO_SUCH:
        return "there is no such table, action, entry or index";
    case PL_DUPLICATE:
        return "an entry with this key exists";
    case PL_FULL:
        return "the declared size is reached";
    case PL_BAD_VALUE:
        return "a value does not fit its field";
    case PL_READ_ONLY:
        return "the program declares this constant";
    case PL_NO_MEMORY:
        return "out of memory";
    case PL_IN_USE:
        return "it is in use";
    case PL_EMPTY:
        return "the group has no members";
    default:
        return "unknown error";
    }
}

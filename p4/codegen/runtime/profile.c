#include "extern.h"
#include "memory.h"
#include "table.h"

/* Action profiles: members, and groups of members to choose from. */

bool pl_profile_has(const struct pl_switch *sw, uint32_t profile, uint32_t action)
{
    const struct pl_profile *state = &sw->profiles[profile];
    if (action & PL_GROUP) {
        uint32_t group = action & ~(uint32_t)PL_GROUP;
        return group < state->group_count && state->groups[group].used;
    }
    return action < state->member_count && state->members[action].used;
}

static uint32_t most_argument_words(const struct pl_layout *layout)
{
    uint32_t most = 0;
    for (uint32_t i = 0; i < layout->action_count; i++)
        most = layout->actions[i].words > most ? layout->actions[i].words : most;
    return most;
}

/* Find a free member, growing the array where all are taken. */
static int64_t member_new(struct pl_profile *state, uint32_t limit)
{
    for (uint32_t i = 0; i < state->member_count; i++) {
        if (!state->members[i].used)
            return i;
    }
    if (state->member_count >= limit)
        return PL_FULL;
    if (!pl_resize(&state->members, (state->member_count + 1U) * sizeof(*state->members)))
        return PL_NO_MEMORY;
    memset(&state->members[state->member_count], 0, sizeof(*state->members));
    return state->member_count++;
}

int64_t pl_member_set(struct pl_switch *sw, uint32_t profile, int64_t member, uint32_t action,
                      const uint8_t *parameters)
{
    if (profile >= sw->layout->profile_count || action >= sw->layout->action_count)
        return PL_NO_SUCH;
    struct pl_profile *state = &sw->profiles[profile];
    if (member >= 0 && !pl_profile_has(sw, profile, (uint32_t)member))
        return PL_NO_SUCH;
    uint64_t *words = calloc(most_argument_words(sw->layout) + 1U, sizeof(*words));
    if (!words)
        return PL_NO_MEMORY;
    int64_t result = pl_read_arguments(sw->layout, action, parameters, words);
    if (result == PL_OK && member < 0)
        result = member = member_new(state, sw->layout->profiles[profile].size);
    if (result < 0) {
        free(words);
        return result;
    }
    free(state->members[member].arguments);
    state->members[member] = (struct pl_member){1, action, words};
    return member;
}

static bool group_uses(const struct pl_selection *group, uint32_t member)
{
    for (uint32_t i = 0; i < group->count; i++) {
        if (group->members[i] == member)
            return group->used;
    }
    return false;
}

/* Whether a group's members are there to choose from: an entry may name it. */
bool pl_profile_empty(const struct pl_switch *sw, uint32_t profile, uint32_t action)
{
    return action & PL_GROUP &&
           sw->profiles[profile].groups[action & ~(uint32_t)PL_GROUP].count == 0;
}

static bool store_uses(const struct pl_table *table, const struct pl_store *store, uint32_t action)
{
    if (store->default_action == (int32_t)action)
        return true;
    for (uint32_t i = 0; i < store->capacity; i++) {
        const struct pl_row *row = pl_store_row(store, table->row_bytes, i);
        if (row->used && row->action == action)
            return true;
    }
    return false;
}

/* Whether an entry or a default action names a member, or a group (with PL_GROUP). */
static bool entries_use(const struct pl_switch *sw, uint32_t profile, uint32_t action)
{
    for (uint32_t i = 0; i < sw->layout->table_count; i++) {
        const struct pl_table *table = &sw->layout->tables[i];
        if (table->profile == (int32_t)profile && store_uses(table, sw->stores[i], action))
            return true;
    }
    return false;
}

int64_t pl_member_delete(struct pl_switch *sw, uint32_t profile, uint32_t member)
{
    if (profile >= sw->layout->profile_count || !pl_profile_has(sw, profile, member) ||
        member & PL_GROUP)
        return PL_NO_SUCH;
    struct pl_profile *state = &sw->profiles[profile];
    for (uint32_t i = 0; i < state->group_count; i++) {
        if (group_uses(&state->groups[i], member))
            return PL_IN_USE;
    }
    if (entries_use(sw, profile, member))
        return PL_IN_USE;
    free(state->members[member].arguments);
    state->members[member] = (struct pl_member){0, 0, NULL};
    return PL_OK;
}

static int64_t selection_new(struct pl_profile *state)
{
    for (uint32_t i = 0; i < state->group_count; i++) {
        if (!state->groups[i].used)
            return i;
    }
    if (!pl_resize(&state->groups, (state->group_count + 1U) * sizeof(*state->groups)))
        return PL_NO_MEMORY;
    memset(&state->groups[state->group_count], 0, sizeof(*state->groups));
    return state->group_count++;
}

int64_t pl_selection_set(struct pl_switch *sw, uint32_t profile, int64_t group,
                         const uint32_t *members, uint32_t count)
{
    if (profile >= sw->layout->profile_count || !sw->layout->profiles[profile].selects)
        return PL_NO_SUCH;
    struct pl_profile *state = &sw->profiles[profile];
    if (group >= 0 && (group >= state->group_count || !state->groups[group].used))
        return PL_NO_SUCH;
    for (uint32_t i = 0; i < count; i++) {
        if (members[i] & PL_GROUP || !pl_profile_has(sw, profile, members[i]))
            return PL_NO_SUCH;
    }
    uint32_t *copy = malloc((count + 1U) * sizeof(*copy));
    if (copy && group < 0)
        group = selection_new(state);
    if (!copy || group < 0) {
        free(copy);
        return PL_NO_MEMORY;
    }
    memcpy(copy, members, count * sizeof(*copy));
    free(state->groups[group].members);
    state->groups[group] = (struct pl_selection){1, count, copy};
    return group;
}

int64_t pl_selection_delete(struct pl_switch *sw, uint32_t profile, uint32_t group)
{
    if (profile >= sw->layout->profile_count ||
        group & PL_GROUP || !pl_profile_has(sw, profile, group | PL_GROUP))
        return PL_NO_SUCH;
    if (entries_use(sw, profile, group | PL_GROUP))
        return PL_IN_USE;
    struct pl_selection *selection = &sw->profiles[profile].groups[group];
    free(selection->members);
    *selection = (struct pl_selection){0, 0, NULL};
    return PL_OK;
}

int64_t pl_member_next(struct pl_switch *sw, uint32_t profile, int64_t member)
{
    if (profile >= sw->layout->profile_count)
        return PL_NO_SUCH;
    const struct pl_profile *state = &sw->profiles[profile];
    for (int64_t next = member + 1; next >= 0 && next < state->member_count; next++) {
        if (state->members[next].used)
            return next;
    }
    return PL_NO_SUCH;
}

int64_t pl_selection_next(struct pl_switch *sw, uint32_t profile, int64_t group)
{
    if (profile >= sw->layout->profile_count)
        return PL_NO_SUCH;
    const struct pl_profile *state = &sw->profiles[profile];
    for (int64_t next = group + 1; next >= 0 && next < state->group_count; next++) {
        if (state->groups[next].used)
            return next;
    }
    return PL_NO_SUCH;
}

int64_t pl_member_read(struct pl_switch *sw, uint32_t profile, uint32_t member,
                       uint8_t *parameters)
{
    if (profile >= sw->layout->profile_count || member & PL_GROUP ||
        !pl_profile_has(sw, profile, member))
        return PL_NO_SUCH;
    const struct pl_member *found = &sw->profiles[profile].members[member];
    pl_write_arguments(sw->layout, found->action, found->arguments, parameters);
    return found->action;
}

int64_t pl_selection_read(struct pl_switch *sw, uint32_t profile, uint32_t group,
                          uint32_t *members, uint32_t limit)
{
    if (profile >= sw->layout->profile_count || group & PL_GROUP ||
        !pl_profile_has(sw, profile, group | PL_GROUP))
        return PL_NO_SUCH;
    const struct pl_selection *found = &sw->profiles[profile].groups[group];
    for (uint32_t i = 0; i < found->count && i < limit; i++)
        members[i] = found->members[i];
    return found->count;
}

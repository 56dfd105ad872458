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

int64_t pl_member_delete(struct pl_switch *sw, uint32_t profile, uint32_t member)
{
    if (profile >= sw->layout->profile_count || !pl_profile_has(sw, profile, member) ||
        member & PL_GROUP)
        return PL_NO_SUCH;
    struct pl_profile *state = &sw->profiles[profile];
    for (uint32_t i = 0; i < state->group_count; i++) {
        if (group_uses(&state->groups[i], member))
            return PL_READ_ONLY;
    }
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
    if (group < 0)
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
        !pl_profile_has(sw, profile, group | PL_GROUP))
        return PL_NO_SUCH;
    struct pl_selection *selection = &sw->profiles[profile].groups[group];
    free(selection->members);
    *selection = (struct pl_selection){0, 0, NULL};
    return PL_OK;
}

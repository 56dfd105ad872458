#include "extern.h"
#include "memory.h"

/* Multicast groups, mirroring sessions and parser value sets. */

const struct pl_group *pl_group_find(const struct pl_switch *sw, uint32_t group)
{
    for (uint32_t i = 0; i < sw->group_count; i++) {
        if (sw->groups[i].number == group)
            return &sw->groups[i];
    }
    return NULL;
}

int64_t pl_group_delete(struct pl_switch *sw, uint32_t group)
{
    const struct pl_group *found = pl_group_find(sw, group);
    if (!found)
        return PL_NO_SUCH;
    uint32_t place = (uint32_t)(found - sw->groups);
    free(sw->groups[place].replicas);
    sw->groups[place] = sw->groups[--sw->group_count];
    return PL_OK;
}

int64_t pl_group_set(struct pl_switch *sw, uint32_t group, const uint32_t *ports,
                     const uint32_t *instances, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (ports[i] >= PL_PORT_LIMIT || instances[i] > UINT16_MAX)
            return PL_BAD_VALUE;
    }
    struct pl_replica *replicas = malloc((count + 1U) * sizeof(*replicas));
    if (!replicas)
        return PL_NO_MEMORY;
    for (uint32_t i = 0; i < count; i++)
        replicas[i] = (struct pl_replica){(uint16_t)ports[i], (uint16_t)instances[i]};
    const struct pl_group *found = pl_group_find(sw, group);
    uint32_t place = found ? (uint32_t)(found - sw->groups) : sw->group_count;
    if (!found && !pl_resize(&sw->groups, (sw->group_count + 1U) * sizeof(*sw->groups))) {
        free(replicas);
        return PL_NO_MEMORY;
    }
    if (found) {
        free(sw->groups[place].replicas);
    } else {
        sw->group_count++;
    }
    sw->groups[place] = (struct pl_group){group, count, replicas};
    return PL_OK;
}

const struct pl_mirror *pl_mirror_find(const struct pl_switch *sw, uint32_t session)
{
    for (uint32_t i = 0; i < sw->mirror_count; i++) {
        if (sw->mirrors[i].session == session)
            return &sw->mirrors[i];
    }
    return NULL;
}

int64_t pl_mirror_set(struct pl_switch *sw, uint32_t session, int32_t port, int32_t group)
{
    if (session >= PL_MIRRORS || port >= PL_PORT_LIMIT)
        return PL_BAD_VALUE;
    const struct pl_mirror *found = pl_mirror_find(sw, session);
    uint32_t place = found ? (uint32_t)(found - sw->mirrors) : sw->mirror_count;
    if (!found) {
        if (!pl_resize(&sw->mirrors, (sw->mirror_count + 1U) * sizeof(*sw->mirrors)))
            return PL_NO_MEMORY;
        sw->mirror_count++;
    }
    sw->mirrors[place] = (struct pl_mirror){session, port, group};
    return PL_OK;
}

int64_t pl_mirror_delete(struct pl_switch *sw, uint32_t session)
{
    const struct pl_mirror *found = pl_mirror_find(sw, session);
    if (!found)
        return PL_NO_SUCH;
    sw->mirrors[found - sw->mirrors] = sw->mirrors[--sw->mirror_count];
    return PL_OK;
}

int64_t pl_value_set_fill(struct pl_switch *sw, uint32_t set, const uint8_t *values,
                          uint32_t count)
{
    if (set >= sw->layout->value_set_count)
        return PL_NO_SUCH;
    const struct pl_value_set_info *info = &sw->layout->value_sets[set];
    if (count > info->size)
        return PL_FULL;
    uint8_t *copy = pl_copy(values, (size_t)count * ((info->bits + 7) / 8));
    if (!copy && count)
        return PL_NO_MEMORY;
    free(sw->value_sets[set].values);
    sw->value_sets[set] = (struct pl_value_set){copy, count};
    return PL_OK;
}

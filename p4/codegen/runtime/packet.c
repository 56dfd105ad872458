#include "packet.h"
#include "memory.h"
#include <stdio.h>

/* Everything a frame needs that is not worth inlining. */

/* Store the whole frame, with zeros for what was not kept; false if `end` lies beyond it. */
bool pl_extend(struct pl_packet *packet, uint64_t end)
{
    struct pl_switch *sw = packet->sw;
    if (end > packet->length)
        return false;
    if (packet->length > sw->window_bytes) {
        if (!pl_resize(&sw->window, packet->length))
            return false;
        sw->window_bytes = packet->length;
    }
    memcpy(sw->window, packet->data, packet->stored);
    memset(sw->window + packet->stored, 0, packet->length - packet->stored);
    packet->data = sw->window;
    packet->stored = packet->length;
    return true;
}

struct pl_found pl_found_member(const struct pl_packet *packet, uint32_t profile,
                                struct pl_found found, uint64_t hash)
{
    const struct pl_profile *state = &packet->sw->profiles[profile];
    if (found.action < 0)
        return found;
    uint32_t member = (uint32_t)found.action;
    if (member & PL_GROUP) {
        uint32_t group = member & ~(uint32_t)PL_GROUP;
        if (group >= state->group_count || state->groups[group].count == 0)
            return (struct pl_found){PL_NONE, NULL, found.row};
        member = state->groups[group].members[hash % state->groups[group].count];
    }
    if (member >= state->member_count || !state->members[member].used)
        return (struct pl_found){PL_NONE, NULL, found.row};
    const struct pl_member *chosen = &state->members[member];
    return (struct pl_found){(int32_t)chosen->action, chosen->arguments, found.row};
}

bool pl_value_set_has(const struct pl_packet *packet, uint32_t set, const uint8_t *value)
{
    const struct pl_value_set *state = &packet->sw->value_sets[set];
    uint32_t bytes = (packet->sw->layout->value_sets[set].bits + 7) / 8;
    for (uint32_t i = 0; i < state->count; i++) {
        if (memcmp(state->values + (size_t)i * bytes, value, bytes) == 0)
            return true;
    }
    return false;
}

uint64_t pl_round_robin(struct pl_switch *sw, uint32_t calculation)
{
    return sw->rounds[calculation].next++;
}

uint64_t pl_round_robin_consistent(struct pl_switch *sw, uint32_t calculation,
                                   const uint8_t *bytes, uint32_t count)
{
    struct pl_rounds *rounds = &sw->rounds[calculation];
    uint64_t hash = pl_hash_xxh64(bytes, count);
    for (uint64_t i = 0; i < rounds->next; i++) {
        if (rounds->inputs[i] == hash)
            return i;
    }
    if (!pl_resize(&rounds->inputs, (rounds->next + 1) * sizeof(*rounds->inputs)))
        return 0;
    rounds->inputs[rounds->next] = hash;
    return rounds->next++;
}

const uint8_t *pl_with_payload(struct pl_packet *packet, const uint8_t *input, uint32_t *size)
{
    struct pl_switch *sw = packet->sw;
    uint32_t payload = packet->stored - packet->parsed;
    uint32_t total = *size + packet->length - packet->parsed;
    if (total > sw->joined_bytes) {
        if (!pl_resize(&sw->joined, total))
            return input;
        sw->joined_bytes = total;
    }
    memcpy(sw->joined, input, *size);
    memcpy(sw->joined + *size, packet->data + packet->parsed, payload);
    memset(sw->joined + *size + payload, 0, total - *size - payload);
    *size = total;
    return sw->joined;
}

/* Tell the world a line in which each {} is replaced by the next value. */
void pl_log(struct pl_packet *packet, const char *format, const uint64_t *values, uint32_t count)
{
    char line[512];
    size_t used = 0;
    uint32_t next = 0;
    if (!packet->sw->world.log)
        return;
    while (*format && used + 24 < sizeof(line)) {
        if (format[0] == '{' && format[1] == '}' && next < count) {
            used += (size_t)snprintf(line + used, sizeof(line) - used, "%llu",
                                     (unsigned long long)values[next++]);
            format += 2;
        } else {
            line[used++] = *format++;
        }
    }
    line[used] = '\0';
    packet->sw->world.log(packet->sw->world.context, line);
}

#ifndef EXTERN_H
#define EXTERN_H
#include "state.h"

/* Registers, counters, meters, action profiles, value sets and groups: control plane and data. */

int64_t pl_register_read(struct pl_switch *sw, uint32_t array, uint32_t first, uint32_t count,
                         uint8_t *values);
int64_t pl_register_write(struct pl_switch *sw, uint32_t array, uint32_t first, uint32_t count,
                          const uint8_t *values);

int64_t pl_counter_read(struct pl_switch *sw, uint32_t array, uint32_t index, uint64_t *packets,
                        uint64_t *bytes);
int64_t pl_counter_write(struct pl_switch *sw, uint32_t array, uint32_t index, uint64_t packets,
                         uint64_t bytes);
int64_t pl_meter_set(struct pl_switch *sw, uint32_t array, uint32_t index, const double *rates,
                     const double *bursts);
int64_t pl_meter_get(struct pl_switch *sw, uint32_t array, uint32_t index, double *rates,
                     double *bursts);

/* Make room for a table's direct counters and meters, and clear those of row `row`. */
int64_t pl_direct_reset(struct pl_switch *sw, uint32_t table, uint32_t row, uint32_t capacity);

/* Count `amount` bytes or packets at `now`: 0 green, 1 yellow, 2 red. */
uint32_t pl_meter_execute(struct pl_meter *meter, uint64_t now, double amount);

bool pl_profile_has(const struct pl_switch *sw, uint32_t profile, uint32_t action);
bool pl_profile_empty(const struct pl_switch *sw, uint32_t profile, uint32_t action);
int64_t pl_member_set(struct pl_switch *sw, uint32_t profile, int64_t member, uint32_t action,
                      const uint8_t *parameters);
int64_t pl_member_delete(struct pl_switch *sw, uint32_t profile, uint32_t member);
int64_t pl_selection_set(struct pl_switch *sw, uint32_t profile, int64_t group,
                         const uint32_t *members, uint32_t count);
int64_t pl_selection_delete(struct pl_switch *sw, uint32_t profile, uint32_t group);
int64_t pl_member_next(struct pl_switch *sw, uint32_t profile, int64_t member);
int64_t pl_selection_next(struct pl_switch *sw, uint32_t profile, int64_t group);
int64_t pl_member_read(struct pl_switch *sw, uint32_t profile, uint32_t member,
                       uint8_t *parameters);
int64_t pl_selection_read(struct pl_switch *sw, uint32_t profile, uint32_t group,
                          uint32_t *members, uint32_t limit);

int64_t pl_value_set_fill(struct pl_switch *sw, uint32_t set, const uint8_t *values,
                          uint32_t count);

int64_t pl_group_set(struct pl_switch *sw, uint32_t group, const uint32_t *ports,
                     const uint32_t *instances, uint32_t count);
int64_t pl_group_delete(struct pl_switch *sw, uint32_t group);
const struct pl_group *pl_group_find(const struct pl_switch *sw, uint32_t group);
int64_t pl_mirror_set(struct pl_switch *sw, uint32_t session, int32_t port, int32_t group);
int64_t pl_mirror_delete(struct pl_switch *sw, uint32_t session);
const struct pl_mirror *pl_mirror_find(const struct pl_switch *sw, uint32_t session);

#endif

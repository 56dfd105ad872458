#ifndef SWITCH_H
#define SWITCH_H
#include "state.h"

/* Making and ending switches. */

struct pl_switch *pl_switch_new(const struct pl_layout *layout, const struct pl_world *world,
                                uint64_t seed);
void pl_switch_free(struct pl_switch *sw);
void pl_switch_faults(struct pl_switch *sw, struct pl_faults *faults);
int64_t pl_switch_reset(struct pl_switch *sw);
const char *pl_error_text(int64_t code);

#endif

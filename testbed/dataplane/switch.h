#ifndef SWITCH_H
#define SWITCH_H
#include "core.h"

/* A switch: frames go through its compiled P4 program into its ports. */

int switch_open(struct dp *dp, struct sw *sw, const struct pl_program *program, uint32_t node,
                uint64_t seed);
void switch_close(struct sw *sw);

/* Give the program a frame that has arrived. */
void switch_receive(struct worker *worker, struct sw *sw, uint32_t port, uint32_t number,
                    uint64_t now);

/* When the service of a held frame starts next, TIME_NEVER if none waits; and start it. */
uint64_t switch_next_service(const struct sw *sw);
void switch_serve(struct worker *worker, struct sw *sw, uint64_t now);

#endif

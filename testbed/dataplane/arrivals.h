#ifndef ARRIVALS_H
#define ARRIVALS_H
#include "core.h"

/* What hosts receive over time: bytes of all hosts together in bins of DP_ARRIVAL_PS. */
void arrivals_note(struct worker *worker, const struct port *port, const struct packet *packet,
                   uint64_t now);

#endif

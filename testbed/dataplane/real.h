#ifndef REAL_H
#define REAL_H
#include "core.h"

/* The real clock's share of ports and hosts; only called where dp->real is set. */

/* A frame was queued: it is due on the wire at its departure plus the link's delay. */
void real_notice(struct dp *dp, struct port *port);

/* A host's data frame begins to leave. */
void real_note_pace(struct dp *dp, struct host *host, uint32_t bytes, uint64_t time);

void real_read_port(const struct dp *dp, const struct port *port, struct dp_port_record *record);
void real_read_totals(const struct dp *dp, struct dp_totals *totals);
void real_close(struct dp *dp);

#endif

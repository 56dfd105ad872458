#ifndef RECORDS_H
#define RECORDS_H
#include "core.h"

/* Flows that have finished, over all workers. */
uint64_t records_finished(const struct dp *dp);

/* Whether a worker could not keep what it should; then there is a message. */
bool records_failed(struct dp *dp);

/*
 * Nothing comes to a host any more: DP_STUCK and a message that names what waits, `why` behind it;
 * DP_DONE without flows.
 */
int records_stuck(struct dp *dp, const char *why);

/* Whether a host waits for a time: computing, or until packets are overdue. */
bool records_host_waits(const struct dp *dp);

/* Frames are on their way, but none has come to a host for so long that none will. */
bool records_circling(const struct dp *dp);

/* Freeze the queues' areas once all hosts have sent all; false: not enough memory. */
bool records_note_sending(struct dp *dp);

#endif

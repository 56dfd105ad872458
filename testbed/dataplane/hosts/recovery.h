#ifndef RECOVERY_H
#define RECOVERY_H
#include "frame.h"
#include "transport.h"

/*
 * Loss recovery: what a receiver takes and answers, and when a sender takes a packet for lost. What
 * is lost is sent again before new data. One way a file, with its struct recovery, and its entry in
 * testbed/hosts.py.
 */

enum answer { ANSWER_ACK, ANSWER_NACK, ANSWER_NOTHING };

struct recovery {
    const char *name;

    /* Whether hosts keep books of packets in flight for it. */
    bool active;

    /* Make and free dp->recovery_state, once the flows are known; NULL if there is none. */
    int (*open)(struct dp *dp);
    void (*close)(struct dp *dp);

    /*
     * A data frame has come: what to answer, and whether it is wanted (it counts if it is the first
     * of its number). NULL: it is, and is acknowledged.
     */
    enum answer (*received)(struct dp *dp, uint32_t flow, uint32_t psn, bool *wanted);
    /* A data frame has come as its header only: what to answer. NULL where ports never trim. */
    enum answer (*cut)(struct dp *dp, uint32_t flow, uint32_t psn);
    /* Then: the first packet in order that has not come. NULL: over the whole flow. */
    uint32_t (*cumulative)(const struct dp *dp, uint32_t flow, uint32_t psn);

    /* An ACK or a NACK has come to the sender; `news` is what it brought. */
    void (*acknowledged)(struct dp *dp, struct host *host, const struct frame_view *ack,
                         struct news *news, uint64_t now);
    void (*nacked)(struct dp *dp, struct host *host, const struct frame_view *nack, uint64_t now);

    /* An alarm of the flow has come: take for lost what is overdue. */
    void (*alarm)(struct worker *worker, struct host *host, uint32_t flow, uint64_t now);
};

const struct recovery *recovery_at(uint32_t number);

/* What several ways share: all that an ACK says of packets, and the timer of the oldest one. */
void recovery_settle(struct dp *dp, uint32_t flow, const struct frame_view *ack, struct news *news,
                     uint64_t now);
uint64_t recovery_timeout(const struct dp *dp, const struct transport *transport);
/* Give up if NACKs only have come for as long as it takes to give up for timeouts. */
void recovery_check_patience(struct dp *dp, uint32_t flow, uint64_t now);
void recovery_check_timer(struct worker *worker, struct host *host, uint32_t flow, uint64_t now);

#endif

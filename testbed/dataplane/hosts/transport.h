#ifndef TRANSPORT_H
#define TRANSPORT_H
#include "congestion.h"
#include "core.h"
#include "seen.h"

/*
 * A flow at its sender, where hosts have congestion control or recovery: which packets are in
 * flight since when, which are to be sent again, and what an acknowledgement says of them. What a
 * duplicate, a retransmission or a lost ACK does to the counts is decided here and nowhere else:
 * each packet counts once, when the first news of its arrival comes.
 */

enum record_state { RECORD_IDLE, RECORD_FLYING, RECORD_LOST };

struct record {
    uint64_t sent_at;
    uint32_t bytes;      /* of the frame */
    uint16_t entropy;    /* of its last transmission */
    uint8_t state;       /* enum record_state */
    bool again;          /* was sent more than once: its round trip is nobody's */
};

struct transport {
    struct record *records;  /* ring by PSN, from the first that is not acknowledged on */
    uint32_t room;           /* a power of two; 0: none yet */
    uint32_t lost;           /* packets to be sent again */
    uint32_t lowest_lost;    /* none is below */
    uint32_t routes;         /* shortest paths between the two hosts */
    uint64_t in_flight;      /* bytes */
    uint64_t alarm;          /* the alarm that it means, TIME_NEVER: none */
    uint64_t not_before;     /* its pace allows no frame before */
    uint64_t srtt;
    uint64_t mdev;
    uint32_t duplicates;     /* ACKs in a row without progress in order */
    uint32_t recover;        /* a recovery ends when all below it is acknowledged */
    bool recovering;
    bool queued;             /* in the host's ring of flows that may send */
    bool given_up;
    bool beyond_window;      /* what is lost is sent again whatever the window says */
    uint32_t fruitless;      /* timeouts since the last news */
    uint64_t news_at;        /* when a packet was acknowledged last, or the first one sent */
    uint64_t timed_out_at;   /* the last one */
    uint32_t losses;         /* packets taken for lost */
    uint32_t retransmitted;
    uint32_t timeouts;       /* times that they began: one for all that are overdue together */
    struct cca cca;
};

static inline struct transport *transport_of(const struct dp *dp, uint32_t flow)
{
    return (struct transport *)(void *)(dp->transports + (size_t)flow * dp->transport_bytes);
}

static inline struct record *record_of(const struct transport *transport, uint32_t psn)
{
    return &transport->records[psn & (transport->room - 1)];
}

/* Make and free the state of all flows; nothing if hosts have neither. */
int transports_open(struct dp *dp);
void transports_close(struct dp *dp);

/* The next packet to send: the lowest lost one, else a new one; false if there is none. */
bool transport_next(const struct dp *dp, uint32_t flow, uint32_t *psn);

/* Whether its window lets a flow send so many bytes more: one frame always. */
bool transport_may_send(const struct dp *dp, uint32_t flow, uint32_t bytes);

/* A packet leaves. */
void transport_sent(struct dp *dp, struct host *host, uint32_t flow, uint32_t psn, uint32_t bytes,
                    uint16_t entropy, uint64_t now);

/* What an acknowledgement brought: bytes for the first time, and those in order. */
struct news {
    uint64_t bytes;
    uint64_t in_order_bytes;
    uint64_t rtt;          /* 0: it tells none */
};

/* Take in that a packet, or all up to one, or those of a bitmap have arrived. */
void transport_settle(struct dp *dp, uint32_t flow, uint32_t psn, struct news *news, uint64_t now);
void transport_settle_to(struct dp *dp, uint32_t flow, uint32_t cumulative, struct news *news,
                         uint64_t now);
void transport_settle_bitmap(struct dp *dp, uint32_t flow, uint32_t first, uint64_t bitmap,
                             struct news *news, uint64_t now);

/* Take a packet for lost: it is to be sent again. Its bytes, 0 if it was not in flight. */
uint64_t transport_lose(struct dp *dp, uint32_t flow, uint32_t psn);

/* Tell congestion control. */
void transport_signal(struct dp *dp, uint32_t flow, uint32_t kind, const struct news *news,
                      bool marked, uint64_t now);

/* Keep an alarm for the time when the oldest packet in flight is overdue. */
void transport_set_alarm(struct dp *dp, struct host *host, uint32_t flow, uint64_t time);

/* No more packets of this flow: give its memory back. */
void transport_end(struct dp *dp, uint32_t flow);

/* The PSN near `reference` that a frame's 24 bits stand for. */
static inline uint32_t psn_near(uint32_t reference, uint32_t bits)
{
    return reference + (uint32_t)((int32_t)((bits - reference) << 8) >> 8);
}

#endif

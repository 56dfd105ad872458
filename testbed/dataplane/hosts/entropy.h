#ifndef ENTROPY_H
#define ENTROPY_H
#include "core.h"
#include "frame.h"

/*
 * How hosts choose the entropy of their frames (the UDP source port): the hosts' half of a scheme.
 * A new way is one file with one struct entropy, and its entry in testbed/hosts.py.
 */
struct entropy {
    const char *name;

    /* Make and free dp->entropy_state, once the flows are known; NULL if there is none. */
    int (*open)(struct dp *dp);
    void (*close)(struct dp *dp);

    /* Entropy of a flow's packet `psn`, which leaves now. */
    uint16_t (*data)(struct dp *dp, struct host *host, uint32_t flow, uint32_t psn, uint64_t now);
    /* Entropy of the ACK to a data frame; NULL: that of the data frame. */
    uint16_t (*ack)(struct dp *dp, struct host *host, uint32_t flow);
    /* An ACK has come back, or a NACK to a packet that was cut; NULL: nothing to learn. */
    void (*acknowledged)(struct dp *dp, struct host *host, const struct frame_view *ack,
                         uint64_t now);
    /* A packet that had this entropy was not acknowledged in time; NULL: nothing to learn. */
    void (*timed_out)(struct dp *dp, struct host *host, uint32_t flow, uint16_t value,
                      uint64_t now);
};

const struct entropy *entropy_at(uint32_t number);

/* One step of a well-mixed sequence (splitmix64): the next of 64 random bits. */
static inline uint64_t random_next(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
}

/* A number in 0..limit-1, evenly up to one part in 2^32. */
static inline uint32_t random_below(uint64_t *state, uint32_t limit)
{
    return (uint32_t)((random_next(state) >> 32) * limit >> 32);
}

#endif

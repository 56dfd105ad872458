#ifndef CONGESTION_H
#define CONGESTION_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dataplane.h"

/*
 * Congestion control: how many bytes a flow may have in flight. One algorithm a file, with its
 * struct congestion, and its entry in testbed/hosts.py, which also has its parameters.
 *
 * Times are integer picoseconds; windows are bytes of frames (headers and FCS included), as double,
 * because they grow by fractions of a byte.
 */

/* What an algorithm knows of its network; all constants derive from this and the parameters. */
struct network {
    uint64_t rtt_ps;       /* a data frame and its ACK between the farthest hosts, no queues */
    uint64_t buffer_bytes; /* of a port; 0: unlimited */
    uint32_t hops;         /* links between the farthest hosts, one way */
    double bytes_per_ps;   /* the line rate */
    double bdp;            /* bytes that the line takes in rtt_ps */
    double frame;          /* bytes of a full data frame */
    double payload;        /* and of its payload */
    bool trims;            /* full ports cut frames to their headers */
    double parameters[DP_PARAMETERS];
};

struct congestion;

/* One flow's control. The algorithm's own state follows. */
struct cca {
    const struct congestion *ops;
    const struct network *network;
    double window;         /* in flight at most; a flow may always have one frame in flight */
    uint64_t pace_ps;      /* wait so long between two frames; 0: not at all */
    _Alignas(16) unsigned char state[];
};

struct congestion {
    const char *name;
    size_t state_bytes;

    /* Set up a flow: its first window and its state, which is zero. */
    void (*open)(struct cca *cca);
    void (*close)(struct cca *cca);

    /* What happened; NULL where it changes nothing. See struct dp_signal. */
    void (*acknowledged)(struct cca *cca, const struct dp_signal *signal);
    void (*nacked)(struct cca *cca, const struct dp_signal *signal);
    void (*lost)(struct cca *cca, const struct dp_signal *signal);
    void (*recovered)(struct cca *cca, const struct dp_signal *signal);
    void (*timed_out)(struct cca *cca, const struct dp_signal *signal);

    /*
     * How many acknowledgements without progress mean a loss, for a flow with so many shortest
     * paths; NULL: reordering never means a loss.
     */
    uint32_t (*duplicates)(const struct network *network, uint32_t routes);

    /* The constants that it works with, by name: up to DP_CONSTANTS of them. */
    uint32_t (*constants)(const struct network *network, struct dp_constant *constants);
};

const struct congestion *congestion_at(uint32_t number);
extern const struct congestion congestion_none;

/* What the settings say of the network, for the algorithm that they choose. */
struct network network_of(const struct dp_settings *settings);

void cca_open(struct cca *cca, const struct congestion *ops, const struct network *network);
void cca_close(struct cca *cca);
void cca_signal(struct cca *cca, const struct dp_signal *signal);

static inline double given(const struct cca *cca, uint32_t number)
{
    return cca->network->parameters[number];
}

/* A parameter in microseconds as picoseconds. */
static inline uint64_t microseconds(double value)
{
    return (uint64_t)(value * 1000000 + 0.5);
}

/* `time` times a share, to the nearest picosecond. */
static inline uint64_t portion(uint64_t time, double share)
{
    return (uint64_t)((double)time * share + 0.5);
}

static inline double larger(double one, double other)
{
    return one > other ? one : other;
}

static inline double smaller(double one, double other)
{
    return one < other ? one : other;
}

#endif

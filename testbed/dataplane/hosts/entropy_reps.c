#include <stdlib.h>

#include "entropy.h"
#include "registry.h"
#include "stopwatches.h"

/*
 * REPS: recycle entropy values (EVs) that came back without a mark. A flow caches a few of them;
 * with none fresh it draws one at random. Freezing: each value has a timer that starts at its first
 * use and ends at any ACK of it. A value that is overdue when it is drawn again, for longer than
 * the retransmission time-out (srtt + 4 mdev), means a failure: it is not sent, another one is
 * drawn, and the flow cycles over its cached values until the freeze ends. A frozen flow goes on
 * caching what comes back unmarked. So does the simulator of the paper's first author.
 */

enum { CACHE_LIMIT = 16 };
enum { PICOSECONDS = 1000000 };

struct cached {
    uint16_t value;
    bool fresh;            /* not used since it came back */
};

struct reps {
    uint64_t unfreeze_at;
    uint64_t srtt;
    uint64_t mdev;
    struct stopwatches values;   /* first use since the last ACK, by value */
    struct stopwatches packets;  /* departure, by PSN */
    struct cached cache[CACHE_LIMIT];
    uint8_t head;          /* where the next value is written */
    uint8_t filled;
    uint8_t fresh;         /* how many are */
    uint8_t frozen_at;     /* next value of a frozen flow */
    uint16_t explore;      /* frames that still draw at random */
    bool frozen;
};

static void reps_close(struct dp *dp)
{
    struct reps *all = dp->entropy_state;
    for (uint64_t flow = 0; all && flow < dp->flow_count; flow++) {
        stopwatches_free(&all[flow].values);
        stopwatches_free(&all[flow].packets);
    }
    free(all);
}

static int reps_open(struct dp *dp)
{
    if (dp->settings.entropy_parameters[REPS_BUFFER] < 1 ||
        dp->settings.entropy_parameters[REPS_BUFFER] > CACHE_LIMIT)
        return -1;
    dp->entropy_state = calloc(dp->flow_count + 1, sizeof(struct reps));
    return dp->entropy_state ? 0 : -1;
}

static uint32_t parameter(const struct dp *dp, uint32_t number)
{
    return (uint32_t)dp->settings.entropy_parameters[number];
}

static uint64_t parameter_ps(const struct dp *dp, uint32_t number)
{
    return (uint64_t)(dp->settings.entropy_parameters[number] * PICOSECONDS);
}

/* --- Timers --- */

static void measure(struct reps *reps, uint64_t sample)
{
    if (reps->srtt == 0) {
        reps->srtt = sample;
        reps->mdev = sample / 2;
        return;
    }
    uint64_t error = sample > reps->srtt ? sample - reps->srtt : reps->srtt - sample;
    reps->mdev = reps->mdev - reps->mdev / 4 + error / 4;
    reps->srtt = reps->srtt - reps->srtt / 8 + sample / 8;
}

static uint64_t time_out(const struct dp *dp, const struct reps *reps)
{
    if (reps->srtt == 0)
        return parameter_ps(dp, REPS_TIMEOUT_INITIAL_US);
    uint64_t floor = parameter_ps(dp, REPS_TIMEOUT_FLOOR_US);
    uint64_t rto = reps->srtt + 4 * reps->mdev;
    return rto > floor ? rto : floor;
}

static bool overdue(const struct dp *dp, const struct reps *reps, uint16_t value, uint64_t now)
{
    uint64_t since;
    return stopwatches_read(&reps->values, value, &since) && now - since > time_out(dp, reps);
}

static void note_departure(struct reps *reps, uint32_t psn, uint16_t value, uint64_t now)
{
    uint64_t since;
    stopwatches_start(&reps->values, value, now);
    if (stopwatches_read(&reps->packets, psn, &since))
        stopwatches_stop(&reps->packets, psn);  /* sent again: its round trip is nobody's */
    else
        stopwatches_start(&reps->packets, psn, now);
}

/* The round trip of a header that overtook data is nobody's. */
static void note_return(struct reps *reps, const struct frame_view *ack, uint64_t now)
{
    uint64_t since;
    if (!ack->nack && stopwatches_read(&reps->packets, ack->psn, &since))
        measure(reps, now - since);
    stopwatches_stop(&reps->packets, ack->psn);
    stopwatches_stop(&reps->values, ack->entropy);
}

/* --- The cache --- */

static void take(struct reps *reps, struct cached *cached)
{
    reps->fresh = (uint8_t)(reps->fresh - cached->fresh);
    cached->fresh = false;
}

static void put(const struct dp *dp, struct reps *reps, uint16_t value)
{
    uint32_t room = parameter(dp, REPS_BUFFER);
    reps->fresh = (uint8_t)(reps->fresh + !reps->cache[reps->head].fresh);
    reps->cache[reps->head] = (struct cached){ value, true };
    reps->head = (uint8_t)((reps->head + 1u) % room);
    reps->filled = (uint8_t)(reps->filled + (reps->filled < room));
}

/* The cached value to use next, NULL for a random one. */
static struct cached *next_cached(const struct dp *dp, struct reps *reps)
{
    uint32_t room = parameter(dp, REPS_BUFFER);
    if (reps->explore > 0 || reps->filled == 0)
        return NULL;
    if (!reps->frozen)
        return reps->fresh ? &reps->cache[(reps->head + room - reps->fresh) % room] : NULL;
    struct cached *next = &reps->cache[reps->frozen_at];
    reps->frozen_at = (uint8_t)((reps->frozen_at + 1) % reps->filled);
    return next;
}

static uint16_t draw(const struct dp *dp, struct host *host, struct reps *reps)
{
    struct cached *cached = next_cached(dp, reps);
    reps->explore = (uint16_t)(reps->explore - (reps->explore > 0));
    if (!cached)
        return (uint16_t)random_below(&host->random, parameter(dp, REPS_VALUES));
    take(reps, cached);
    return cached->value;
}

static void freeze(const struct dp *dp, struct reps *reps, uint64_t now)
{
    if (reps->frozen || reps->explore)
        return;
    reps->frozen = true;
    reps->unfreeze_at = now + parameter_ps(dp, REPS_FREEZE_US);
}

static void thaw(const struct dp *dp, struct reps *reps)
{
    reps->frozen = false;
    reps->head = reps->filled = reps->fresh = reps->frozen_at = 0;
    for (uint32_t i = 0; i < CACHE_LIMIT; i++)
        reps->cache[i].fresh = false;
    reps->explore = (uint16_t)parameter(dp, REPS_EXPLORE);
}

static uint16_t reps_data(struct dp *dp, struct host *host, uint32_t flow, uint32_t psn,
                          uint64_t now)
{
    struct reps *reps = &((struct reps *)dp->entropy_state)[flow];
    uint16_t value = draw(dp, host, reps);
    if (parameter(dp, REPS_FREEZING) == 0)
        return value;
    while (overdue(dp, reps, value, now)) {
        stopwatches_stop(&reps->values, value);
        freeze(dp, reps, now);
        value = draw(dp, host, reps);
    }
    note_departure(reps, psn & FRAME_PSN_MASK, value, now);
    return value;
}

static void reps_acknowledged(struct dp *dp, struct host *host, const struct frame_view *ack,
                              uint64_t now)
{
    (void)host;
    struct reps *reps = &((struct reps *)dp->entropy_state)[ack->flow];
    note_return(reps, ack, now);
    if (reps->frozen && now > reps->unfreeze_at)
        thaw(dp, reps);
    if (!ack->congested)
        put(dp, reps, ack->entropy);
}

static void reps_timed_out(struct dp *dp, struct host *host, uint32_t flow, uint16_t value,
                           uint64_t now)
{
    (void)host;
    struct reps *reps = &((struct reps *)dp->entropy_state)[flow];
    if (parameter(dp, REPS_FREEZING) == 0)
        return;
    stopwatches_stop(&reps->values, value);
    freeze(dp, reps, now);
}

const struct entropy entropy_reps = {
    .name = "reps",
    .open = reps_open,
    .close = reps_close,
    .data = reps_data,
    .acknowledged = reps_acknowledged,
    .timed_out = reps_timed_out,
};

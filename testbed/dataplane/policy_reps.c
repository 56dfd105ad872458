#include <stdlib.h>

#include "policy.h"

/*
 * REPS: recycle entropy values (EVs) that came back without a mark. A flow caches a few of them;
 * with none fresh it draws one at random. Freezing: a value that is drawn again while an earlier
 * use of it has been unacknowledged for longer than the retransmission time-out means a failure;
 * then the flow cycles over its cached values until the freeze ends. The paper's simulator triggers
 * freezing by such timers per value; it measures round trips as srtt and mdev, and so do we.
 */

enum { CACHE_LIMIT = 16, TIMERS = 256 };
enum {
    KNOB_BUFFER,
    KNOB_EXPLORE,
    KNOB_VALUES,
    KNOB_FREEZING,
    KNOB_FREEZE_US,
    KNOB_FLOOR_US,
    KNOB_INITIAL_US
};
enum { PICOSECONDS = 1000000 };

struct timer {
    uint64_t since;        /* first unacknowledged use */
    uint16_t value;
    uint16_t outstanding;
};

struct reps {
    uint64_t unfreeze_at;
    uint64_t srtt;
    uint64_t mdev;
    struct timer *timers;  /* by value modulo their number; NULL until the first frame */
    uint32_t timer_mask;
    uint16_t cache[CACHE_LIMIT];
    uint8_t head;          /* where the next value is written */
    uint8_t filled;
    uint8_t fresh;         /* cached values not used since they came back */
    uint8_t frozen_at;     /* next value of a frozen flow */
    uint16_t explore;      /* frames that still draw at random */
    bool frozen;
};

static void reps_close(struct dp *dp)
{
    struct reps *all = dp->policy_state;
    for (uint64_t flow = 0; all && flow < dp->flow_count; flow++)
        free(all[flow].timers);
    free(all);
}

static int reps_open(struct dp *dp)
{
    if (dp->settings.parameters[KNOB_BUFFER] < 1 ||
        dp->settings.parameters[KNOB_BUFFER] > CACHE_LIMIT)
        return -1;
    dp->policy_state = calloc(dp->flow_count + 1, sizeof(struct reps));
    return dp->policy_state ? 0 : -1;
}

static uint32_t knob(const struct dp *dp, uint32_t number)
{
    return (uint32_t)dp->settings.parameters[number];
}

static uint64_t knob_ps(const struct dp *dp, uint32_t number)
{
    return (uint64_t)(dp->settings.parameters[number] * PICOSECONDS);
}

static uint64_t time_out(const struct dp *dp, const struct reps *reps)
{
    if (reps->srtt == 0)
        return knob_ps(dp, KNOB_INITIAL_US);
    uint64_t floor = knob_ps(dp, KNOB_FLOOR_US);
    uint64_t rto = reps->srtt + 4 * reps->mdev;
    return rto > floor ? rto : floor;
}

static void make_timers(struct reps *reps, uint32_t packets)
{
    uint32_t count = 8;
    while (count < TIMERS && count < packets)
        count *= 2;
    reps->timers = calloc(count, sizeof *reps->timers);
    if (!reps->timers)
        abort();
    reps->timer_mask = count - 1;
}

/* Note a use of a value; freeze if an earlier one is overdue. */
static void use(const struct dp *dp, struct reps *reps, uint16_t value, uint64_t now)
{
    struct timer *timer = &reps->timers[value & reps->timer_mask];
    bool running = timer->outstanding > 0 && timer->value == value;
    if (!running)
        *timer = (struct timer){ .since = now, .value = value };
    timer->outstanding++;
    if (running && now - timer->since > time_out(dp, reps) && !reps->frozen && !reps->explore) {
        reps->frozen = true;
        reps->frozen_at = 0;
        reps->unfreeze_at = now + knob_ps(dp, KNOB_FREEZE_US);
    }
}

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

static void settle(struct reps *reps, uint16_t value, uint64_t now)
{
    struct timer *timer = &reps->timers[value & reps->timer_mask];
    if (timer->outstanding == 0 || timer->value != value)
        return;
    if (timer->outstanding == 1)
        measure(reps, now - timer->since);
    timer->outstanding--;
}

static uint16_t draw(const struct dp *dp, struct host *host, struct reps *reps)
{
    uint16_t any = (uint16_t)random_below(&host->random, knob(dp, KNOB_VALUES));
    if (reps->explore > 0) {
        reps->explore--;
        return any;
    }
    if (reps->frozen && reps->filled > 0) {
        uint16_t value = reps->cache[reps->frozen_at];
        reps->frozen_at = (uint8_t)((reps->frozen_at + 1) % reps->filled);
        return value;
    }
    if (reps->frozen || reps->fresh == 0)
        return any;
    uint32_t cache = knob(dp, KNOB_BUFFER);
    return reps->cache[(reps->head + cache - reps->fresh--) % cache];
}

static uint16_t reps_data(struct dp *dp, struct host *host, uint32_t flow, uint64_t now)
{
    struct reps *reps = &((struct reps *)dp->policy_state)[flow];
    uint16_t value = draw(dp, host, reps);
    if (knob(dp, KNOB_FREEZING) == 0)
        return value;
    if (!reps->timers)
        make_timers(reps, dp->senders[flow].packets);
    use(dp, reps, value, now);
    return value;
}

static void thaw(const struct dp *dp, struct reps *reps)
{
    reps->frozen = false;
    reps->head = 0;
    reps->filled = 0;
    reps->fresh = 0;
    reps->explore = (uint16_t)knob(dp, KNOB_EXPLORE);
}

static void reps_acknowledged(struct dp *dp, struct host *host, const struct frame_view *ack,
                              uint64_t now)
{
    (void)host;
    struct reps *reps = &((struct reps *)dp->policy_state)[ack->flow];
    if (reps->timers)
        settle(reps, ack->entropy, now);
    if (reps->frozen && now > reps->unfreeze_at)
        thaw(dp, reps);
    if (ack->congested || reps->frozen)
        return;
    uint32_t cache = knob(dp, KNOB_BUFFER);
    reps->cache[reps->head] = ack->entropy;
    reps->head = (uint8_t)((reps->head + 1u) % cache);
    reps->filled = (uint8_t)(reps->filled + (reps->filled < cache));
    reps->fresh = (uint8_t)(reps->fresh + (reps->fresh < cache));
}

const struct policy policy_reps = {
    .name = "reps",
    .knobs = {
        [KNOB_BUFFER] = { "buffer", 8 },
        [KNOB_EXPLORE] = { "explore", 16 },
        [KNOB_VALUES] = { "values", 16000 },
        [KNOB_FREEZING] = { "freezing", 1 },
        [KNOB_FREEZE_US] = { "freeze_us", 10000 },
        [KNOB_FLOOR_US] = { "timeout_floor_us", 2 },
        [KNOB_INITIAL_US] = { "timeout_initial_us", 1000 },
    },
    .open = reps_open,
    .close = reps_close,
    .data = reps_data,
    .acknowledged = reps_acknowledged,
};

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

#include "batch.h"
#include "build.h"
#include "core.h"
#include "hosts/host.h"
#include "port.h"
#include "records.h"
#include "switch.h"

/*
 * The virtual clock: windows no longer than a link's delay. What a node sends in a window reaches
 * its neighbour in a later one, so the nodes of a window are independent of each other: each takes
 * its turn with all its frames of the window, in order of time, while its state is in the cache,
 * and any number of threads gives the same result. The NICs of a machine take theirs together,
 * because a message on one may wait for a message on another.
 */

enum { MACHINES_AT_ONCE = 32, LINKS_AHEAD = 6, SHORTEST_DELAY_PS = 1000 };

struct window {
    struct dp *dp;
    uint64_t begin;
    uint64_t end;
    bool sample;            /* the window ends where a sample is due */
    bool over;              /* no more windows */
    atomic_uint next_item;  /* switches, then groups of machines */
    pthread_barrier_t barrier;
};

struct helper {
    struct window *window;
    struct worker *worker;
    pthread_t thread;
};

/* --- A node's turn --- */

static void note_event(struct worker *worker, uint64_t time)
{
    if (time < worker->next_event)
        worker->next_event = time;
}

/* Take the frames that reach a node's port before the window ends. */
static void collect(struct worker *worker, struct cursor *input, uint32_t port, uint64_t delay,
                    uint64_t end)
{
    uint64_t limit = end > delay ? end - delay : 0;
    uint64_t departure = fifo_departure(*input);
    while (departure < limit) {
        uint32_t number = input->entry->packet;
        batch_add(&worker->batch, departure + delay, number, port);
        __builtin_prefetch(packet_at(worker->dp, number), 1, 1);
        fifo_take(input, &worker->chunks);
        departure = fifo_departure(*input);
    }
    if (departure != TIME_NEVER)
        note_event(worker, departure + delay);
}

/* Bring into the cache what a turn will need of a port and of the link that comes in there. */
static void fetch_ahead(const struct port *port, const struct cursor *input)
{
    __builtin_prefetch(input->entry);
    __builtin_prefetch(port, 1);
    __builtin_prefetch((const char *)port + LINE_BYTES, 1);
}

static void collect_all(struct worker *worker, const struct window *window, struct sw *sw)
{
    for (uint32_t port = 1; port < sw->port_count; port++) {
        if (port + LINKS_AHEAD < sw->port_count)
            fetch_ahead(&sw->ports[port + LINKS_AHEAD], &sw->inputs[port + LINKS_AHEAD]);
        __builtin_prefetch(sw->ports[port].tail.entry, 1);
        __builtin_prefetch(sw->ports[port].serving.entry);
        if (sw->inputs[port].entry)
            collect(worker, &sw->inputs[port], port,
                    speed_of(worker->dp, &sw->ports[port])->delay_ps, window->end);
    }
}

/*
 * Catch up with the window's end. A frame that has not left by then is an event of its sender's
 * too: no window may begin later than its departure, or its receiver would take it before its
 * sender had looked at it for the last time.
 */
static void finish_port(struct worker *worker, struct port *port, uint64_t end)
{
    port_advance(worker, port, end);
    if (port->queue_packets > 0)
        note_event(worker, fifo_departure(port->serving));
}

static void finish_ports(struct worker *worker, const struct window *window, struct port *ports,
                         uint32_t node, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (ports[i].queue_packets > 0)
            finish_port(worker, &ports[i], window->end);
        if (window->sample)
            port_sample(worker, &ports[i], node, i, window->end);
    }
}

static void serve_until(struct worker *worker, struct sw *sw, uint64_t end)
{
    uint64_t service = switch_next_service(sw);
    while (service < end) {
        switch_serve(worker, sw, service);
        service = switch_next_service(sw);
    }
}

static void switch_turn(struct worker *worker, const struct window *window, struct sw *sw)
{
    struct batch *batch = &worker->batch;
    batch->count = 0;
    collect_all(worker, window, sw);
    const struct arrival *arrivals = batch_sort(batch, window->begin, window->end);
    for (uint32_t i = 0; i < batch->count; i++) {
        if (sw->waiting)
            serve_until(worker, sw, arrivals[i].time + 1);
        if (i + BATCH_AHEAD < batch->count)
            __builtin_prefetch(packet_at(worker->dp, arrivals[i + BATCH_AHEAD].packet), 1);
        switch_receive(worker, sw, arrivals[i].port, arrivals[i].packet, arrivals[i].time);
    }
    if (sw->waiting) {
        serve_until(worker, sw, window->end);
        note_event(worker, switch_next_service(sw));
    }
    finish_ports(worker, window, sw->ports, sw->node, sw->port_count);
}

/* When a machine's next NIC acts, and which that is: what one does may let another begin. */
static uint64_t machine_next(struct dp *dp, uint32_t machine, struct host **acting)
{
    uint64_t next = host_next(dp, *acting = &dp->host[machine]);
    for (uint32_t i = machine + dp->machines; i < dp->hosts; i += dp->machines) {
        uint64_t due = host_next(dp, &dp->host[i]);
        if (due < next) {
            next = due;
            *acting = &dp->host[i];
        }
    }
    return next;
}

static void act_until(struct worker *worker, uint32_t machine, uint64_t end)
{
    struct host *host;
    for (;;) {
        uint64_t next = machine_next(worker->dp, machine, &host);
        if (next >= end)
            return;
        host_act(worker, host, next);
    }
}

/* All arrivals at a machine's NICs; those of one are in order of time as they are. */
static const struct arrival *collect_machine(struct worker *worker, const struct window *window,
                                             uint32_t machine)
{
    struct dp *dp = worker->dp;
    struct batch *batch = &worker->batch;
    batch->count = 0;
    for (uint32_t i = machine; i < dp->hosts; i += dp->machines) {
        struct host *host = &dp->host[i];
        if (host->input->entry)
            collect(worker, host->input, i, speed_of(dp, host->port)->delay_ps, window->end);
    }
    for (uint32_t i = 0; i < batch->count; i++)
        __builtin_prefetch(packet_at(dp, batch->arrivals[i].packet)->data + LINE_BYTES, 1);
    if (dp->machines == dp->hosts)
        return batch->arrivals;
    return batch_sort(batch, window->begin, window->end);
}

static void machine_turn(struct worker *worker, const struct window *window, uint32_t machine)
{
    struct dp *dp = worker->dp;
    const struct arrival *arrivals = collect_machine(worker, window, machine);
    struct host *acting;
    for (uint32_t i = 0; i < worker->batch.count; i++) {
        act_until(worker, machine, arrivals[i].time);
        host_receive(worker, &dp->host[arrivals[i].port], arrivals[i].packet, arrivals[i].time);
    }
    act_until(worker, machine, window->end);
    note_event(worker, machine_next(dp, machine, &acting));
    for (uint32_t i = machine; i < dp->hosts; i += dp->machines)
        finish_ports(worker, window, dp->host[i].port, dp->host[i].node, 1);
}

/* --- A window --- */

static void machine_turns(struct worker *worker, const struct window *window, uint32_t group)
{
    uint32_t first = group * MACHINES_AT_ONCE;
    for (uint32_t i = first; i < first + MACHINES_AT_ONCE && i < window->dp->machines; i++)
        machine_turn(worker, window, i);
}

static void take_turns(struct worker *worker, struct window *window)
{
    struct dp *dp = window->dp;
    uint32_t groups = (dp->machines + MACHINES_AT_ONCE - 1) / MACHINES_AT_ONCE;
    for (;;) {
        uint32_t item = atomic_fetch_add_explicit(&window->next_item, 1, memory_order_relaxed);
        if (item < dp->switch_count)
            switch_turn(worker, window, &dp->sw[item]);
        else if (item < dp->switch_count + groups)
            machine_turns(worker, window, item - dp->switch_count);
        else
            return;
    }
}

static void *help(void *argument)
{
    struct helper *helper = argument;
    struct window *window = helper->window;
    for (;;) {
        pthread_barrier_wait(&window->barrier);
        if (window->over)
            return NULL;
        take_turns(helper->worker, window);
        pthread_barrier_wait(&window->barrier);
    }
}

/* The earliest event that anybody knows of; the workers forget it. */
static uint64_t next_event(struct dp *dp, uint32_t threads)
{
    uint64_t next = TIME_NEVER;
    for (uint32_t i = 0; i < threads; i++) {
        next = dp->workers[i].next_event < next ? dp->workers[i].next_event : next;
        dp->workers[i].next_event = TIME_NEVER;
    }
    return next;
}

static void open_window(struct window *window, uint64_t begin, uint64_t deadline)
{
    struct dp *dp = window->dp;
    window->begin = begin;
    window->end = begin + dp->lookahead_ps;
    if (window->end > deadline)
        window->end = deadline;
    if (dp->settings.sample_ps) {
        while (dp->next_sample <= begin)
            dp->next_sample += dp->settings.sample_ps;
        if (window->end > dp->next_sample)
            window->end = dp->next_sample;
    }
    window->sample = dp->settings.sample_ps && window->end == dp->next_sample;
    atomic_store(&window->next_item, 0);
}

static uint64_t milliseconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static int run_windows(struct window *window, uint32_t threads, uint64_t deadline, uint64_t stop_ms)
{
    struct dp *dp = window->dp;
    for (;;) {
        uint64_t begin = next_event(dp, threads);
        note_event(&dp->workers[0], begin);
        if (records_failed(dp))
            return DP_FAILED;
        if (dp->flow_count > 0 && records_finished(dp) == dp->flow_count)
            return DP_DONE;
        if (begin == TIME_NEVER)
            return records_stuck(dp, "");
        if (begin >= deadline) {
            dp->changed_at = deadline;
            return DP_DEADLINE;
        }
        if (deadline == TIME_NEVER && records_circling(dp))
            return records_stuck(dp, "; frames go in circles between switches");
        if (stop_ms && milliseconds() >= stop_ms)
            return DP_BUDGET;
        dp->workers[0].next_event = TIME_NEVER;
        open_window(window, begin, deadline);
        if (threads > 1)
            pthread_barrier_wait(&window->barrier);
        take_turns(&dp->workers[0], window);
        if (threads > 1)
            pthread_barrier_wait(&window->barrier);
        dp->now = window->end;
        if (!records_note_sending(dp))
            return build_fail(dp, "not enough memory for the queues while hosts send");
    }
}

static void start_helpers(struct helper *helpers, struct window *window, uint32_t threads)
{
    pthread_barrier_init(&window->barrier, NULL, threads);
    for (uint32_t i = 1; i < threads; i++) {
        helpers[i] = (struct helper){ .window = window, .worker = &window->dp->workers[i] };
        if (pthread_create(&helpers[i].thread, NULL, help, &helpers[i]) != 0)
            abort();
    }
}

static void stop_helpers(struct helper *helpers, struct window *window, uint32_t threads)
{
    window->over = true;
    if (threads > 1)
        pthread_barrier_wait(&window->barrier);
    for (uint32_t i = 1; i < threads; i++)
        pthread_join(helpers[i].thread, NULL);
    pthread_barrier_destroy(&window->barrier);
}

/* Every node looks at what it has: a first window may not miss what was set up since. */
static void wake_all(struct dp *dp)
{
    for (uint32_t i = 0; i < dp->hosts; i++)
        note_event(&dp->workers[0], host_next(dp, &dp->host[i]));
}

int dp_run_virtual(struct dp *dp, uint64_t deadline_ps, uint32_t threads, uint32_t budget_ms)
{
    struct helper helpers[DP_THREADS];
    struct window window = { .dp = dp };
    if (dp->lookahead_ps < SHORTEST_DELAY_PS)
        return build_fail(dp, "virtual time needs a link delay of at least %u ps",
                          (unsigned)SHORTEST_DELAY_PS);
    threads = threads < 1 ? 1 : threads > DP_THREADS ? DP_THREADS : threads;
    if (threads > dp->active_workers)
        dp->active_workers = threads;
    wake_all(dp);
    start_helpers(helpers, &window, threads);
    uint64_t stop_ms = budget_ms ? milliseconds() + budget_ms : 0;
    int ended = run_windows(&window, threads, deadline_ps, stop_ms);
    stop_helpers(helpers, &window, threads);
    return ended;
}

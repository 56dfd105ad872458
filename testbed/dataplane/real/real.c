#include "real.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>

#include "build.h"
#include "frame.h"
#include "hosts/host.h"
#include "port.h"
#include "records.h"
#include "switch.h"

/*
 * The real clock: one loop that takes frames from sockets, gives them to their nodes, and does what
 * is due. It sleeps until shortly before the next deadline and spins from there, because a sleeping
 * thread wakes up late.
 */

enum {
    BURST = 16,                /* frames taken of a port before what became due is sent */
    ENTRY_TURNS = 64,          /* frames let in before the later hops get their turn again */
    SPINS_BEFORE_LOOK = 1024,  /* how often spinning looks at the control descriptor */
    ROOM_FOR_TICKS = 1000,
    ETHERTYPE_AT = 12
};

static const uint64_t LONGEST_SLEEP_NS = 200000000;
static const uint64_t LOOK_EVERY_NS = 2000000;  /* at the control descriptor, however much to do */

static uint64_t clock_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* Paper time; it never goes back, and is 0 before the start. */
static uint64_t look_at_clock(struct dp *dp)
{
    struct real_front *real = dp->real;
    uint64_t ns = clock_ns();
    real->started = ns >= real->start_ns;
    if (!real->started)
        return dp->now;
    uint64_t now = (uint64_t)((double)(ns - real->start_ns) * ROOM_FOR_TICKS / real->dilation);
    if (now > dp->now)
        dp->now = now;
    return dp->now;
}

/* --- Nodes --- */

static uint32_t timer_of_node(const struct dp *dp, uint32_t node)
{
    return dp->port_count + node;
}

/* After an event at a host, which may let messages begin at other NICs of its machine. */
static void set_host_timers(struct dp *dp, uint32_t host)
{
    for (uint32_t i = machine_of(dp, host); i < dp->hosts; i += dp->machines)
        timers_set(&dp->real->timers, timer_of_node(dp, i), host_next(dp, &dp->host[i]));
}

static void set_switch_timer(struct dp *dp, const struct sw *sw)
{
    if (sw->waiting)
        timers_set(&dp->real->timers, timer_of_node(dp, sw->node), switch_next_service(sw));
}

static void act(struct dp *dp, uint32_t node, uint64_t due)
{
    struct worker *worker = &dp->workers[0];
    if (node < dp->hosts) {
        host_act(worker, &dp->host[node], due);
        set_host_timers(dp, node);
        return;
    }
    switch_serve(worker, dp->switch_of[node], due);
    set_switch_timer(dp, dp->switch_of[node]);
}

static void do_what_is_due(struct dp *dp, uint64_t now)
{
    struct timers *timers = &dp->real->timers;
    while (dp->real->started && timers_next(timers) <= now) {
        uint32_t thing = timers->heap[0];
        if (thing >= dp->port_count)
            act(dp, thing - dp->port_count, timers->time[thing]);
        else
            real_transmit(dp, thing);
    }
}

/* --- Frames from sockets --- */

static bool is_ipv4(const struct packet *packet)
{
    return packet->stored > ETHERTYPE_AT + 1 && packet->data[ETHERTYPE_AT] == 0x08 &&
           packet->data[ETHERTYPE_AT + 1] == 0x00;
}

static uint32_t keep(struct dp *dp, const struct wire_frame *frame)
{
    uint32_t stored = frame->stored < LARGE_ROOM ? frame->stored : LARGE_ROOM;
    uint32_t number = packet_new(&dp->workers[0], stored);
    struct packet *packet = packet_at(dp, number);
    packet->length = frame->length;
    packet->stored = stored & 0xffffff;
    memcpy(packet->data, frame->data, stored);
    frame_classify(packet);
    return number;
}

/* Frames of others are noise; the P4 programs see those of them that are IPv4. */
static void receive(struct dp *dp, const struct real_port *place, uint32_t number, uint64_t now)
{
    struct worker *worker = &dp->workers[0];
    const struct packet *packet = packet_at(dp, number);
    bool noise = packet->class == FRAME_OTHER;
    dp->real->noise += noise;
    if (noise && (place->node < dp->hosts || !is_ipv4(packet))) {
        packet_free(worker, number);
        return;
    }
    if (place->node < dp->hosts) {
        host_receive(worker, &dp->host[place->node], number, now);
        set_host_timers(dp, place->node);
        return;
    }
    struct sw *sw = dp->switch_of[place->node];
    worker->totals.sent++;
    switch_receive(worker, sw, place->number, number, now);
    set_switch_timer(dp, sw);
}

/*
 * Take at most a burst of a port's frames, and send together what becomes due meanwhile: past our
 * capacity that is a third cheaper. Returns how many frames there were.
 */
static uint32_t take_burst(struct dp *dp, struct real_port *port)
{
    struct wire_frame frame;
    uint32_t taken = 0;
    for (; taken < BURST && wire_next(&port->in, &frame); taken++) {
        uint32_t number = keep(dp, &frame);
        wire_done(&port->in);
        uint64_t now = look_at_clock(dp);
        do_what_is_due(dp, now);
        receive(dp, port, number, now);
    }
    real_flush(dp);
    return taken;
}

/* Take what there is at a port, but no more than its ring holds. */
static uint32_t take_ring(struct dp *dp, struct real_port *port)
{
    uint32_t taken = 0;
    uint32_t burst = BURST;
    for (; burst == BURST && taken < port->in.slots; taken += burst)
        burst = take_burst(dp, port);
    return taken;
}

/*
 * Let frames in, port by port: past its capacity the core refuses what comes first, at the ports
 * that are flooded, and gives each of the others as much as it asks for.
 */
static uint32_t let_frames_in(struct dp *dp)
{
    struct real_front *real = dp->real;
    uint32_t ports = real->polled_count - real->first_entry;
    uint32_t taken = 0;
    for (uint32_t i = 0; i < ports && taken < ENTRY_TURNS; i++) {
        uint32_t place = real->first_entry + real->next_entry;
        real->next_entry = real->next_entry + 1 == ports ? 0 : real->next_entry + 1;
        taken += take_burst(dp, &real->ports[real->polled[place]]);
    }
    return taken;
}

/*
 * Take what has come: all that is on its way first, the last hops before the others, so that no
 * work already done for a frame is lost. True if there may be more.
 */
static bool take_all_frames(struct dp *dp)
{
    struct real_front *real = dp->real;
    uint32_t taken = 0;
    for (uint32_t i = 0; i < real->first_entry; i++)
        taken += take_ring(dp, &real->ports[real->polled[i]]);
    return taken + let_frames_in(dp) > 0;
}

/* --- The loop --- */

/* An interface that goes down leaves an error on its socket, which would wake us for ever. */
static void forget_error(int fd)
{
    int error;
    socklen_t size = sizeof error;
    getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size);
}

static bool control_waits(struct dp *dp, int64_t timeout_ns)
{
    const struct real_front *real = dp->real;
    struct epoll_event events[16];
    struct timespec timeout = { timeout_ns / 1000000000, timeout_ns % 1000000000 };
    int count = epoll_pwait2(real->epoll_fd, events, 16, &timeout, NULL);
    bool asked = false;
    dp->real->looked_ns = clock_ns();
    for (int i = 0; i < count; i++) {
        if (events[i].data.fd == real->control_fd)
            asked = true;
        else if (events[i].events & EPOLLERR)
            forget_error(events[i].data.fd);
    }
    return asked;
}

static bool control_waits_meanwhile(struct dp *dp)
{
    return clock_ns() - dp->real->looked_ns > LOOK_EVERY_NS && control_waits(dp, 0);
}

/* Sleep if the next deadline is far; true if the control descriptor is readable. */
static bool wait(struct dp *dp, const struct dp_real *real, uint32_t *spins)
{
    uint64_t next = timers_next(&dp->real->timers);
    next = next < real->deadline_ps ? next : real->deadline_ps;
    double due_ns = (double)next * real->dilation / ROOM_FOR_TICKS + (double)real->start_ns;
    double left_ns = due_ns - (double)clock_ns() - (double)real->spin_ns;
    if (left_ns > (double)LONGEST_SLEEP_NS)
        left_ns = (double)LONGEST_SLEEP_NS;
    if (left_ns > 0) {
        *spins = 0;
        return control_waits(dp, (int64_t)left_ns);
    }
    if (++*spins < SPINS_BEFORE_LOOK)
        return false;
    *spins = 0;
    return control_waits(dp, 0);
}

static bool is_stuck(const struct dp *dp, const struct dp_real *real)
{
    uint64_t moved = dp->workers[0].last_movement;
    return real->stuck_ps > 0 && dp->flow_count > 0 && dp->now > moved &&
           dp->now - moved > real->stuck_ps && !records_host_waits(dp);
}

static void sample(struct dp *dp)
{
    if (dp->settings.sample_ps == 0 || dp->now < dp->next_sample)
        return;
    uint64_t time = dp->now / dp->settings.sample_ps * dp->settings.sample_ps;
    for (uint32_t node = 0; node < dp->nodes; node++)
        for (uint32_t i = dp->first_port[node]; i < dp->first_port[node + 1]; i++) {
            if (!dp->ports[i].tail.entry)
                continue;
            port_advance(&dp->workers[0], &dp->ports[i], dp->now);
            port_sample(&dp->workers[0], &dp->ports[i], node, i - dp->first_port[node], time);
        }
    dp->next_sample = time + dp->settings.sample_ps;
}

static int watch_control(struct dp *dp, int control_fd)
{
    struct real_front *real = dp->real;
    if (real->control_fd == control_fd)
        return 0;
    if (real->control_fd >= 0)
        epoll_ctl(real->epoll_fd, EPOLL_CTL_DEL, real->control_fd, NULL);
    real->control_fd = control_fd;
    struct epoll_event event = { .events = EPOLLIN, .data.fd = control_fd };
    if (control_fd >= 0 && epoll_ctl(real->epoll_fd, EPOLL_CTL_ADD, control_fd, &event) != 0)
        return build_fail(dp, "control descriptor %d: %s", control_fd, strerror(errno));
    return 0;
}

static int run(struct dp *dp, const struct dp_real *real)
{
    uint32_t spins = 0;
    for (;;) {
        bool more = take_all_frames(dp);
        do_what_is_due(dp, look_at_clock(dp));
        real_flush(dp);
        sample(dp);
        if (records_failed(dp))
            return DP_FAILED;
        if (dp->flow_count > 0 && records_finished(dp) == dp->flow_count)
            return DP_DONE;
        if (dp->now >= real->deadline_ps)
            return DP_DEADLINE;
        if (is_stuck(dp, real))
            return records_stuck(dp, "");
        if (more ? control_waits_meanwhile(dp) : wait(dp, real, &spins))
            return DP_CONTROL;
    }
}

int dp_run_real(struct dp *dp, const struct dp_real *real)
{
    if (!dp->real)
        return build_fail(dp, "the real clock needs ports on sockets");
    if (!(real->dilation > 0))
        return build_fail(dp, "dilation is %g; it must be above 0", real->dilation);
    if (watch_control(dp, real->control_fd) != 0)
        return DP_FAILED;
    dp->real->dilation = real->dilation;
    dp->real->start_ns = real->start_ns;
    for (uint32_t machine = 0; machine < dp->machines; machine++)
        set_host_timers(dp, machine);
    int ended = run(dp, real);
    for (uint32_t i = 0; i < dp->port_count; i++)
        if (dp->ports[i].tail.entry)
            port_advance(&dp->workers[0], &dp->ports[i], dp->now);
    return ended;
}

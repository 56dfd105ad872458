#include "front.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#include "pipeline.h"
#include "wire.h"

enum {
    SLOT_BYTES = 2048,     /* holds a frame of an Ethernet's usual size whole */
    SLOTS = 512,
    ENTRY_BURST = 16,      /* frames taken in a turn from a port where they enter */
    ENTRY_TURNS = 64,      /* frames let in before those on their way get their turn again */
    MOST_COPIES = 4096,    /* made of a frame before others get their turn */
    FIRST_ROOM = 16,
    EVENTS = 16
};

static const double LOOK_EVERY_US = 2000;      /* at the control descriptor, however much to do */
static const double LONGEST_SLEEP_US = 200000;

/* A frame in a port's queue: its bytes, or what the program holds of it. */
struct item {
    uint8_t *data;
    struct pl_held *held;
    uint32_t length;
    uint32_t before;       /* frames in the queue when it came */
    double at;             /* when it came; on the cable: when it arrives */
};

struct queue {
    struct item *items;
    uint32_t head;
    uint32_t count;
    uint32_t room;         /* a power of two */
};

struct port {
    struct sw *sw;
    struct wire_socket in;
    uint32_t number;
    uint32_t ifindex;
    bool inner;
    bool touched;          /* something was queued since it was served */
    struct front_limits limits;
    struct queue waiting;
    struct queue leaving;
    double free_at;
    uint64_t received;
    uint64_t sent;
    uint64_t dropped;
};

struct sw {
    struct front *front;
    const struct pl_program *program;
    struct pl_switch *state;
    struct pl_world world;
    struct port *ports[PL_PORT_LIMIT];
    struct port *serving;  /* whose frame is in egress */
    double started;        /* when its service may start */
};

struct front {
    struct sw **switches;
    uint32_t switch_count;
    struct port **ports;
    uint32_t port_count;
    uint32_t next_entry;
    struct port **touched;
    uint32_t touched_count;
    struct wire_batch batch;
    uint8_t *batch_data[WIRE_BATCH];
    struct port *batch_ports[WIRE_BATCH];
    int sender;
    int epoll_fd;
    int control_fd;
    double start_us;
    double now;
    double looked;
    uint64_t lost;
    char message[200];
};

static int fail(struct front *front, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    vsnprintf(front->message, sizeof front->message, format, values);
    va_end(values);
    return -1;
}

const char *front_error(const struct front *front)
{
    return front->message;
}

static double clock_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

static double look_at_clock(struct front *front)
{
    return front->now = clock_us() - front->start_us;
}

/* --- Queues --- */

static bool grow(struct queue *queue)
{
    uint32_t room = queue->room ? 2 * queue->room : FIRST_ROOM;
    struct item *items = malloc(room * sizeof *items);
    if (!items)
        return false;
    for (uint32_t i = 0; i < queue->count; i++)
        items[i] = queue->items[(queue->head + i) & (queue->room - 1)];
    free(queue->items);
    *queue = (struct queue){ items, 0, queue->count, room };
    return true;
}

static bool push(struct queue *queue, struct item item)
{
    if (queue->count == queue->room && !grow(queue))
        return false;
    queue->items[(queue->head + queue->count++) & (queue->room - 1)] = item;
    return true;
}

static struct item *first(struct queue *queue)
{
    return &queue->items[queue->head];
}

static struct item pop(struct queue *queue)
{
    struct item item = *first(queue);
    queue->head = (queue->head + 1) & (queue->room - 1);
    queue->count--;
    return item;
}

/* --- Sending --- */

static void refused(void *context, uint32_t place)
{
    struct front *front = context;
    front->batch_ports[place]->dropped++;
    front->batch_ports[place]->sent--;
}

static void flush(struct front *front)
{
    uint32_t count = front->batch.count;
    if (count == 0)
        return;
    wire_flush(&front->batch, refused, front);
    for (uint32_t i = 0; i < count; i++)
        free(front->batch_data[i]);
}

static void put_on_wire(struct front *front, struct port *port, uint8_t *data, uint32_t length)
{
    if (front->batch.count == WIRE_BATCH)
        flush(front);
    uint32_t place = front->batch.count;
    front->batch.fd = front->sender;
    front->batch_data[place] = data;
    front->batch_ports[place] = port;
    wire_add(&front->batch, port->ifindex, data, length, length);
    port->sent++;
}

/* How long a port is busy with putting a frame's bytes on its cable. */
static double bytes_us(const struct port *port, uint32_t length)
{
    return port->limits.bytes_a_second > 0 ? 1e6 * length / port->limits.bytes_a_second : 0;
}

/* How long after one frame the next may begin, however short they are. */
static double gap_us(const struct port *port)
{
    return port->limits.frames_a_second > 0 ? 1e6 / port->limits.frames_a_second : 0;
}

/* Let a final frame go, whose service may start at `from`. */
static void depart(struct port *port, uint8_t *data, uint32_t length, double from)
{
    struct front *front = port->sw->front;
    double start = from > port->free_at ? from : port->free_at;
    double left = start + bytes_us(port, length);
    double at = left + port->limits.delay_us;
    port->free_at = left + gap_us(port);
    if (at <= front->now && port->leaving.count == 0) {
        put_on_wire(front, port, data, length);
    } else if (!push(&port->leaving, (struct item){ .data = data, .length = length, .at = at })) {
        port->dropped++;
        free(data);
    }
}

/* A copy of a frame's bytes, with its payload that was not kept; NULL if there is no memory. */
static uint8_t *copy_of(const struct pl_frame *frame)
{
    uint8_t *data = malloc(frame->length + 1);
    if (!data)
        return NULL;
    memcpy(data, frame->data, frame->stored);
    memset(data + frame->stored, 0, frame->length - frame->stored);
    return data;
}

/* --- From the program --- */

static void lose(struct sw *sw, struct pl_held *held, uint64_t *counter)
{
    ++*counter;
    if (held)
        sw->program->discard(sw->state, held);
}

static void touch(struct front *front, struct port *port)
{
    if (!port->touched)
        front->touched[front->touched_count++] = port;
    port->touched = true;
}

static void enqueue(void *context, uint32_t number, uint32_t priority,
                    const struct pl_frame *frame, struct pl_held *held)
{
    (void)priority;
    struct sw *sw = context;
    struct port *port = number < PL_PORT_LIMIT ? sw->ports[number] : NULL;
    if (!port) {
        lose(sw, held, &sw->front->lost);
        return;
    }
    struct item item = { .held = held, .length = frame->length, .at = sw->front->now };
    item.before = port->waiting.count;
    if (item.before >= port->limits.depth || (!held && !(item.data = copy_of(frame))) ||
        !push(&port->waiting, item)) {
        free(item.data);
        lose(sw, held, &port->dropped);
        return;
    }
    touch(sw->front, port);
}

static void transmit(void *context, uint32_t number, const struct pl_frame *frame)
{
    struct sw *sw = context;
    struct port *port = number < PL_PORT_LIMIT ? sw->ports[number] : NULL;
    uint8_t *data = port ? copy_of(frame) : NULL;
    if (!data) {
        lose(sw, NULL, port ? &port->dropped : &sw->front->lost);
        return;
    }
    depart(port, data, frame->length, sw->started);
}

/* --- Serving --- */

static void serve_item(struct port *port, struct item item)
{
    struct sw *sw = port->sw;
    if (!item.held) {
        depart(port, item.data, item.length, item.at);
        return;
    }
    struct pl_queueing met = {
        .enqueued_at = (uint64_t)item.at,
        .dequeued_at = (uint64_t)sw->front->now,
        .packets_at_enqueue = item.before,
        .packets_at_dequeue = port->waiting.count,
    };
    sw->started = item.at;
    sw->program->dequeue(sw->state, item.held, &met);
}

/* Do what is due at a port, but not what this adds to it; returns when to come back. */
static double serve(struct front *front, struct port *port)
{
    for (uint32_t left = port->waiting.count; left > 0 && port->free_at <= front->now; left--)
        serve_item(port, pop(&port->waiting));
    while (port->leaving.count > 0 && first(&port->leaving)->at <= front->now) {
        struct item item = pop(&port->leaving);
        put_on_wire(front, port, item.data, item.length);
    }
    double next = port->waiting.count > 0 ? port->free_at : INFINITY;
    if (port->leaving.count > 0 && first(&port->leaving)->at < next)
        next = first(&port->leaving)->at;
    return next;
}

/* What egress makes of a frame may touch further ports, or the same one again, without end. */
static void serve_touched(struct front *front)
{
    for (uint32_t i = 0; i < MOST_COPIES && front->touched_count > 0; i++) {
        struct port *port = front->touched[--front->touched_count];
        port->touched = false;
        serve(front, port);
    }
}

static double serve_all(struct front *front)
{
    double next = INFINITY;
    for (uint32_t i = 0; i < front->port_count; i++) {
        double due = serve(front, front->ports[i]);
        next = due < next ? due : next;
    }
    serve_touched(front);
    flush(front);
    return next;
}

/* --- Receiving --- */

static uint32_t take_frames(struct front *front, struct port *port, uint32_t most)
{
    struct wire_frame frame;
    uint32_t taken = 0;
    for (; taken < most && wire_next(&port->in, &frame); taken++) {
        struct pl_frame received = { (uint8_t *)(uintptr_t)frame.data, frame.stored, frame.length };
        double now = look_at_clock(front);
        port->received++;
        port->sw->program->receive(port->sw->state, port->number, &received, (uint64_t)now);
        wire_done(&port->in);
        serve_touched(front);
    }
    return taken;
}

/* Past our capacity what comes first is refused, at the ports that are flooded. */
static uint32_t let_frames_in(struct front *front)
{
    uint32_t taken = 0;
    for (uint32_t i = 0; i < front->port_count && taken < ENTRY_TURNS; i++) {
        struct port *port = front->ports[front->next_entry];
        front->next_entry = (front->next_entry + 1) % front->port_count;
        if (!port->inner)
            taken += take_frames(front, port, ENTRY_BURST);
    }
    return taken;
}

static uint32_t take_all_frames(struct front *front)
{
    uint32_t taken = 0;
    for (uint32_t i = 0; i < front->port_count; i++)
        if (front->ports[i]->inner)
            taken += take_frames(front, front->ports[i], front->ports[i]->in.slots);
    return taken + let_frames_in(front);
}

/* --- The loop --- */

/* An interface that goes down leaves an error on its socket, which would wake us for ever. */
static void forget_error(int fd)
{
    int error;
    socklen_t size = sizeof error;
    getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size);
}

static bool control_waits(struct front *front, double timeout_us)
{
    struct epoll_event events[EVENTS];
    uint64_t ns = timeout_us > 0 ? (uint64_t)(timeout_us * 1e3) : 0;
    struct timespec timeout = { (time_t)(ns / 1000000000), (long)(ns % 1000000000) };
    int count = epoll_pwait2(front->epoll_fd, events, EVENTS, &timeout, NULL);
    bool asked = false;
    for (int i = 0; i < count; i++) {
        if (events[i].data.fd == front->control_fd)
            asked = true;
        else if (events[i].events & EPOLLERR)
            forget_error(events[i].data.fd);
    }
    front->looked = look_at_clock(front);
    return asked;
}

static int watch_control(struct front *front, int control_fd)
{
    struct epoll_event event = { .events = EPOLLIN, .data.fd = control_fd };
    if (front->control_fd == control_fd)
        return 0;
    if (front->control_fd >= 0)
        epoll_ctl(front->epoll_fd, EPOLL_CTL_DEL, front->control_fd, NULL);
    front->control_fd = control_fd;
    if (control_fd >= 0 && epoll_ctl(front->epoll_fd, EPOLL_CTL_ADD, control_fd, &event) != 0)
        return fail(front, "control descriptor %d: %s", control_fd, strerror(errno));
    return 0;
}

int front_run(struct front *front, int32_t control_fd)
{
    if (watch_control(front, control_fd) != 0)
        return -1;
    for (;;) {
        uint32_t taken = take_all_frames(front);
        look_at_clock(front);
        double left = serve_all(front) - front->now;
        left = left < LONGEST_SLEEP_US ? left : LONGEST_SLEEP_US;
        bool busy = taken > 0;
        if (busy && front->now - front->looked < LOOK_EVERY_US)
            continue;
        if (control_waits(front, busy ? 0 : left))
            return 0;
    }
}

/* --- Building and reading --- */

struct front *front_new(void)
{
    struct front *front = calloc(1, sizeof *front);
    if (!front)
        return NULL;
    front->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    front->control_fd = -1;
    front->sender = -1;
    front->start_us = clock_us();
    return front;
}

int front_add_switch(struct front *front, const struct pl_program *program, uint64_t seed,
                     struct pl_switch **made)
{
    uint32_t number = front->switch_count;
    struct sw **switches = realloc(front->switches, (number + 1) * sizeof *switches);
    struct sw *sw = calloc(1, sizeof *sw);
    if (program->abi != PL_ABI)
        fail(front, "program %s was compiled for another version of the contract", program->name);
    front->switches = switches ? switches : front->switches;
    if (!switches || !sw || program->abi != PL_ABI) {
        free(sw);
        return -1;
    }
    *sw = (struct sw){ .front = front, .program = program };
    sw->world = (struct pl_world){ .context = sw, .enqueue = enqueue, .transmit = transmit };
    sw->state = program->create(&sw->world, seed);
    if (!sw->state) {
        free(sw);
        return fail(front, "not enough memory for a switch");
    }
    front->switches[front->switch_count++] = sw;
    *made = sw->state;
    return (int)number;
}

static bool make_room(struct front *front)
{
    size_t bytes = (front->port_count + 1) * sizeof *front->ports;
    struct port **ports = realloc(front->ports, bytes);
    if (ports)
        front->ports = ports;
    struct port **touched = realloc(front->touched, bytes);
    if (touched)
        front->touched = touched;
    return ports && touched;
}

/* The one socket that all ports send through; the first port opens it. */
static int open_sender(struct front *front)
{
    if (front->sender < 0)
        front->sender = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
    return front->sender < 0 ? -1 : wire_open_sender(front->sender);
}

int front_add_port(struct front *front, uint32_t number, uint32_t port, int32_t fd,
                   uint32_t ifindex, uint32_t inner)
{
    struct sw *sw = front->switches[number];
    if (port >= PL_PORT_LIMIT || sw->ports[port])
        return fail(front, "port %u cannot be used, or is in use already", port);
    struct port *made = calloc(1, sizeof *made);
    if (!made || !make_room(front)) {
        free(made);
        return fail(front, "not enough memory for a port");
    }
    *made = (struct port){ .sw = sw, .number = port, .ifindex = ifindex, .inner = inner != 0 };
    struct epoll_event event = { .events = EPOLLIN, .data.fd = fd };
    if (open_sender(front) != 0 ||
        wire_open(&made->in, fd, ifindex, SLOT_BYTES, SLOTS, WIRE_WHOLE) != 0 ||
        epoll_ctl(front->epoll_fd, EPOLL_CTL_ADD, fd, &event) != 0) {
        fail(front, "packet socket: %s", strerror(errno));
        wire_close(&made->in);
        free(made);
        return -1;
    }
    sw->ports[port] = made;
    front->ports[front->port_count++] = made;
    return 0;
}

static struct port *port_at(const struct front *front, uint32_t number, uint32_t port)
{
    return front->switches[number]->ports[port];
}

void front_limit(struct front *front, uint32_t number, uint32_t port,
                 const struct front_limits *limits)
{
    port_at(front, number, port)->limits = *limits;
    port_at(front, number, port)->free_at = 0;
}

void front_count(struct front *front, uint32_t number, uint32_t port,
                 struct front_counts *counts)
{
    struct port *found = port_at(front, number, port);
    wire_count_lost(&found->in);
    *counts = (struct front_counts){
        .received = found->received,
        .sent = found->sent,
        .dropped = found->dropped,
        .overruns = found->in.lost,
        .waiting = found->waiting.count,
    };
}

uint64_t front_now(const struct front *front)
{
    return (uint64_t)(clock_us() - front->start_us);
}

uint64_t front_lost(const struct front *front)
{
    return front->lost;
}

static void free_queue(const struct port *port, struct queue *queue)
{
    while (queue->count > 0) {
        struct item item = pop(queue);
        free(item.data);
        if (item.held)
            port->sw->program->discard(port->sw->state, item.held);
    }
    free(queue->items);
}

static void free_port(struct port *port)
{
    free_queue(port, &port->waiting);
    free_queue(port, &port->leaving);
    wire_close(&port->in);
    free(port);
}

static void take_out(struct port **list, uint32_t *count, const struct port *port)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < *count; i++)
        if (list[i] != port)
            list[kept++] = list[i];
    *count = kept;
}

void front_remove_port(struct front *front, uint32_t number, uint32_t port)
{
    struct port *found = port_at(front, number, port);
    epoll_ctl(front->epoll_fd, EPOLL_CTL_DEL, found->in.fd, NULL);
    take_out(front->ports, &front->port_count, found);
    take_out(front->touched, &front->touched_count, found);
    front->switches[number]->ports[port] = NULL;
    front->next_entry = 0;
    free_port(found);
}

void front_free(struct front *front)
{
    for (uint32_t i = 0; i < front->port_count; i++)
        free_port(front->ports[i]);
    for (uint32_t i = 0; i < front->switch_count; i++) {
        front->switches[i]->program->destroy(front->switches[i]->state);
        free(front->switches[i]);
    }
    if (front->epoll_fd >= 0)
        close(front->epoll_fd);
    if (front->sender >= 0)
        close(front->sender);
    free(front->ports);
    free(front->touched);
    free(front->switches);
    free(front);
}

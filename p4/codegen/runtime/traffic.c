#include "traffic.h"
#include "memory.h"

struct pl_held {
    struct pl_held *next;
    uint8_t *frame;
    uint32_t frame_bytes;
    uint32_t port;
    uint64_t packet[]; /* a struct packet of the program */
};

static const struct pl_stages *stages_of(const struct pl_packet *packet)
{
    return &packet->sw->layout->stages;
}

static struct pl_packet *held_packet(struct pl_held *held)
{
    return (struct pl_packet *)(void *)held->packet;
}

/* A held frame with room for `bytes`, from the spare ones if possible. */
static struct pl_held *held_take(struct pl_switch *sw, uint32_t bytes)
{
    struct pl_held *held = sw->spare;
    if (held) {
        sw->spare = held->next;
    } else {
        held = calloc(1, sizeof(*held) + sw->layout->stages.packet_bytes);
    }
    if (!held)
        return NULL;
    if (bytes > held->frame_bytes || !held->frame) {
        if (!pl_resize(&held->frame, bytes)) {
            pl_discard(sw, held);
            return NULL;
        }
        held->frame_bytes = bytes;
    }
    return held;
}

void pl_discard(struct pl_switch *sw, struct pl_held *held)
{
    held->next = sw->spare;
    sw->spare = held;
}

void pl_held_free_spare(struct pl_switch *sw)
{
    while (sw->spare) {
        struct pl_held *next = sw->spare->next;
        free(sw->spare->frame);
        free(sw->spare);
        sw->spare = next;
    }
}

static bool scratch_room(struct pl_switch *sw, uint32_t bytes)
{
    if (bytes <= sw->scratch_bytes)
        return true;
    if (!pl_resize(&sw->scratch, bytes))
        return false;
    sw->scratch_bytes = bytes;
    return true;
}

static void truncate_frame(const struct pl_packet *packet, struct pl_frame *frame)
{
    if (!(packet->requests & PL_TRUNCATE))
        return;
    if (frame->length > packet->truncate_to)
        frame->length = packet->truncate_to;
    if (frame->stored > frame->length)
        frame->stored = frame->length;
}

bool pl_build_frame(struct pl_packet *packet, struct pl_frame *frame)
{
    struct pl_switch *sw = packet->sw;
    uint32_t payload = packet->stored - packet->parsed;
    if (!scratch_room(sw, stages_of(packet)->head_bytes + payload))
        return false;
    uint32_t head = stages_of(packet)->deparse(packet, sw->scratch);
    if (packet->requests & PL_FAILED)
        return false;
    if (head > packet->parsed + PL_ROOM) {
        pl_fail(packet, &sw->faults.header_room);
        return false;
    }
    frame->stored = head + payload;
    frame->length = head + packet->length - packet->parsed;
    if (packet->in_place && head <= packet->parsed) {
        frame->data = packet->data + packet->parsed - head;
        memcpy(frame->data, sw->scratch, head);
    } else {
        frame->data = sw->scratch;
        memcpy(sw->scratch + head, packet->data + packet->parsed, payload);
    }
    truncate_frame(packet, frame);
    return true;
}

static void drop(struct pl_packet *packet)
{
    packet->sw->faults.dropped++;
}

void pl_send_final(struct pl_packet *packet, uint32_t port)
{
    const struct pl_world *world = &packet->sw->world;
    struct pl_frame frame;
    if (pl_build_frame(packet, &frame))
        world->enqueue(world->context, port, packet->standard.priority, &frame, NULL);
}

void pl_hold(struct pl_packet *packet, uint32_t port)
{
    struct pl_switch *sw = packet->sw;
    struct pl_held *held = held_take(sw, packet->stored);
    if (!held) {
        drop(packet);
        return;
    }
    struct pl_packet *copy = held_packet(held);
    memcpy(copy, packet, stages_of(packet)->packet_bytes);
    memcpy(held->frame, packet->data, packet->stored);
    copy->data = held->frame;
    copy->in_place = true;
    held->port = port;
    struct pl_frame frame = {NULL, 0, packet->size};
    sw->world.enqueue(sw->world.context, port, packet->standard.priority, &frame, held);
}

static void to_egress(struct pl_packet *packet, uint32_t port)
{
    if (packet->sw->layout->program->pure_egress) {
        pl_send_final(packet, port);
    } else {
        pl_hold(packet, port);
    }
}

/* Copies never write where the original is, and share its budget. */
static void copy_packet(struct pl_packet *copy, const struct pl_packet *packet, uint32_t share)
{
    memcpy(copy, packet, stages_of(packet)->packet_bytes);
    copy->requests = 0;
    copy->in_place = false;
    copy->budget = packet->budget / share;
}

static void multicast(struct pl_packet *packet, uint32_t number)
{
    const struct pl_group *group = pl_group_find(packet->sw, number);
    uint64_t room[stages_of(packet)->packet_bytes / 8 + 1];
    struct pl_packet *copy = (struct pl_packet *)(void *)room;
    for (uint32_t i = 0; group && i < group->count; i++) {
        copy_packet(copy, packet, group->count);
        copy->standard.egress_rid = group->replicas[i].instance;
        to_egress(copy, group->replicas[i].port);
    }
    if (!group || group->count == 0)
        drop(packet);
}

static void send_clone(struct pl_packet *copy, const struct pl_mirror *mirror)
{
    int32_t port = mirror->port, group = mirror->group;
    if (group != PL_NONE)
        multicast(copy, (uint32_t)group);
    if (port != PL_NONE)
        to_egress(copy, (uint32_t)port);
}

/* The session that a packet is to be cloned for, if it exists and the budget allows. */
static const struct pl_mirror *clone_session(struct pl_packet *packet)
{
    if (!(packet->requests & PL_CLONE))
        return NULL;
    packet->requests &= (uint16_t)~PL_CLONE;
    const struct pl_mirror *mirror = pl_mirror_find(packet->sw, packet->session);
    if (mirror && packet->budget < 2) {
        packet->sw->faults.recursion++;
        return NULL;
    }
    return mirror;
}

/* Clone the frame as it came in: it is parsed anew. */
static void clone_ingress(struct pl_packet *packet)
{
    const struct pl_mirror *mirror = clone_session(packet);
    uint64_t room[stages_of(packet)->packet_bytes / 8 + 1];
    struct pl_packet *copy = (struct pl_packet *)(void *)room;
    if (!mirror)
        return;
    packet->budget /= 2;
    copy_packet(copy, packet, 1);
    copy->parsed = 0;
    copy->size = copy->length;
    stages_of(packet)->keep(copy, packet, PL_NO_LIST);
    copy->standard.ingress_port = packet->standard.ingress_port;
    stages_of(packet)->parse(copy);
    stages_of(packet)->keep(copy, packet, packet->clone_list);
    copy->standard.instance_type = PL_INGRESS_CLONE;
    packet->in_place = false;
    send_clone(copy, mirror);
}

static void clone_egress(struct pl_packet *packet)
{
    const struct pl_mirror *mirror = clone_session(packet);
    uint64_t room[stages_of(packet)->packet_bytes / 8 + 1];
    struct pl_packet *copy = (struct pl_packet *)(void *)room;
    if (!mirror)
        return;
    packet->budget /= 2;
    copy_packet(copy, packet, 1);
    stages_of(packet)->keep(copy, packet, packet->clone_list);
    copy->standard.instance_type = PL_EGRESS_CLONE;
    send_clone(copy, mirror);
}

/* Start `packet` again at the parser with only what list number `list` keeps of its metadata. */
static bool run_again(struct pl_packet *packet, uint32_t list, uint32_t instance)
{
    uint64_t room[stages_of(packet)->packet_bytes / 8 + 1];
    struct pl_packet *before = (struct pl_packet *)(void *)room;
    if (packet->budget == 0) {
        pl_fail(packet, &packet->sw->faults.recursion);
        return false;
    }
    memcpy(before, packet, stages_of(packet)->packet_bytes);
    packet->budget--;
    packet->requests = 0;
    packet->parsed = 0;
    packet->size = packet->length;
    stages_of(packet)->keep(packet, before, list);
    packet->standard.instance_type = instance;
    packet->standard.packet_length = packet->length;
    stages_of(packet)->parse(packet);
    stages_of(packet)->ingress(packet);
    return true;
}

void pl_after_ingress(struct pl_packet *packet)
{
    for (;;) {
        if (packet->requests & PL_FAILED)
            return;
        packet->requests &= (uint16_t)~PL_EXITED;
        clone_ingress(packet);
        if (packet->requests & PL_DIGEST) {
            packet->requests &= (uint16_t)~PL_DIGEST;
            stages_of(packet)->digest(packet, packet->digest_list);
        }
        if (!(packet->requests & PL_RESUBMIT))
            break;
        if (!run_again(packet, packet->resubmit_list, PL_RESUBMITTED))
            return;
    }
    if (packet->standard.mcast_grp) {
        packet->standard.instance_type = PL_REPLICATED;
        multicast(packet, packet->standard.mcast_grp);
    } else if (packet->standard.egress_spec == PL_DROP_PORT) {
        drop(packet);
    } else {
        packet->standard.instance_type = PL_NORMAL;
        to_egress(packet, packet->standard.egress_spec);
    }
}

/* The final bytes of a packet enter the switch again, in memory of their own. */
static void recirculate(struct pl_packet *packet, const struct pl_frame *frame)
{
    struct pl_switch *sw = packet->sw;
    struct pl_held *held = held_take(sw, frame->stored);
    if (!held) {
        drop(packet);
        return;
    }
    struct pl_packet *again = held_packet(held);
    memcpy(again, packet, stages_of(packet)->packet_bytes);
    memcpy(held->frame, frame->data, frame->stored);
    again->data = held->frame;
    again->stored = frame->stored;
    again->length = frame->length;
    again->in_place = true;
    if (run_again(again, packet->recirculate_list, PL_RECIRCULATED))
        pl_after_ingress(again);
    pl_discard(sw, held);
}

static void enter_egress(struct pl_packet *packet, uint32_t port,
                         const struct pl_queueing *queueing)
{
    struct pl_standard *standard = &packet->standard;
    standard->egress_port = (uint16_t)port;
    standard->egress_spec = 0;
    standard->packet_length = packet->size;
    standard->egress_global_timestamp = queueing->dequeued_at & pl_mask(48);
    standard->enq_timestamp = (uint32_t)queueing->enqueued_at;
    standard->deq_timedelta = (uint32_t)(queueing->dequeued_at - queueing->enqueued_at);
    standard->enq_qdepth = queueing->packets_at_enqueue & (uint32_t)pl_mask(19);
    standard->deq_qdepth = queueing->packets_at_dequeue & (uint32_t)pl_mask(19);
    standard->qid = standard->priority;
    packet->sw->now = queueing->dequeued_at;
    stages_of(packet)->egress(packet);
}

static void after_egress(struct pl_packet *packet, uint32_t port)
{
    const struct pl_world *world = &packet->sw->world;
    struct pl_frame frame;
    if (packet->requests & PL_FAILED)
        return;
    packet->requests &= (uint16_t)~PL_EXITED;
    clone_egress(packet);
    if (packet->standard.egress_spec == PL_DROP_PORT) {
        drop(packet);
    } else if (!pl_build_frame(packet, &frame)) {
        return;
    } else if (packet->requests & PL_RECIRCULATE) {
        recirculate(packet, &frame);
    } else {
        world->transmit(world->context, port, &frame);
    }
}

void pl_dequeue(struct pl_switch *sw, struct pl_held *held, const struct pl_queueing *queueing)
{
    struct pl_packet *packet = held_packet(held);
    enter_egress(packet, held->port, queueing);
    after_egress(packet, held->port);
    pl_discard(sw, held);
}

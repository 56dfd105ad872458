#ifndef TRAFFIC_H
#define TRAFFIC_H
#include "packet.h"

/* v1model's traffic manager: what happens to a frame between and after the controls. */

/* Start a packet that came in as `frame`; the program clears its own part. */
static inline void pl_packet_begin(struct pl_packet *packet, struct pl_switch *sw, uint32_t port,
                                   const struct pl_frame *frame, uint64_t now)
{
    packet->sw = sw;
    packet->data = frame->data;
    packet->stored = frame->stored;
    packet->length = frame->length;
    packet->parsed = 0;
    packet->size = frame->length;
    packet->budget = PL_BUDGET;
    packet->requests = 0;
    packet->in_place = true;
    packet->standard = (struct pl_standard){
        .ingress_global_timestamp = now & pl_mask(48),
        .packet_length = frame->length,
        .ingress_port = port % PL_PORT_LIMIT,
    };
    sw->now = now;
}

/* Whether nothing but forwarding was asked for. */
static inline bool pl_plain(const struct pl_packet *packet)
{
    return packet->requests == 0 && packet->standard.mcast_grp == 0;
}

/* The frame's final bytes: true if there are any. They stay valid until the next frame. */
bool pl_build_frame(struct pl_packet *packet, struct pl_frame *frame);

/* Send a packet of a program with pure egress to `port`. */
void pl_send_final(struct pl_packet *packet, uint32_t port);

/* Send a packet whose headers were rewritten where they came in. */
static inline void pl_send_in_place(struct pl_packet *packet)
{
    const struct pl_world *world = &packet->sw->world;
    struct pl_frame frame = {packet->data, packet->stored, packet->length};
    if (packet->requests & PL_FAILED)
        return;
    world->enqueue(world->context, packet->standard.egress_spec, packet->standard.priority, &frame,
                   NULL);
}

/* Keep a packet until its port serves it. */
void pl_hold(struct pl_packet *packet, uint32_t port);

/* All that may follow ingress. */
void pl_after_ingress(struct pl_packet *packet);

void pl_dequeue(struct pl_switch *sw, struct pl_held *held, const struct pl_queueing *queueing);
void pl_discard(struct pl_switch *sw, struct pl_held *held);
void pl_held_free_spare(struct pl_switch *sw);

#endif

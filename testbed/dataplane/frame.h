#ifndef FRAME_H
#define FRAME_H
#include "core.h"

/* RoCEv2 frames as docs/architecture.md lays them out: Ethernet, IPv4, UDP, BTH, for ACKs AETH. */

enum {
    FRAME_DATA_HEADERS = 54,
    FRAME_ACK_LENGTH = 62,      /* 54 + AETH 4 + ICRC 4 */
    FRAME_SACK_LENGTH = 70,     /* and a bitmap of 64 packets before the ICRC */
    FRAME_TRIMMED_LENGTH = 60,  /* 64 B with FCS: headers and ICRC */
    FRAME_PSN_MASK = 0xffffff
};

struct frame_address {
    uint64_t mac;
    uint32_t ipv4;
};

/* What a host reads from a frame. */
struct frame_view {
    uint32_t destination;  /* IPv4 */
    uint32_t flow;
    uint32_t psn;
    uint16_t entropy;
    bool congested;        /* data: marked in the IPv4 header; ACK: the echo of that mark */
    bool nack;             /* an ACK that says no */
    bool cut;              /* because the packet came as its header only */
    uint32_t cumulative;   /* of an extended ACK: 24 bits of the first packet not yet there */
    uint64_t bitmap;       /* packets from that on, or the 64 up to `psn`, the first lowest */
};

/* Data, ACK, trimmed or other, by the headers; sets packet->class. */
void frame_classify(struct packet *packet);

/* Write a data frame of `length` bytes (without FCS). */
void frame_data(struct packet *packet, uint32_t length, struct frame_address from,
                struct frame_address to, uint32_t flow, uint32_t psn, uint16_t entropy);

/* What an ACK says besides the number and the mark of the packet that it answers. */
struct frame_answer {
    uint16_t entropy;
    bool nack;             /* sequence error, or, if `cut`, no payload */
    bool cut;
    bool extended;         /* with the two that follow */
    uint32_t cumulative;
    uint64_t bitmap;
};

/*
 * Cut a data frame to its headers: 64 B with FCS, with a DSCP that says so. It counts as marked
 * unless that happened at the last hop, which no other path avoids.
 */
void frame_trim(struct packet *packet, bool last_hop);

/* Whether a frame goes before data: ACKs, and what trimming leaves and tells, if so set. */
bool frame_is_urgent(const struct packet *packet, const struct dp_settings *settings);

/* Turn a data frame, or what is left of one, into its ACK in place. */
void frame_acknowledge(struct packet *packet, const struct frame_answer *answer);

struct frame_view frame_read(const struct packet *packet);

/* Set congestion experienced if the frame's transport is capable of it; false if it is not. */
bool frame_mark(struct packet *packet);

#endif

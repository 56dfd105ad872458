#ifndef FRAME_H
#define FRAME_H
#include "core.h"

/* RoCEv2 frames as docs/architecture.md lays them out: Ethernet, IPv4, UDP, BTH, for ACKs AETH. */

enum {
    FRAME_DATA_HEADERS = 54,
    FRAME_ACK_LENGTH = 62,      /* 54 + AETH 4 + ICRC 4 */
    FRAME_SACK_LENGTH = 70,     /* and a bitmap of 64 packets before the ICRC */
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
    uint32_t cumulative;   /* of an extended ACK: 24 bits of the first packet not yet there */
    uint64_t bitmap;       /* packets from that on, or the 64 up to `psn`, the first lowest */
};

/* Data, ACK or other, by the headers; sets packet->class. */
void frame_classify(struct packet *packet);

/* Write a data frame of `length` bytes (without FCS). */
void frame_data(struct packet *packet, uint32_t length, struct frame_address from,
                struct frame_address to, uint32_t flow, uint32_t psn, uint16_t entropy);

/* What an ACK says besides the number and the mark of the packet that it answers. */
struct frame_answer {
    uint16_t entropy;
    bool nack;
    bool extended;         /* with the two that follow */
    uint32_t cumulative;
    uint64_t bitmap;
};

/* Turn a data frame into its ACK in place. */
void frame_acknowledge(struct packet *packet, const struct frame_answer *answer);

struct frame_view frame_read(const struct packet *packet);

/* Set congestion experienced if the frame's transport is capable of it; false if it is not. */
bool frame_mark(struct packet *packet);

#endif

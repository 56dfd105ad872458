#ifndef CORE_H
#define CORE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arena.h"
#include "dataplane.h"
#include "fifo.h"
#include "hosts/alarms.h"
#include "hosts/congestion.h"
#include "hosts/seen.h"
#include "pipeline.h"
#include "timers.h"

/* What all parts of the event core share. Times are picoseconds of paper time throughout. */

enum { NO_NODE = UINT32_MAX, LINE_BYTES = 64 };

/* --- Frames --- */

enum frame_class { FRAME_OTHER, FRAME_DATA, FRAME_ACK, FRAME_TRIMMED, FRAME_CLASSES };

enum {
    PACKET_BLOCK = 128,
    PACKET_ROOM = 120,             /* header bytes in a block */
    PACKET_LARGE = 1 << 17,        /* block of a frame that is kept whole */
    LARGE_ROOM = PACKET_LARGE - 8,
    LARGE_FLAG = 1 << 30           /* set in the numbers of large blocks */
};

/* 8 + 54 bytes of RoCEv2 data headers fit in one cache line. */
struct packet {
    uint32_t length;       /* of the frame on the wire, without FCS */
    uint32_t stored : 24;  /* bytes at `data`; the rest is payload that reads as zero */
    uint32_t class : 8;
    uint8_t data[];
};

/* --- Who does the work: one worker a thread --- */

struct arrival {
    uint64_t time;
    uint32_t packet;
    uint32_t port;
};

struct batch {
    struct arrival *arrivals;
    struct arrival *sorted;
    uint32_t *buckets;
    uint32_t count;
    uint32_t room;
};

struct worker {
    _Alignas(LINE_BYTES) struct dp *dp;
    struct depot packets;
    struct depot large;
    struct depot chunks;
    struct batch batch;
    uint64_t next_event;       /* earliest event after the present window that it knows of */
    uint64_t finished;         /* flows */
    uint64_t last_movement;    /* when a frame last came to or left a host */
    struct dp_totals totals;
    struct dp_sample *samples;
    uint64_t sample_count;
    uint64_t sample_room;
    struct dp_arrivals *arrivals;
    uint64_t arrival_room;
    struct dp_hop *hops;       /* of a trace */
    uint64_t hop_count;
    uint64_t hop_room;
    struct dp_captured *captured;
    uint64_t captured_count;
    uint64_t captured_room;
    unsigned char *headers;    /* of captured frames, one after the other */
    uint64_t header_bytes;
    uint64_t header_room;
    bool failed;               /* no memory for a sample, a hop or a captured frame */
};

/* --- Ports --- */

/* A frame until its service starts, where that is not known when it is queued: see waiting.h. */
struct waiting_frame {
    struct pl_held *held;    /* the program's; NULL: it is finished, and `packet` */
    uint64_t enqueued_at;
    uint32_t packet;
    uint32_t bytes;
    uint32_t packets_before;
    uint8_t class;
    bool urgent;             /* of the first band */
    bool cut;                /* it leaves as its header */
};

struct band {
    struct waiting_frame *frames;
    uint32_t head;
    uint32_t count;
    uint32_t room;  /* a power of two */
};

/* What a link is like: few links differ, and a port knows the number of its own. */
struct speed {
    uint64_t scale;          /* picoseconds per byte, 24 bits of fraction */
    uint64_t gap_ps;
    uint64_t delay_ps;
};

enum { SPEEDS = 256 };

enum { BAND_URGENT, BAND_OTHERS, BANDS };

struct port {
    /* What every frame touches: two cache lines. */
    _Alignas(LINE_BYTES) struct cursor tail;  /* where the next frame is written */
    struct cursor serving;   /* first frame whose last bit has not left */
    uint64_t free_at;        /* when the link is free: last departure and gap */
    uint64_t queue_bytes;
    uint64_t recent_bytes;   /* maxima since the last sample */
    uint32_t recent_packets;
    uint32_t queue_packets;
    bool started;            /* the start of service at `serving` was looked at */
    bool up;
    bool to_host;
    bool urgent;             /* what is served is of the first band */
    bool captured;           /* what leaves is kept: see capture.h */
    uint8_t speed;           /* of its link, a number in dp->speeds */
    uint64_t urgent_bytes;   /* of queue_bytes, those of the first band; 0 where there is one */
    double area_bytes;       /* sum over frames of bytes x (departure - arrival): no time but a */
    double area_packets;     /* mean in the making; 128 bits would take a third cache line */
    struct {
        uint64_t packets;
        uint64_t bytes;
    } sent[FRAME_CLASSES];   /* but for the last */

    /* The rest. */
    uint64_t trims;          /* frames cut to their headers */
    uint64_t random;
    uint64_t drops;
    uint64_t dropped[FRAME_CLASSES];
    uint64_t marks;
    uint64_t max_bytes;
    uint64_t sampled_bytes;
    uint32_t max_packets;
    uint32_t sampled_packets;
    uint32_t peer;           /* port number over all nodes, NO_NODE if none */
    uint32_t node;           /* whose port it is */
};

/* --- Nodes --- */

struct sw {
    struct worker *worker;   /* whose turn it is */
    const struct pl_program *program;
    struct pl_switch *state;
    struct pl_world world;
    struct dp *dp;
    struct port *ports;
    struct cursor *inputs;
    uint64_t now;
    struct packet *packet;   /* the frame that the program works on */
    uint32_t packet_number;
    uint32_t outputs;        /* how often the program has sent it on */
    bool kept;               /* a port has the packet */
    uint32_t node;
    uint32_t port_count;
    struct waiting_frame service;  /* the one that waited and is served now */
    uint32_t serving;        /* and its port */
    struct band *waiting;    /* BANDS per port; NULL if frames do not wait: see waiting.h */
    struct timers services;  /* per port: when the next waiting frame's service starts */
};

struct sender {
    uint64_t start;
    uint64_t finish;
    uint64_t bytes;
    uint32_t source;
    uint32_t destination;
    uint32_t packets;
    uint32_t sent;           /* packets that have left for the first time */
    uint32_t acknowledged;   /* packets, each once */
    struct seen acked;       /* which ones */
    uint32_t path_first;
    uint32_t path_count;
    uint32_t pair;
    uint32_t subflows;
    uint32_t entropy;
};

struct receiver {
    uint64_t delivered;
    struct seen seen;        /* which packets have arrived */
    uint32_t received;       /* how many, each once */
    uint32_t duplicates;     /* came again */
    uint32_t marks;          /* came marked */
    uint32_t first_waiting;  /* flows that wait for this one: a run in dp->waiting */
};

struct ack_queue {
    uint32_t *packets;
    uint32_t head;
    uint32_t count;
    uint32_t room;  /* a power of two */
};

struct host {
    struct port *port;
    struct cursor *input;
    uint64_t now;            /* last event */
    uint64_t due;            /* no data frame before this time */
    uint64_t random;
    uint32_t *active;        /* ring of flows that have frames to send */
    uint32_t active_head;
    uint32_t active_count;
    uint32_t flow_count;     /* room of the ring */
    uint32_t *starts;        /* flows that begin at a known time: a heap, the earliest first */
    uint32_t start_count;
    uint32_t node;
    struct ack_queue acks;
    struct alarms alarms;    /* of flows with timers or pace */
    uint64_t arrivals;       /* frames that chance could have lost */
    uint32_t ipv4;
    bool sent_data;          /* the last frame was data */
    uint64_t mac;
};

/* The queues while hosts send: areas by port, frozen when the last of them has sent all. */
struct sending {
    uint64_t flow;           /* all flows before it have sent all */
    uint64_t over_at;
    double *area_bytes;      /* NULL until then */
    double *area_packets;
};

struct entropy;
struct recovery;
struct real_front;
struct watch;

struct dp {
    struct dp_settings settings;
    const struct entropy *entropy;
    const struct congestion *congestion;
    const struct recovery *recovery;
    struct network network;      /* what congestion control knows of it */
    struct speed speeds[SPEEDS]; /* the first one is that of the settings */
    uint32_t speed_count;
    uint64_t stretch;            /* 1 / load, 32 bits of fraction */
    uint64_t loss_threshold;     /* of 2^64: a frame is lost when its number is below */
    uint64_t lookahead_ps;
    uint64_t longest_hop_ps;     /* of a full frame over the slowest link */
    uint64_t changed_at;         /* the last deadline, at which routes may have changed */
    uint32_t nodes;
    uint32_t hosts;
    uint32_t machines;           /* host i is a NIC of machine i % machines */
    uint32_t switch_count;
    uint32_t port_count;
    uint32_t *first_port;        /* per node, and one past the last */
    struct port *ports;
    struct cursor *inputs;       /* per port: what the peer sends */
    struct host *host;
    struct sw *sw;
    struct sw **switch_of;       /* per node, NULL where there is none */
    uint64_t flow_count;
    struct sender *senders;
    struct receiver *receivers;
    uint32_t *waiting;           /* flows, DP_ACKNOWLEDGED set in those that wait for that */
    uint32_t *missing;           /* per flow: how many flows it still waits for */
    uint64_t *start_at;          /* per flow: not before this time */
    uint64_t *delay;             /* per flow: nor before so long after what it waits for */
    uint32_t *flow_slots;        /* storage of the hosts' rings and heaps */
    uint16_t *paths;
    uint32_t *routes;            /* per flow: shortest paths between its hosts */
    void *entropy_state;
    void *recovery_state;
    unsigned char *transports;   /* per flow, so many bytes; NULL: hosts keep no books */
    size_t transport_bytes;
    struct watch *watches;       /* per flow; NULL: none is watched */
    uint64_t now;
    uint64_t next_sample;
    struct arena packets;
    struct arena large;
    struct arena chunks;
    struct sending sending;
    struct worker *workers;      /* DP_THREADS of them */
    uint32_t active_workers;     /* how many have ever worked */
    struct real_front *real;
    bool traced;                 /* every hop is kept */
    bool watched;                /* traced, or on the real clock */
    char message[256];
};

enum { DP_THREADS = 64 };

static inline struct packet *packet_at(const struct dp *dp, uint32_t number)
{
    if (number & LARGE_FLAG)
        return arena_block(&dp->large, number & ~(uint32_t)LARGE_FLAG);
    return arena_block(&dp->packets, number);
}

static inline uint32_t packet_room(uint32_t number)
{
    return number & LARGE_FLAG ? LARGE_ROOM : PACKET_ROOM;
}

static inline uint32_t packet_new(struct worker *worker, uint32_t stored)
{
    if (stored <= PACKET_ROOM)
        return depot_take(&worker->packets);
    return depot_take(&worker->large) | LARGE_FLAG;
}

static inline void packet_free(struct worker *worker, uint32_t number)
{
    if (number & LARGE_FLAG)
        depot_give(&worker->large, number & ~(uint32_t)LARGE_FLAG);
    else
        depot_give(&worker->packets, number);
}

static inline uint32_t machine_of(const struct dp *dp, uint32_t host)
{
    return host % dp->machines;
}

static inline const struct speed *speed_of(const struct dp *dp, const struct port *port)
{
    return &dp->speeds[port->speed];
}

static inline uint64_t serialisation(const struct speed *speed, uint32_t bytes)
{
    return (bytes * speed->scale + (1 << 23)) >> 24;
}

/* The same for any number of bytes. */
static inline uint64_t serialisation_long(const struct speed *speed, uint64_t bytes)
{
    return (uint64_t)(((unsigned __int128)bytes * speed->scale + (1 << 23)) >> 24);
}

#endif

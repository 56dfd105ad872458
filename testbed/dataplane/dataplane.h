#ifndef DATAPLANE_H
#define DATAPLANE_H
#include <stddef.h>
#include <stdint.h>
#pragma GCC visibility push(default)

/*
 * The event core, as Python sees it: ports, links, switches and hosts under a virtual clock
 * (one call runs a whole fabric) or under the real clock (the same ports on packet sockets).
 *
 * Times are picoseconds of paper time, sizes bytes on the wire with FCS, without the gap between
 * frames. Nodes are numbered as in the topology: hosts first. A switch has ports 1..ports-1, port 0
 * leads nowhere; a host has port 0 only. Calls that can fail return a negative number and leave a
 * sentence for dp_error.
 *
 * Python reads this file too: between the guard lines it holds only what cffi's parser accepts.
 */

enum {
    DP_ABI = 6,          /* bumped with every change of this file */
    DP_PARAMETERS = 16,  /* most parameters that an algorithm of hosts has */
    DP_CONSTANTS = 16    /* most constants that one has */
};

struct pl_program; /* see p4/codegen/pipeline.h */
struct pl_switch;
struct dp;

/* What is the same everywhere in one network. */
struct dp_settings {
    uint64_t seed;
    uint64_t tick_ps;             /* paper time per unit of the programs' timestamps */
    uint64_t delay_ps;            /* of every link that dp_speeds does not name */
    uint64_t sample_ps;           /* interval of the queue time series; 0: none */
    uint64_t buffer_bytes;        /* limit of each queue; 0: unlimited */
    uint64_t ecn_bytes;           /* a frame that leaves a longer queue is marked; 0: never */
    double picoseconds_per_byte;  /* likewise */
    double load;                  /* pace of data at each host, as a share of the line rate */
    uint32_t payload_bytes;       /* of a full data frame */
    uint32_t header_bytes;        /* of a data frame, FCS included; at least 62 */
    uint32_t ack_bytes;           /* what a port charges for an ACK */
    uint32_t gap_bytes;           /* preamble and gap between frames */
    uint32_t acks;                /* 1: one ACK for each data frame */
    uint32_t trim;                /* 1: full ports of switches cut data frames to their headers */
    uint32_t ack_priority;        /* 1: ACKs go before data, at hosts and at switches */
    uint64_t shared_bytes;        /* buffer that all ports of a switch share; 0: none */
    double shared_alpha;          /* a queue may have so many times what is left of it */
    uint32_t hops;                /* links between the farthest hosts, one way */
    uint64_t rtt_ps;              /* of a data frame and its ACK between them, without queues */
    uint32_t planes;              /* NICs of a machine: its hosts are hosts / planes apart */
    double loss;                  /* share of frames that are lost on their last link */
    uint32_t entropy;             /* of the hosts: numbers and parameters in the order of */
    uint32_t congestion;          /* testbed/hosts.py, where they have names and defaults */
    uint32_t recovery;
    double entropy_parameters[DP_PARAMETERS];
    double congestion_parameters[DP_PARAMETERS];
    double recovery_parameters[DP_PARAMETERS];
};

/* The constants that congestion control derives from the settings; returns their number. */
struct dp_constant {
    const char *name;
    double value;
};
uint32_t dp_constants(const struct dp_settings *settings, struct dp_constant *constants);

/* --- Building: once, in this order. --- */

/* `ports` has each node's number of ports (1 for a host); the first `hosts` nodes are hosts. */
struct dp *dp_new(const struct dp_settings *settings, uint32_t nodes, uint32_t hosts,
                  const uint32_t *ports);
void dp_free(struct dp *dp);
const char *dp_error(const struct dp *dp);

/* Addresses of all hosts, in host order (numbers in host byte order, MAC in the low 48 bits). */
void dp_hosts(struct dp *dp, const uint32_t *ipv4, const uint64_t *mac);

/* Make `count` switches of one program; `made` gets them, to be configured through the program. */
int dp_switches(struct dp *dp, const struct pl_program *program, uint32_t count,
                const uint32_t *nodes, const uint64_t *seeds, struct pl_switch **made);

/* How fast a link is, at the port of each of its ends, before the link is made. */
struct dp_speed {
    uint32_t node;
    uint32_t port;
    double picoseconds_per_byte;
    uint64_t delay_ps;
};
int dp_speeds(struct dp *dp, uint64_t count, const struct dp_speed *speeds);

/* A cable between two ports of this network. */
struct dp_link {
    uint32_t node;
    uint32_t port;
    uint32_t peer;
    uint32_t peer_port;
};
int dp_links(struct dp *dp, uint64_t count, const struct dp_link *links);

/*
 * Messages, and computations of hosts: a flow without bytes, from a host to itself. A flow's number
 * is its place. It waits for any number of flows before it in the list: for one that ends at its
 * source to be delivered, for one that comes from there to be sent (or, with DP_ACKNOWLEDGED, to be
 * acknowledged; without ACKs that is the same). Its source is any NIC of the machine. It begins
 * `delay_ps` after the last of them, or after time 0, and not before `start_ps`. A computation has
 * ended when it begins.
 */
enum { DP_ACKNOWLEDGED = 1 << 30 };
struct dp_flow {
    uint64_t bytes;
    uint64_t start_ps;
    uint64_t delay_ps;
    uint32_t source;
    uint32_t destination;
    uint32_t after_first;  /* the flows it waits for, each with its flag: a run of `after` */
    uint32_t after_count;
    uint32_t path_first;   /* its path ids, for entropies that choose paths: a run of `paths` */
    uint32_t path_count;
    uint32_t pair;         /* equal for flows of the same two hosts in the same direction */
    uint32_t subflows;     /* pieces of equal size, one packet of each in turn; at least 1 */
    uint32_t routes;       /* shortest paths between its hosts, for recovery that counts them */
};
struct dp_flow_lists {
    uint64_t after_entries;
    uint64_t path_entries;
    const uint32_t *after;
    const uint16_t *paths;
};
int dp_flows(struct dp *dp, uint64_t count, const struct dp_flow *flows,
             const struct dp_flow_lists *lists);

/* --- The real clock: sockets instead of cables. --- */

/*
 * A port on an interface: it receives on an AF_PACKET socket of its own, made with protocol 0, and
 * sends through any of that namespace, at the least cost through one that receives nothing. Frames
 * at ports of a greater rank are taken first: they are nearer to their destination. The caller
 * closes the sockets after dp_free.
 */
struct dp_wire {
    uint32_t node;
    uint32_t port;
    int32_t receiver;
    int32_t sender;
    uint32_t ifindex;
    uint32_t rank;
};
int dp_wires(struct dp *dp, uint64_t count, const struct dp_wire *wires);

/* --- Running: may be called again after every result but done and failed. --- */

enum {
    DP_FAILED = -1,
    DP_DONE = 0,      /* all flows have finished */
    DP_DEADLINE = 1,  /* the given time is reached */
    DP_STUCK = 2,     /* nothing moves, and flows wait; dp_error names one of them */
    DP_BUDGET = 3,    /* the given wall time is used up */
    DP_CONTROL = 4    /* the control descriptor is readable */
};

/* Run the whole fabric in virtual time up to `deadline_ps`, for at most `budget_ms` (0: any). */
int dp_run_virtual(struct dp *dp, uint64_t deadline_ps, uint32_t threads, uint32_t budget_ms);

struct dp_real {
    uint64_t start_ns;      /* CLOCK_MONOTONIC at paper time 0 */
    double dilation;        /* real time over paper time */
    uint64_t deadline_ps;
    uint64_t stuck_ps;      /* flows wait and no frame came or went for so long: stuck; 0: never */
    uint64_t spin_ns;       /* how long before a deadline sleeping turns into spinning */
    int32_t control_fd;     /* return when it is readable; -1: none */
};
int dp_run_real(struct dp *dp, const struct dp_real *real);

/* Take one direction of a link down (0) or up (1): frames sent to a port that is down are lost. */
int dp_port_up(struct dp *dp, uint32_t node, uint32_t port, uint32_t up);

/* --- Reading: at any time between two runs. --- */

uint64_t dp_now(const struct dp *dp);

struct dp_flow_record {
    uint64_t start_ps;      /* first data frame begins to leave (or computing); all ones: never */
    uint64_t delivered_ps;  /* last data frame is at the receiver; all ones: never */
    uint64_t finish_ps;     /* last ACK is at the sender (else: delivered); all ones: never */
    uint64_t packets;       /* data frames that the message needs */
    uint64_t sent;          /* for the first time */
    uint64_t received;      /* each packet once */
    uint64_t acknowledged;
    uint64_t lost;          /* packets that the sender took for lost */
    uint64_t retransmitted; /* frames sent again */
    uint64_t duplicates;    /* data frames that had arrived before */
    uint64_t timeouts;
    uint64_t marks;         /* data frames that arrived marked */
};
void dp_read_flows(const struct dp *dp, struct dp_flow_record *records);

/* One row per port, nodes in order, their ports in order; see dp_port_count. */
struct dp_port_record {
    uint32_t node;
    uint32_t port;
    uint32_t peer;               /* all ones: behind a socket, or nothing */
    uint32_t peer_port;
    uint64_t packets;            /* accepted for sending */
    uint64_t bytes;
    uint64_t data_packets;
    uint64_t data_bytes;
    uint64_t ack_packets;
    uint64_t drops;              /* queue full, or port down */
    uint64_t data_drops;         /* of these, data and ACKs */
    uint64_t ack_drops;
    uint64_t trims;              /* data frames cut to their headers here */
    uint64_t overruns;           /* came in faster than the core could take them: lost */
    uint64_t marks;
    uint64_t queue_bytes;        /* now */
    uint64_t queue_packets;
    uint64_t max_queue_bytes;
    uint64_t max_queue_packets;
    double mean_queue_bytes;     /* from `from_ps` to `to_ps` */
    double mean_queue_packets;
    double sending_queue_bytes;  /* until the last data frame has begun to leave its host, or the */
    double sending_queue_packets; /* end of the window it falls in; real clock: not a number */
    uint64_t gaps;               /* real clock: departures with another one of the busy period */
    uint64_t gaps_within_10pct;  /* just before: real distance against the ideal one */
    uint64_t gaps_within_25pct;
    uint64_t gaps_within_frame;
    uint64_t late_max_ps;
};
uint64_t dp_port_count(const struct dp *dp);
void dp_read_ports(const struct dp *dp, uint64_t from_ps, uint64_t to_ps,
                   struct dp_port_record *records);

/* Queue time series: a sample where the queue changed, each the maximum since the last sample. */
struct dp_sample {
    uint64_t time_ps;
    uint32_t node;
    uint32_t port;
    uint64_t queue_bytes;
    uint64_t queue_packets;
};
uint64_t dp_sample_count(const struct dp *dp);
/* Copy and forget all samples so far, ordered by time, node and port. */
void dp_take_samples(struct dp *dp, struct dp_sample *samples);

/* Bytes of frames, without gaps, that came to hosts in each DP_ARRIVAL_PS; later ones uncounted. */
enum { DP_ARRIVAL_PS = 1000000, DP_ARRIVAL_BINS = 1 << 17 };
struct dp_arrivals {
    uint64_t data_bytes;
    uint64_t ack_bytes;
};
uint64_t dp_arrival_count(const struct dp *dp);
void dp_read_arrivals(const struct dp *dp, struct dp_arrivals *records);
/* Tracing, in virtual time: every frame at every port, from now on (1) or no longer (0). */
void dp_trace(struct dp *dp, uint32_t on);

/* A frame at a port. Its service begins its own time before `departure_ps`. */
struct dp_hop {
    uint64_t arrived_ps;    /* when it was queued */
    uint64_t departure_ps;  /* when its last bit leaves */
    uint32_t place;         /* the port's row in dp_read_ports */
    uint32_t flow;          /* all ones: neither data nor ACK */
    uint32_t psn;
    uint32_t bytes;         /* what the port charges for it */
    uint32_t length;        /* on the wire, without FCS */
    uint32_t entropy;
    uint32_t kind;          /* 0 other, 1 data, 2 ACK, 3 data cut to its header */
    uint32_t marked;        /* when it was queued */
};
uint64_t dp_hop_count(const struct dp *dp);
/* Copy and forget all hops so far, ordered by place and departure. */
int dp_take_hops(struct dp *dp, struct dp_hop *hops);

/* Capturing, in virtual time: keep the frames that leave some ports from now on. `places` are rows
 * of dp_read_ports. */
int dp_capture(struct dp *dp, uint64_t count, const uint32_t *places);

/* A frame that has left a port, marks included. */
struct dp_captured {
    uint64_t departure_ps;  /* of its last bit */
    uint64_t first;         /* its place in the bytes of all frames */
    uint32_t place;
    uint32_t length;        /* on the wire, without FCS */
    uint32_t stored;        /* bytes that are there; the rest is payload, all zeros */
};
uint64_t dp_captured_count(const struct dp *dp);
uint64_t dp_captured_bytes(const struct dp *dp);
/* Copy and forget all frames so far, in no order. */
void dp_take_captured(struct dp *dp, struct dp_captured *rows, uint8_t *bytes);

/* Watching, in virtual time: keep what congestion control does to some flows from now on. */
int dp_watch(struct dp *dp, uint64_t count, const uint32_t *flows);

/* A watched flow, after its congestion control was told of something. */
struct dp_watched {
    uint64_t time_ps;
    uint64_t rtt_ps;            /* of the acknowledged packet; 0: it tells none */
    uint64_t bytes;             /* of frames, acknowledged for the first time */
    uint64_t in_flight_bytes;
    double window_bytes;
    uint32_t flow;
    uint32_t kind;              /* of struct dp_signal */
    uint32_t marked;
};
uint64_t dp_watched_count(const struct dp *dp);
/* Copy and forget all rows so far, by flow and time. */
void dp_take_watched(struct dp *dp, struct dp_watched *rows);

/* Where all frames are: sent = delivered + the drops + left, or the core has a fault. */
struct dp_totals {
    uint64_t sent;              /* by hosts, and came in through sockets of switches */
    uint64_t copied;            /* additional frames made by programs (multicast, clones) */
    uint64_t delivered;         /* to their hosts, and went out through sockets */
    uint64_t dropped_program;   /* by a P4 program */
    uint64_t dropped_queue;     /* queue full */
    uint64_t dropped_down;      /* port down, or no such port */
    uint64_t dropped_loss;      /* at random, see `loss` */
    uint64_t dropped_host;      /* came to a host that they are not for */
    uint64_t dropped_header;    /* more header bytes than the core stores */
    uint64_t left;              /* still in queues, on links or with programs */
    uint64_t trimmed;           /* cut to their headers: frames that are in the counts above */
    uint64_t hops;              /* frames taken by switches and hosts */
    uint64_t noise;             /* frames of others on the sockets */
    uint64_t socket_drops;      /* frames that the kernel lost before the core saw them */
};
void dp_read_totals(const struct dp *dp, struct dp_totals *totals);

/* Pacing of a host's data frames on the real clock, see docs/architecture.md, manifest.json. */
struct dp_pacing {
    uint64_t frames;
    uint64_t late_p99_ps;
    uint64_t late_max_ps;
    double offered;             /* share of the line rate that its data should have had */
    double achieved;            /* and had, from its first to its last data frame */
};
void dp_read_pacing(const struct dp *dp, struct dp_pacing *records);

/* --- One flow's congestion control alone: what tests compare with their own. --- */

/* What happens to a flow, as congestion control sees it. */
enum {
    DP_ACK,        /* an acknowledgement came */
    DP_NACK,       /* a packet was cut, or came out of order under go-back-N */
    DP_LOST,       /* acknowledgements without progress in order mean a loss */
    DP_RECOVERED,  /* all that was in flight at DP_LOST is acknowledged */
    DP_TIMEOUT     /* packets were in flight for too long */
};
struct dp_signal {
    uint32_t kind;
    uint32_t marked;           /* the acknowledged packet was */
    uint64_t now_ps;
    uint64_t rtt_ps;           /* of the acknowledged packet; 0: it tells none */
    uint64_t bytes;            /* of frames: acknowledged for the first time, or taken for lost */
    uint64_t in_order_bytes;   /* by how far the first unacknowledged packet moved */
    uint64_t in_flight_bytes;  /* after this */
};
struct dp_cca;

/* A flow's congestion control; of the settings it needs those about sizes, rate, rtt_ps, buffer,
 * and congestion with its parameters. NULL without memory or such a number. */
struct dp_cca *dp_cca_new(const struct dp_settings *settings);
/* Let something happen; returns the window in bytes of frames. */
double dp_cca_step(struct dp_cca *cca, const struct dp_signal *signal);
double dp_cca_window(const struct dp_cca *cca);
uint64_t dp_cca_pace(const struct dp_cca *cca);  /* picoseconds between frames, 0: none */
void dp_cca_free(struct dp_cca *cca);

#pragma GCC visibility pop
#endif

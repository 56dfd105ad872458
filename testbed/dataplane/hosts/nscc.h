#ifndef NSCC_H
#define NSCC_H
#include "congestion.h"
#include "median.h"

/* NSCC's constants, from the network and the parameters; names as in the specification. */
struct nscc_constants {
    uint64_t target;       /* queueing delay aimed at */
    uint64_t fast_below;   /* delay below which fast increase starts */
    uint64_t adapt_above;  /* delay that makes a window one to adapt from */
    double a;              /* this network's BDP over the reference's (100 Gb/s x 12 us) */
    double fair;           /* fi: bytes a window above the target */
    double proportional;   /* alpha: bytes a picosecond below the target */
    double eta;            /* bytes a round trip */
    double fast;           /* fi_scale: share of acknowledged bytes */
};

struct nscc {
    struct nscc_constants constants;
    uint64_t base_rtt;     /* the shortest seen */
    uint64_t average;      /* of delays */
    uint64_t last_sample;  /* when the average was updated */
    uint64_t last_cut;
    uint64_t last_adjust;
    uint64_t window_ends;  /* quick adapt's; 0: no window has begun */
    double most;           /* largest window */
    double increase;       /* bytes x window that wait to be added: bytes squared */
    double received;       /* bytes since the last adjustment */
    double achieved;       /* bytes of quick adapt's window */
    double to_ignore;
    double ignored;
    double fast_count;     /* bytes in a row with hardly any delay */
    bool fast;
    bool loss_seen;        /* until a quick adapt */
    struct median delays;  /* MNSCC's round trips */
};

void nscc_open(struct cca *cca);
void nscc_close(struct cca *cca);
void nscc_nacked(struct cca *cca, const struct dp_signal *signal);
void nscc_timed_out(struct cca *cca, const struct dp_signal *signal);
uint32_t nscc_constants(const struct network *network, struct dp_constant *constants);

/* Follow an ACK whose delay is that of the round trip `rtt`; 0: there is none. */
void nscc_follow(struct cca *cca, const struct dp_signal *signal, uint64_t rtt);

#endif

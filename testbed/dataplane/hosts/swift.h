#ifndef SWIFT_H
#define SWIFT_H
#include "congestion.h"
#include "median.h"

/*
 * What Swift (Kumar et al., SIGCOMM 2020) and its kin share: a target delay that falls as the
 * window grows, growth by `ai` packets a round trip below it, cuts in proportion above it.
 */
struct swift {
    uint64_t srtt;
    uint64_t last_cut;      /* 0: never */
    uint32_t timeouts;      /* in a row */
    uint32_t over;          /* delays above the target in a row */
    struct median delays;   /* MSwift's */
};

void swift_open(struct cca *cca);
void swift_close(struct cca *cca);
void swift_timed_out(struct cca *cca, const struct dp_signal *signal);
uint32_t swift_constants(const struct network *network, struct dp_constant *constants);

/* Smooth the round trip. */
void swift_measure(struct swift *swift, uint64_t rtt);
uint64_t swift_target(const struct cca *cca);
/* A round trip has passed since the last cut. */
bool swift_may_cut(const struct swift *swift, uint64_t now);

/* For bytes whose ACK tells no delay, as of packets sent again: the smoothed round trip stands. */
void swift_go_on(struct cca *cca, double bytes);

/* Below the target: grow for so many acknowledged bytes. Above: cut for a delay. */
void swift_grow(struct cca *cca, double bytes);
void swift_cut(struct cca *cca, uint64_t delay, uint64_t now);
void swift_cut_most(struct cca *cca, uint64_t now);

#endif

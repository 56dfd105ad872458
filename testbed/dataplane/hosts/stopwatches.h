#ifndef STOPWATCHES_H
#define STOPWATCHES_H
#include <stdbool.h>
#include <stdint.h>

/*
 * Since when things known by number run: packets in flight by PSN, entropy values by value. An
 * open-addressing table that starts empty and grows with what runs at the same time.
 */
struct stopwatch {
    uint64_t since;
    uint64_t key;  /* number + 1; 0: no watch */
};

struct stopwatches {
    struct stopwatch *slots;
    uint32_t room;  /* a power of two, or 0 */
    uint32_t count;
};

void stopwatches_free(struct stopwatches *watches);

/* Start a thing's watch if it does not run already. */
void stopwatches_start(struct stopwatches *watches, uint32_t number, uint64_t now);

/* Tell whether a thing's watch runs, and since when. */
bool stopwatches_read(const struct stopwatches *watches, uint32_t number, uint64_t *since);

/* Stop a thing's watch; none is none. */
void stopwatches_stop(struct stopwatches *watches, uint32_t number);

#endif

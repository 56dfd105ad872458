#ifndef MEDIAN_H
#define MEDIAN_H
#include <stdint.h>

/* The last so many samples of a time, in order of arrival and in order of size. */
struct median {
    uint64_t *recent;  /* ring */
    uint64_t *sorted;
    uint32_t room;     /* of both */
    uint32_t first;    /* the oldest in the ring */
    uint32_t count;
};

/* Add a sample, and keep the most recent `keep` (at least 1). */
void median_add(struct median *median, uint64_t sample, uint32_t keep);

/* The middle one, or the mean of the two; there must be a sample. */
uint64_t median_read(const struct median *median);

void median_free(struct median *median);

#endif

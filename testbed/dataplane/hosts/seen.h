#ifndef SEEN_H
#define SEEN_H
#include <stdbool.h>
#include <stdint.h>

/*
 * Which packets of a flow have arrived, by PSN: all below `base`, and those above it by a bitmap
 * that is a ring. It starts with one word and grows with how far packets overtake each other.
 */
struct seen {
    uint32_t base;  /* the lowest that is not in the set */
    uint32_t above; /* how many above it are */
    uint32_t room;  /* bits of the ring, a power of two; 0: the 64 of `few` */
    union {
        uint64_t few;
        uint64_t *many;
    };
};

/* Slow path of seen_add: a packet that is not the next one. */
bool seen_add_other(struct seen *seen, uint32_t psn);

/* Add a packet; false if it was there already. */
static inline bool seen_add(struct seen *seen, uint32_t psn)
{
    if (psn != seen->base || seen->above > 0)
        return seen_add_other(seen, psn);
    seen->base++;
    return true;
}

bool seen_has(const struct seen *seen, uint32_t psn);

/* 64 packets from `first` on as bits, the first one lowest. */
uint64_t seen_word(const struct seen *seen, uint32_t first);

/* Give up the memory of a set that is complete or not needed any more. */
void seen_free(struct seen *seen);

#endif

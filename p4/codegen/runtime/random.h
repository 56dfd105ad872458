#ifndef RANDOM_H
#define RANDOM_H
#include "state.h"

/* Seeded random numbers of a switch: xoshiro256**. */

static inline uint64_t pl_random_rotate(uint64_t value, uint32_t bits)
{
    return value << bits | value >> (64 - bits);
}

static inline uint64_t pl_random_next(struct pl_switch *sw)
{
    uint64_t *s = sw->random;
    uint64_t result = pl_random_rotate(s[1] * 5, 7) * 9;
    uint64_t shifted = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= shifted;
    s[3] = pl_random_rotate(s[3], 45);
    return result;
}

/* A number from low to high, each as likely as the others. */
static inline uint64_t pl_random(struct pl_switch *sw, uint64_t low, uint64_t high)
{
    uint64_t span = high - low + 1;
    if (span == 0)
        return pl_random_next(sw);
    unsigned __int128 product = (unsigned __int128)pl_random_next(sw) * span;
    if ((uint64_t)product < span) {
        uint64_t unfair = (0 - span) % span;
        while ((uint64_t)product < unfair)
            product = (unsigned __int128)pl_random_next(sw) * span;
    }
    return low + (uint64_t)(product >> 64);
}

void pl_random_seed(struct pl_switch *sw, uint64_t seed);

#endif

#include "hash.h"
#include <string.h>

/* xxHash64 with seed 0, after its published specification. */

static const uint64_t prime[5] = {
    UINT64_C(0x9e3779b185ebca87), UINT64_C(0xc2b2ae3d27d4eb4f), UINT64_C(0x165667b19e3779f9),
    UINT64_C(0x85ebca77c2b2ae63), UINT64_C(0x27d4eb2f165667c5),
};

static uint64_t rotate(uint64_t value, uint32_t bits)
{
    return value << bits | value >> (64 - bits);
}

static uint64_t little64(const uint8_t *bytes)
{
    uint64_t value;
    memcpy(&value, bytes, sizeof(value));
    return value;
}

static uint32_t little32(const uint8_t *bytes)
{
    uint32_t value;
    memcpy(&value, bytes, sizeof(value));
    return value;
}

static uint64_t step(uint64_t lane, uint64_t input)
{
    return rotate(lane + input * prime[1], 31) * prime[0];
}

static uint64_t stripes(const uint8_t **bytes, uint32_t *count)
{
    uint64_t lanes[4] = {prime[0] + prime[1], prime[1], 0, 0 - prime[0]};
    for (; *count >= 32; *bytes += 32, *count -= 32) {
        for (uint32_t i = 0; i < 4; i++)
            lanes[i] = step(lanes[i], little64(*bytes + 8 * i));
    }
    uint64_t hash = rotate(lanes[0], 1) + rotate(lanes[1], 7) + rotate(lanes[2], 12) +
                    rotate(lanes[3], 18);
    for (uint32_t i = 0; i < 4; i++)
        hash = (hash ^ step(0, lanes[i])) * prime[0] + prime[3];
    return hash;
}

uint64_t pl_hash_xxh64(const uint8_t *bytes, uint32_t count)
{
    uint32_t total = count;
    uint64_t hash = count >= 32 ? stripes(&bytes, &count) : prime[4];
    hash += total;
    for (; count >= 8; bytes += 8, count -= 8)
        hash = rotate(hash ^ step(0, little64(bytes)), 27) * prime[0] + prime[3];
    if (count >= 4) {
        hash = rotate(hash ^ little32(bytes) * prime[0], 23) * prime[1] + prime[2];
        bytes += 4;
        count -= 4;
    }
    for (; count; bytes++, count--)
        hash = rotate(hash ^ *bytes * prime[4], 11) * prime[0];
    hash = (hash ^ hash >> 33) * prime[1];
    hash = (hash ^ hash >> 29) * prime[2];
    return hash ^ hash >> 32;
}

#include "seen.h"

#include <assert.h>
#include <stdlib.h>

enum { WORD = 64 };

static uint32_t room_of(const struct seen *seen)
{
    return seen->room ? seen->room : WORD;
}

static uint64_t *words_of(struct seen *seen)
{
    return seen->room ? seen->many : &seen->few;
}

static bool bit_at(const struct seen *seen, uint32_t psn)
{
    uint32_t place = psn & (room_of(seen) - 1);
    const uint64_t *words = seen->room ? seen->many : &seen->few;
    return words[place / WORD] >> place % WORD & 1;
}

static void flip_bit(struct seen *seen, uint32_t psn)
{
    uint32_t place = psn & (room_of(seen) - 1);
    words_of(seen)[place / WORD] ^= (uint64_t)1 << place % WORD;
}

static void grow(struct seen *seen, uint32_t reach)
{
    struct seen grown = { .base = seen->base, .above = seen->above, .room = room_of(seen) };
    while (grown.room <= reach)
        grown.room *= 2;
    grown.many = calloc(grown.room / WORD, sizeof *grown.many);
    if (!grown.many)
        abort();
    for (uint32_t i = 1; i < room_of(seen); i++)
        if (bit_at(seen, seen->base + i))
            flip_bit(&grown, seen->base + i);
    seen_free(seen);
    *seen = grown;
}

bool seen_has(const struct seen *seen, uint32_t psn)
{
    return psn < seen->base || (psn - seen->base < room_of(seen) && bit_at(seen, psn));
}

bool seen_add_other(struct seen *seen, uint32_t psn)
{
    if (seen_has(seen, psn))
        return false;
    if (psn - seen->base >= room_of(seen))
        grow(seen, psn - seen->base);
    flip_bit(seen, psn);
    seen->above++;
    while (seen->above > 0 && bit_at(seen, seen->base)) {
        flip_bit(seen, seen->base++);
        seen->above--;
    }
    assert(!bit_at(seen, seen->base));
    return true;
}

/* As seen_word, for packets from the base on. */
static uint64_t word_above(const struct seen *seen, uint32_t first)
{
    uint32_t room = room_of(seen);
    uint32_t ahead = first - seen->base;
    if (seen->above == 0 || ahead >= room)
        return 0;
    const uint64_t *words = seen->room ? seen->many : &seen->few;
    uint32_t place = first & (room - 1);
    uint32_t shift = place % WORD;
    uint64_t word = words[place / WORD] >> shift;
    if (shift > 0)
        word |= words[(place / WORD + 1) % (room / WORD)] << (WORD - shift);
    return room - ahead < WORD ? word & (((uint64_t)1 << (room - ahead)) - 1) : word;
}

uint64_t seen_word(const struct seen *seen, uint32_t first)
{
    if (first >= seen->base)
        return word_above(seen, first);
    uint32_t below = seen->base - first;
    if (below >= WORD)
        return UINT64_MAX;
    return word_above(seen, seen->base) << below | (((uint64_t)1 << below) - 1);
}

void seen_free(struct seen *seen)
{
    if (seen->room)
        free(seen->many);
    seen->room = 0;
    seen->few = 0;
    seen->above = 0;
}

#ifndef WIDE_H
#define WIDE_H
#include "bits.h"
#include <stdbool.h>

/*
 * Integers beyond 64 bits: two's complement in PL_LIMBS limbs, least significant first. The
 * generated file sets PL_LIMBS so that no value of its expressions needs more.
 */

#ifndef PL_LIMBS
#define PL_LIMBS 2
#endif

struct pl_wide {
    uint64_t limb[PL_LIMBS];
};

static inline bool pl_wide_negative(struct pl_wide value)
{
    return value.limb[PL_LIMBS - 1] >> 63;
}

static inline struct pl_wide pl_wide_fill(uint64_t low, bool negative)
{
    struct pl_wide result;
    result.limb[0] = low;
    for (uint32_t i = 1; i < PL_LIMBS; i++)
        result.limb[i] = negative ? UINT64_MAX : 0;
    return result;
}

static inline struct pl_wide pl_wide_unsigned(uint64_t value)
{
    return pl_wide_fill(value, false);
}

static inline struct pl_wide pl_wide_signed(int64_t value)
{
    return pl_wide_fill((uint64_t)value, value < 0);
}

static inline uint64_t pl_wide_low(struct pl_wide value)
{
    return value.limb[0];
}

/* A shift's amount, which is not negative. */
static inline uint64_t pl_wide_amount(struct pl_wide value)
{
    uint64_t above = 0;
    for (uint32_t i = 1; i < PL_LIMBS; i++)
        above |= value.limb[i];
    return above ? UINT64_MAX : value.limb[0];
}

static inline struct pl_wide pl_wide_load(const uint8_t *bytes, uint32_t count)
{
    struct pl_wide result = pl_wide_unsigned(0);
    for (uint32_t i = 0; i < count && i < 8 * PL_LIMBS; i++)
        result.limb[i / 8] |= (uint64_t)bytes[count - 1 - i] << (8 * (i % 8));
    return result;
}

static inline struct pl_wide pl_wide_not(struct pl_wide value)
{
    for (uint32_t i = 0; i < PL_LIMBS; i++)
        value.limb[i] = ~value.limb[i];
    return value;
}

static inline struct pl_wide pl_wide_add(struct pl_wide left, struct pl_wide right)
{
    unsigned __int128 carry = 0;
    for (uint32_t i = 0; i < PL_LIMBS; i++) {
        carry += (unsigned __int128)left.limb[i] + right.limb[i];
        left.limb[i] = (uint64_t)carry;
        carry >>= 64;
    }
    return left;
}

static inline struct pl_wide pl_wide_negate(struct pl_wide value)
{
    return pl_wide_add(pl_wide_not(value), pl_wide_unsigned(1));
}

static inline struct pl_wide pl_wide_subtract(struct pl_wide left, struct pl_wide right)
{
    return pl_wide_add(left, pl_wide_negate(right));
}

static inline struct pl_wide pl_wide_multiply(struct pl_wide left, struct pl_wide right)
{
    struct pl_wide result = pl_wide_unsigned(0);
    for (uint32_t i = 0; i < PL_LIMBS; i++) {
        unsigned __int128 carry = 0;
        for (uint32_t j = 0; i + j < PL_LIMBS; j++) {
            carry += (unsigned __int128)left.limb[i] * right.limb[j] + result.limb[i + j];
            result.limb[i + j] = (uint64_t)carry;
            carry >>= 64;
        }
    }
    return result;
}

static inline struct pl_wide pl_wide_and(struct pl_wide left, struct pl_wide right)
{
    for (uint32_t i = 0; i < PL_LIMBS; i++)
        left.limb[i] &= right.limb[i];
    return left;
}

static inline struct pl_wide pl_wide_or(struct pl_wide left, struct pl_wide right)
{
    for (uint32_t i = 0; i < PL_LIMBS; i++)
        left.limb[i] |= right.limb[i];
    return left;
}

static inline struct pl_wide pl_wide_xor(struct pl_wide left, struct pl_wide right)
{
    for (uint32_t i = 0; i < PL_LIMBS; i++)
        left.limb[i] ^= right.limb[i];
    return left;
}

static inline struct pl_wide pl_wide_shift_left(struct pl_wide value, uint64_t amount)
{
    struct pl_wide result = pl_wide_unsigned(0);
    if (amount >= 64 * PL_LIMBS)
        return result;
    uint32_t whole = (uint32_t)(amount / 64), rest = (uint32_t)(amount % 64);
    for (uint32_t i = whole; i < PL_LIMBS; i++) {
        result.limb[i] = value.limb[i - whole] << rest;
        if (rest && i > whole)
            result.limb[i] |= value.limb[i - whole - 1] >> (64 - rest);
    }
    return result;
}

static inline struct pl_wide pl_wide_shift_right(struct pl_wide value, uint64_t amount)
{
    bool negative = pl_wide_negative(value);
    struct pl_wide result = pl_wide_fill(negative ? UINT64_MAX : 0, negative);
    if (amount >= 64 * PL_LIMBS)
        return result;
    uint32_t whole = (uint32_t)(amount / 64), rest = (uint32_t)(amount % 64);
    uint64_t above = negative ? UINT64_MAX : 0;
    for (uint32_t i = 0; i + whole < PL_LIMBS; i++) {
        uint64_t next = i + whole + 1 < PL_LIMBS ? value.limb[i + whole + 1] : above;
        result.limb[i] = value.limb[i + whole] >> rest;
        if (rest)
            result.limb[i] |= next << (64 - rest);
    }
    return result;
}

/* Negative, zero or positive as `left` is less than, equal to or greater than `right`. */
static inline int pl_wide_compare(struct pl_wide left, struct pl_wide right)
{
    if (pl_wide_negative(left) != pl_wide_negative(right))
        return pl_wide_negative(left) ? -1 : 1;
    for (uint32_t i = PL_LIMBS; i-- > 0;) {
        if (left.limb[i] != right.limb[i])
            return left.limb[i] < right.limb[i] ? -1 : 1;
    }
    return 0;
}

static inline struct pl_wide pl_wide_mask(uint32_t bits)
{
    struct pl_wide one = pl_wide_shift_left(pl_wide_unsigned(1), bits);
    return pl_wide_subtract(one, pl_wide_unsigned(1));
}

/* The low `bits` of `value` as a two's complement number. */
static inline struct pl_wide pl_wide_sign(struct pl_wide value, uint32_t bits)
{
    uint64_t up = 64 * PL_LIMBS - bits;
    return pl_wide_shift_right(pl_wide_shift_left(value, up), up);
}

static inline struct pl_wide pl_wide_limit(struct pl_wide value, struct pl_wide low,
                                           struct pl_wide high)
{
    if (pl_wide_compare(value, low) < 0)
        return low;
    return pl_wide_compare(value, high) > 0 ? high : value;
}

static inline struct pl_wide pl_wide_saturate(struct pl_wide value, uint32_t bits)
{
    return pl_wide_limit(value, pl_wide_unsigned(0), pl_wide_mask(bits));
}

static inline struct pl_wide pl_wide_saturate_signed(struct pl_wide value, uint32_t bits)
{
    struct pl_wide high = pl_wide_mask(bits - 1);
    return pl_wide_limit(value, pl_wide_not(high), high);
}

/* Quotient of two numbers that are not negative; the rest goes to `rest`. */
static inline struct pl_wide pl_wide_divide_rest(struct pl_wide left, struct pl_wide right,
                                                 struct pl_wide *rest)
{
    struct pl_wide quotient = pl_wide_unsigned(0);
    *rest = pl_wide_unsigned(0);
    if (pl_wide_compare(right, quotient) <= 0)
        return quotient;
    for (uint32_t i = 64 * PL_LIMBS; i-- > 0;) {
        *rest = pl_wide_shift_left(*rest, 1);
        rest->limb[0] |= left.limb[i / 64] >> (i % 64) & 1;
        if (pl_wide_compare(*rest, right) >= 0) {
            *rest = pl_wide_subtract(*rest, right);
            quotient.limb[i / 64] |= UINT64_C(1) << (i % 64);
        }
    }
    return quotient;
}

static inline struct pl_wide pl_wide_divide(struct pl_wide left, struct pl_wide right)
{
    struct pl_wide rest;
    return pl_wide_divide_rest(left, right, &rest);
}

static inline struct pl_wide pl_wide_modulo(struct pl_wide left, struct pl_wide right)
{
    struct pl_wide rest;
    pl_wide_divide_rest(left, right, &rest);
    return rest;
}

/* Write the low `bits` of `value` to bytes, most significant first. */
static inline void pl_wide_store(uint8_t *bytes, uint32_t bits, struct pl_wide value)
{
    uint32_t count = (bits + 7) / 8;
    uint8_t sign = pl_wide_negative(value) ? 0xff : 0;
    for (uint32_t i = 0; i < count; i++) {
        uint8_t byte = sign;
        if (i < 8 * PL_LIMBS)
            byte = (uint8_t)(value.limb[i / 8] >> (8 * (i % 8)));
        bytes[count - 1 - i] = byte;
    }
    if (bits % 8)
        bytes[0] = (uint8_t)(bytes[0] & ((1U << (bits % 8)) - 1));
}

/* Copy `bits` from bit `offset` of `bytes` to whole bytes at `to`. */
static inline void pl_take_bits(uint8_t *to, const uint8_t *bytes, uint32_t offset, uint32_t bits)
{
    uint32_t count = (bits + 7) / 8;
    uint32_t first = bits % 8 ? bits % 8 : 8;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t width = i ? 8 : first;
        to[i] = (uint8_t)pl_load_bits(bytes, offset, width);
        offset += width;
    }
}

/* Copy a number of whole bytes at `from` to `bits` from bit `offset` of `bytes`. */
static inline void pl_put_bits(uint8_t *bytes, uint32_t offset, uint32_t bits, const uint8_t *from)
{
    uint32_t count = (bits + 7) / 8;
    uint32_t first = bits % 8 ? bits % 8 : 8;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t width = i ? 8 : first;
        pl_store_bits(bytes, offset, width, from[i]);
        offset += width;
    }
}

#endif

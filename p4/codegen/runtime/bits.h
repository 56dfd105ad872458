#ifndef BITS_H
#define BITS_H
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* Integers of P4 in C: loads and stores in network order, shifts, signs, saturation. */

static inline uint64_t pl_load8(const uint8_t *bytes)
{
    return bytes[0];
}

static inline uint64_t pl_load16(const uint8_t *bytes)
{
    uint16_t value;
    memcpy(&value, bytes, sizeof(value));
    return __builtin_bswap16(value);
}

static inline uint64_t pl_load32(const uint8_t *bytes)
{
    uint32_t value;
    memcpy(&value, bytes, sizeof(value));
    return __builtin_bswap32(value);
}

static inline uint64_t pl_load64(const uint8_t *bytes)
{
    uint64_t value;
    memcpy(&value, bytes, sizeof(value));
    return __builtin_bswap64(value);
}

static inline uint64_t pl_load24(const uint8_t *bytes)
{
    return pl_load16(bytes) << 8 | bytes[2];
}

static inline uint64_t pl_load40(const uint8_t *bytes)
{
    return pl_load32(bytes) << 8 | bytes[4];
}

static inline uint64_t pl_load48(const uint8_t *bytes)
{
    return pl_load32(bytes) << 16 | pl_load16(bytes + 4);
}

static inline uint64_t pl_load56(const uint8_t *bytes)
{
    return pl_load48(bytes) << 8 | bytes[6];
}

/* The low `count` bytes' worth of an unsigned number, most significant byte first. */
static inline uint64_t pl_load(const uint8_t *bytes, uint32_t count)
{
    uint64_t value = 0;
    for (uint32_t i = 0; i < count; i++)
        value = value << 8 | bytes[i];
    return value;
}

static inline void pl_store(uint8_t *bytes, uint32_t count, uint64_t value)
{
    for (uint32_t i = count; i-- > 0; value >>= 8)
        bytes[i] = (uint8_t)value;
}

static inline void pl_store8(uint8_t *bytes, uint64_t value)
{
    bytes[0] = (uint8_t)value;
}

static inline void pl_store16(uint8_t *bytes, uint64_t value)
{
    uint16_t swapped = __builtin_bswap16((uint16_t)value);
    memcpy(bytes, &swapped, sizeof(swapped));
}

static inline void pl_store32(uint8_t *bytes, uint64_t value)
{
    uint32_t swapped = __builtin_bswap32((uint32_t)value);
    memcpy(bytes, &swapped, sizeof(swapped));
}

static inline void pl_store64(uint8_t *bytes, uint64_t value)
{
    uint64_t swapped = __builtin_bswap64(value);
    memcpy(bytes, &swapped, sizeof(swapped));
}

/* Read `bits` (at most 64) that start `offset` bits after `bytes`. */
static inline uint64_t pl_load_bits(const uint8_t *bytes, uint32_t offset, uint32_t bits)
{
    const uint8_t *first = bytes + offset / 8;
    uint32_t skip = offset % 8;
    uint32_t whole = (skip + bits + 7) / 8;
    uint64_t value;
    if (whole <= 8) {
        value = pl_load(first, whole) >> (8 * whole - skip - bits);
    } else {
        value = pl_load(first, 8) << (skip + bits - 64);
        value |= (uint64_t)first[8] >> (72 - skip - bits);
    }
    return bits >= 64 ? value : value & ((UINT64_C(1) << bits) - 1);
}

/* Write the low `bits` (at most 64) of `value` that start `offset` bits after `bytes`. */
static inline void pl_store_bits(uint8_t *bytes, uint32_t offset, uint32_t bits, uint64_t value)
{
    while (bits > 0) {
        uint32_t room = 8 - offset % 8;
        uint32_t count = bits < room ? bits : room;
        uint32_t mask = (1U << count) - 1;
        uint32_t shift = room - count;
        uint32_t part = (uint32_t)(value >> (bits - count)) & mask;
        uint8_t *byte = bytes + offset / 8;
        *byte = (uint8_t)((*byte & ~(mask << shift)) | part << shift);
        offset += count;
        bits -= count;
    }
}

static inline uint64_t pl_mask(uint32_t bits)
{
    return bits >= 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
}

static inline uint64_t pl_truth(bool truth)
{
    return truth;
}

static inline uint64_t pl_not(uint64_t value)
{
    return ~value;
}

static inline uint64_t pl_shift_left(uint64_t value, uint64_t amount)
{
    return amount < 64 ? value << amount : 0;
}

static inline uint64_t pl_shift_right(uint64_t value, uint64_t amount)
{
    return amount < 64 ? value >> amount : 0;
}

static inline int64_t pl_shift_right_signed(int64_t value, uint64_t amount)
{
    return value >> (amount < 63 ? amount : 63);
}

/* Division by zero gives 0: P4 leaves it open, and a switch must not stop. */
static inline uint64_t pl_divide(uint64_t left, uint64_t right)
{
    return right ? left / right : 0;
}

static inline uint64_t pl_modulo(uint64_t left, uint64_t right)
{
    return right ? left % right : 0;
}

/* A hash cut to less than `limit`, where 0 counts as 1. */
static inline uint64_t pl_hash_modulo(uint64_t hash, uint64_t limit)
{
    return limit ? hash % limit : 0;
}

/* The low `bits` of `value` as a two's complement number. */
static inline int64_t pl_signed(uint64_t value, uint32_t bits)
{
    return (int64_t)(value << (64 - bits)) >> (64 - bits);
}

/* `value` limited to what `bits` unsigned bits hold. */
static inline uint64_t pl_saturate(int64_t value, uint32_t bits)
{
    if (value < 0)
        return 0;
    return (uint64_t)value > pl_mask(bits) ? pl_mask(bits) : (uint64_t)value;
}

static inline uint64_t pl_saturate_unsigned(uint64_t value, uint32_t bits)
{
    return value > pl_mask(bits) ? pl_mask(bits) : value;
}

/* `value` limited to what `bits` (at most 63) signed bits hold. */
static inline int64_t pl_saturate_signed(int64_t value, uint32_t bits)
{
    int64_t high = (int64_t)pl_mask(bits - 1);
    if (value > high)
        return high;
    return value < -high - 1 ? -high - 1 : value;
}

#endif

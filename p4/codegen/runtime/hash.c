#include "hash.h"
#include "bits.h"

/* Bits of an n-bit number in the opposite order. */
static uint64_t reflect(uint64_t value, uint32_t bits)
{
    uint64_t result = 0;
    for (uint32_t i = 0; i < bits; i++, value >>= 1)
        result = result << 1 | (value & 1);
    return result;
}

/* A reflected CRC of up to 64 bits; `polynomial` is given reflected too. */
static uint64_t crc_reflected(const uint8_t *bytes, uint32_t count, uint64_t polynomial,
                              uint64_t remainder)
{
    for (uint32_t i = 0; i < count; i++) {
        remainder ^= bytes[i];
        for (uint32_t bit = 0; bit < 8; bit++)
            remainder = remainder >> 1 ^ (remainder & 1 ? polynomial : 0);
    }
    return remainder;
}

/* CRC tables: what each value of the lowest (reflected) or highest byte adds. */
static uint16_t crc16_table[256];
static uint32_t crc32_table[256];
static uint16_t ccitt_table[256];

__attribute__((constructor)) static void make_tables(void)
{
    for (uint32_t i = 0; i < 256; i++) {
        uint8_t byte = (uint8_t)i;
        crc16_table[i] = (uint16_t)crc_reflected(&byte, 1, 0xa001, 0);
        crc32_table[i] = (uint32_t)crc_reflected(&byte, 1, 0xedb88320, 0);
        uint32_t remainder = i << 8;
        for (uint32_t bit = 0; bit < 8; bit++)
            remainder = remainder << 1 ^ (remainder & 0x8000 ? 0x1021U : 0);
        ccitt_table[i] = (uint16_t)remainder;
    }
}

uint64_t pl_hash_crc16(const uint8_t *bytes, uint32_t count)
{
    uint32_t remainder = 0;
    for (uint32_t i = 0; i < count; i++)
        remainder = remainder >> 8 ^ crc16_table[(remainder ^ bytes[i]) & 0xff];
    return remainder;
}

uint64_t pl_hash_crc32(const uint8_t *bytes, uint32_t count)
{
    uint32_t remainder = 0xffffffff;
    for (uint32_t i = 0; i < count; i++)
        remainder = remainder >> 8 ^ crc32_table[(remainder ^ bytes[i]) & 0xff];
    return remainder ^ 0xffffffff;
}

uint64_t pl_hash_crcCCITT(const uint8_t *bytes, uint32_t count)
{
    uint32_t remainder = 0xffff;
    for (uint32_t i = 0; i < count; i++)
        remainder = (remainder << 8 ^ ccitt_table[(remainder >> 8 ^ bytes[i]) & 0xff]) & 0xffff;
    return remainder;
}

/* The Internet checksum. An odd last byte counts as the upper half of a word. */
uint64_t pl_hash_csum16(const uint8_t *bytes, uint32_t count)
{
    uint64_t sum = 0;
    uint32_t i = 0;
    for (; i + 4 <= count; i += 4)
        sum += pl_load32(bytes + i);
    if (i + 2 <= count) {
        sum += pl_load16(bytes + i);
        i += 2;
    }
    if (i < count)
        sum += (uint64_t)bytes[i] << 8;
    while (sum >> 16)
        sum = (sum & 0xffff) + (sum >> 16);
    return ~sum & 0xffff;
}

static uint64_t xor_words(const uint8_t *bytes, uint32_t count, uint32_t width)
{
    uint64_t result = 0;
    for (uint32_t i = 0; i < count; i++)
        result ^= (uint64_t)bytes[i] << (8 * (width - 1 - i % width));
    return result;
}

uint64_t pl_hash_xor16(const uint8_t *bytes, uint32_t count)
{
    return xor_words(bytes, count, 2);
}

uint64_t pl_hash_xor32(const uint8_t *bytes, uint32_t count)
{
    return xor_words(bytes, count, 4);
}

uint64_t pl_hash_identity(const uint8_t *bytes, uint32_t count)
{
    return pl_load(bytes, count < 8 ? count : 8);
}

/* FNV-1a with a final mix; bytes from 0x80 on enter with their sign, as simple_switch has it. */
uint64_t pl_hash_hash_ex(const uint8_t *bytes, uint32_t count)
{
    uint32_t hash = 2166136261;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t sign = bytes[i] & 0x80 ? 0xffffff00 : 0;
        hash = (hash ^ sign ^ bytes[i]) * 16777619;
    }
    hash += hash << 13;
    hash ^= hash >> 7;
    hash += hash << 3;
    hash ^= hash >> 17;
    hash += hash << 5;
    return hash;
}

uint64_t pl_hash_crc8_custom(const uint8_t *bytes, uint32_t count)
{
    uint32_t remainder = 0;
    for (uint32_t i = 0; i < count; i++) {
        remainder ^= bytes[i];
        for (uint32_t bit = 0; bit < 8; bit++)
            remainder = (remainder << 1 ^ (remainder & 0x80 ? 0x07U : 0)) & 0xff;
    }
    return remainder;
}

uint64_t pl_hash_crc64_custom(const uint8_t *bytes, uint32_t count)
{
    return crc_reflected(bytes, count, reflect(0x1b, 64), 0);
}

#include "bits.h"
#include "hash.h"
#include "memory.h"

/* Hashes whose parameters the control plane sets: CRCs of any kind, and Toeplitz. */

enum { REFLECT_DATA = 1, REFLECT_REMAINDER = 2 };

static uint64_t reflected(uint64_t value, uint32_t bits)
{
    uint64_t result = 0;
    for (uint32_t i = 0; i < bits; i++, value >>= 1)
        result = result << 1 | (value & 1);
    return result;
}

uint64_t pl_hash_crc_as_set(const struct pl_hash_setting *setting, uint32_t bits,
                            const uint8_t *bytes, uint32_t count)
{
    uint64_t top = UINT64_C(1) << (bits - 1), all = top | (top - 1);
    uint64_t remainder = setting->initial;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t byte = setting->reflect & REFLECT_DATA ? reflected(bytes[i], 8) : bytes[i];
        remainder ^= byte << (bits - 8);
        for (uint32_t bit = 0; bit < 8; bit++)
            remainder = remainder << 1 ^ (remainder & top ? setting->polynomial : 0);
    }
    remainder &= all;
    if (setting->reflect & REFLECT_REMAINDER)
        remainder = reflected(remainder, bits);
    return remainder ^ setting->final_xor;
}

/* Word number `i` of the key, which is used round and round. */
static uint32_t key_word(const struct pl_hash_setting *setting, uint32_t i)
{
    return (uint32_t)pl_load32(setting->key + 4 * (i % (setting->key_bytes / 4)));
}

/* The Toeplitz hash, 0 with the initial key, which is all zeros. */
uint64_t pl_hash_toeplitz(const struct pl_hash_setting *setting, const uint8_t *bytes,
                          uint32_t count)
{
    uint32_t result = 0;
    if (!setting->set)
        return 0;
    for (uint32_t i = 0; i < 8 * count; i++) {
        if (!(bytes[i / 8] >> (7 - i % 8) & 1))
            continue;
        uint64_t both = (uint64_t)key_word(setting, i / 32) << 32 | key_word(setting, i / 32 + 1);
        result ^= (uint32_t)(both >> (32 - i % 32));
    }
    return result;
}

static struct pl_hash_setting *setting_of(const struct pl_switch *sw, uint32_t calculation,
                                          uint16_t kind)
{
    if (calculation >= sw->layout->calculation_count ||
        sw->layout->hashes[calculation].kind != kind)
        return NULL;
    return &sw->hashes[calculation];
}

int64_t pl_crc_set(struct pl_switch *sw, uint32_t calculation, uint64_t polynomial,
                   uint64_t initial, uint64_t final_xor, uint32_t reflect)
{
    struct pl_hash_setting *setting = setting_of(sw, calculation, PL_HASH_CRC);
    if (!setting)
        return PL_NO_SUCH;
    uint32_t bits = sw->layout->hashes[calculation].bits;
    if (bits < 64 && (polynomial | initial | final_xor) >> bits)
        return PL_BAD_VALUE;
    *setting = (struct pl_hash_setting){.set = true,
                                        .reflect = reflect,
                                        .polynomial = polynomial,
                                        .initial = initial,
                                        .final_xor = final_xor};
    return PL_OK;
}

int64_t pl_toeplitz_set(struct pl_switch *sw, uint32_t calculation, const uint8_t *key,
                        uint32_t count)
{
    struct pl_hash_setting *setting = setting_of(sw, calculation, PL_HASH_TOEPLITZ);
    if (!setting)
        return PL_NO_SUCH;
    if (count == 0 || count % 4)
        return PL_BAD_VALUE;
    uint8_t *copy = pl_copy(key, count);
    if (!copy)
        return PL_NO_MEMORY;
    free(setting->key);
    *setting = (struct pl_hash_setting){.set = true, .key = copy, .key_bytes = count};
    return PL_OK;
}

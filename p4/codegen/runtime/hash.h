#ifndef HASH_H
#define HASH_H
#include "state.h"

/* Hashes over bytes, by the names that BMv2 gives them. */

uint64_t pl_hash_crc16(const uint8_t *bytes, uint32_t count);
uint64_t pl_hash_crc32(const uint8_t *bytes, uint32_t count);
uint64_t pl_hash_crcCCITT(const uint8_t *bytes, uint32_t count);
uint64_t pl_hash_csum16(const uint8_t *bytes, uint32_t count);
uint64_t pl_hash_xor16(const uint8_t *bytes, uint32_t count);
uint64_t pl_hash_xor32(const uint8_t *bytes, uint32_t count);
uint64_t pl_hash_identity(const uint8_t *bytes, uint32_t count);
uint64_t pl_hash_xxh64(const uint8_t *bytes, uint32_t count);
uint64_t pl_hash_hash_ex(const uint8_t *bytes, uint32_t count);
uint64_t pl_hash_crc8_custom(const uint8_t *bytes, uint32_t count);
uint64_t pl_hash_crc64_custom(const uint8_t *bytes, uint32_t count);

/* Hashes whose parameters the control plane sets. */
uint64_t pl_hash_crc_as_set(const struct pl_hash_setting *setting, uint32_t bits,
                            const uint8_t *bytes, uint32_t count);
uint64_t pl_hash_toeplitz(const struct pl_hash_setting *setting, const uint8_t *bytes,
                          uint32_t count);

int64_t pl_crc_set(struct pl_switch *sw, uint32_t calculation, uint64_t polynomial,
                   uint64_t initial, uint64_t final_xor, uint32_t reflect);
int64_t pl_toeplitz_set(struct pl_switch *sw, uint32_t calculation, const uint8_t *key,
                        uint32_t count);

#endif

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
uint64_t pl_hash_toeplitz(const uint8_t *bytes, uint32_t count);
uint64_t pl_hash_hash_ex(const uint8_t *bytes, uint32_t count);
uint64_t pl_hash_crc8_custom(const uint8_t *bytes, uint32_t count);
uint64_t pl_hash_crc64_custom(const uint8_t *bytes, uint32_t count);

#endif

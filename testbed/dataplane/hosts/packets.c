#include "packets.h"

enum { FCS_BYTES = 4 };

uint64_t packets_of(const struct dp *dp, uint64_t bytes, uint32_t subflows)
{
    uint64_t payload = dp->settings.payload_bytes;
    uint64_t base = bytes / subflows;
    uint64_t longer = bytes % subflows;
    uint64_t packets = (base + payload - 1) / payload;
    return packets * subflows + (base % payload == 0 ? longer : 0);
}

/* Packet `psn` is round `psn / subflows` of subflow `psn % subflows`. */
static uint32_t payload_of(const struct dp *dp, const struct sender *sender, uint32_t psn)
{
    uint64_t payload = dp->settings.payload_bytes;
    uint32_t subflow = psn % sender->subflows;
    uint64_t size = sender->bytes / sender->subflows + (subflow < sender->bytes % sender->subflows);
    uint64_t left = size - payload * (psn / sender->subflows);
    return (uint32_t)(left < payload ? left : payload);
}

uint32_t packet_bytes(const struct dp *dp, const struct sender *sender, uint32_t psn)
{
    return payload_of(dp, sender, psn) + dp->settings.header_bytes;
}

uint32_t packet_length(const struct dp *dp, const struct sender *sender, uint32_t psn)
{
    return packet_bytes(dp, sender, psn) - FCS_BYTES;
}

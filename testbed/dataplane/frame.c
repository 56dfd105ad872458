#include "frame.h"

#include <string.h>

/* Offsets in the frame. */
enum {
    AT_SOURCE_MAC = 6,
    AT_ETHERTYPE = 12,
    AT_IPV4 = 14,
    AT_TOS = 15,
    AT_TOTAL_LENGTH = 16,
    AT_PROTOCOL = 23,
    AT_CHECKSUM = 24,
    AT_SOURCE = 26,
    AT_DESTINATION = 30,
    AT_UDP = 34,
    AT_DESTINATION_PORT = 36,
    AT_UDP_LENGTH = 38,
    AT_BTH = 42,
    AT_BECN = 46,
    AT_QUEUE_PAIR = 47,
    AT_PSN = 51,
    AT_AETH = 54,
    AT_BITMAP = 58
};

enum {
    OPCODE_DATA = 0x07,  /* RC RDMA WRITE MIDDLE */
    OPCODE_ACK = 0x11,   /* RC ACKNOWLEDGE */
    ECN_MASK = 0x03,
    ECN_CAPABLE = 0x02,
    ECN_EXPERIENCED = 0x03,
    BECN = 0x40,
    DSCP_TRIMMED = 0x24,   /* AF42: nothing here reads drop precedences */
    IPV4_HEADER = 20,
    FIRST_QUEUE_PAIR = 2,  /* 0 and 1 are those of management: analysers decode them so */
    SYNDROME_ACK = 0x1f,   /* an ACK without credits */
    SYNDROME_NAK = 0x60,   /* PSN sequence error */
    SYNDROME_CUT = 0x7f    /* a reserved code: the packet came without its payload */
};

static const uint8_t TEMPLATE[FRAME_DATA_HEADERS] = {
    [AT_ETHERTYPE] = 0x08, 0x00,
    [AT_IPV4] = 0x45, ECN_CAPABLE, 0, 0, 0, 0, 0x40, 0, 64, 17,
    [AT_DESTINATION_PORT] = 0x12, 0xb7,
    [AT_BTH] = OPCODE_DATA, 0, 0xff, 0xff,
};

static void put16(uint8_t *at, uint32_t value)
{
    uint16_t big = __builtin_bswap16((uint16_t)value);
    memcpy(at, &big, sizeof big);
}

static void put24(uint8_t *at, uint32_t value)
{
    at[0] = (uint8_t)(value >> 16);
    put16(at + 1, value);
}

static void put32(uint8_t *at, uint32_t value)
{
    uint32_t big = __builtin_bswap32(value);
    memcpy(at, &big, sizeof big);
}

static void put48(uint8_t *at, uint64_t value)
{
    put16(at, (uint32_t)(value >> 32));
    put32(at + 2, (uint32_t)value);
}

static uint32_t get16(const uint8_t *at)
{
    uint16_t big;
    memcpy(&big, at, sizeof big);
    return __builtin_bswap16(big);
}

static uint32_t get24(const uint8_t *at)
{
    return (uint32_t)at[0] << 16 | get16(at + 1);
}

static uint32_t get32(const uint8_t *at)
{
    uint32_t big;
    memcpy(&big, at, sizeof big);
    return __builtin_bswap32(big);
}

static uint32_t fold(uint32_t sum)
{
    sum = (sum & 0xffff) + (sum >> 16);
    return (sum & 0xffff) + (sum >> 16);
}

static void write_checksum(uint8_t *data)
{
    uint32_t sum = 0;
    put16(data + AT_CHECKSUM, 0);
    for (uint32_t at = AT_IPV4; at < AT_IPV4 + IPV4_HEADER; at += 2)
        sum += get16(data + at);
    put16(data + AT_CHECKSUM, ~fold(sum));
}

/* Lengths that do not fit in 16 bits are capped: such frames exist in virtual time only. */
static void write_lengths(uint8_t *data, uint32_t length)
{
    uint32_t total = length - AT_IPV4;
    uint32_t udp = length - AT_UDP;
    put16(data + AT_TOTAL_LENGTH, total < 0xffff ? total : 0xffff);
    put16(data + AT_UDP_LENGTH, udp < 0xffff ? udp : 0xffff);
}

void frame_classify(struct packet *packet)
{
    const uint8_t *data = packet->data;
    packet->class = FRAME_OTHER;
    if (packet->stored < FRAME_DATA_HEADERS || get16(data + AT_ETHERTYPE) != 0x0800 ||
        data[AT_IPV4] != 0x45 || data[AT_PROTOCOL] != 17 ||
        get16(data + AT_DESTINATION_PORT) != 4791)
        return;
    if (data[AT_BTH] == OPCODE_DATA)
        packet->class = data[AT_TOS] >> 2 == DSCP_TRIMMED ? FRAME_TRIMMED : FRAME_DATA;
    else if (data[AT_BTH] == OPCODE_ACK)
        packet->class = FRAME_ACK;
}

void frame_data(struct packet *packet, uint32_t length, struct frame_address from,
                struct frame_address to, uint32_t flow, uint32_t psn, uint16_t entropy)
{
    uint8_t *data = packet->data;
    packet->length = length;
    packet->stored = FRAME_DATA_HEADERS;
    packet->class = FRAME_DATA;
    memcpy(data, TEMPLATE, sizeof TEMPLATE);
    put48(data, to.mac);
    put48(data + AT_SOURCE_MAC, from.mac);
    put32(data + AT_SOURCE, from.ipv4);
    put32(data + AT_DESTINATION, to.ipv4);
    put16(data + AT_UDP, entropy);
    put24(data + AT_QUEUE_PAIR, flow + FIRST_QUEUE_PAIR);
    put24(data + AT_PSN, psn);
    write_lengths(data, length);
    write_checksum(data);
}

static void swap(uint8_t *one, uint8_t *other, size_t bytes)
{
    uint8_t kept[8];
    memcpy(kept, one, bytes);
    memcpy(one, other, bytes);
    memcpy(other, kept, bytes);
}

/* AETH: the syndrome, and as message sequence number the packet's own or the cumulative one. */
static void write_answer(uint8_t *data, const struct frame_answer *answer)
{
    uint32_t no = answer->cut ? SYNDROME_CUT : SYNDROME_NAK;
    uint32_t syndrome = answer->nack ? no : SYNDROME_ACK;
    uint32_t number = answer->extended ? answer->cumulative & FRAME_PSN_MASK : get24(data + AT_PSN);
    put32(data + AT_AETH, syndrome << 24 | number);
    if (answer->extended) {
        put32(data + AT_BITMAP, (uint32_t)(answer->bitmap >> 32));
        put32(data + AT_BITMAP + 4, (uint32_t)answer->bitmap);
    }
}

void frame_acknowledge(struct packet *packet, const struct frame_answer *answer)
{
    uint8_t *data = packet->data;
    bool marked = (data[AT_TOS] & ECN_MASK) == ECN_EXPERIENCED;
    uint32_t length = answer->extended ? FRAME_SACK_LENGTH : FRAME_ACK_LENGTH;
    packet->length = length;
    packet->stored = length & 0xffffff;
    packet->class = FRAME_ACK;
    swap(data, data + AT_SOURCE_MAC, 6);
    swap(data + AT_SOURCE, data + AT_DESTINATION, 4);
    data[AT_TOS] = 0;
    data[AT_TOS + 7] = 64;
    put16(data + AT_UDP, answer->entropy);
    data[AT_BTH] = OPCODE_ACK;
    data[AT_BECN] = marked ? BECN : 0;
    write_answer(data, answer);
    put32(data + length - 4, 0);
    write_lengths(data, length);
    write_checksum(data);
}

void frame_trim(struct packet *packet, bool last_hop)
{
    uint8_t *data = packet->data;
    packet->length = FRAME_TRIMMED_LENGTH;
    packet->stored = FRAME_DATA_HEADERS;
    packet->class = FRAME_TRIMMED;
    uint32_t ecn = last_hop ? data[AT_TOS] & ECN_MASK : ECN_EXPERIENCED;
    data[AT_TOS] = (uint8_t)(DSCP_TRIMMED << 2 | ecn);
    write_lengths(data, packet->length);
    write_checksum(data);
}

bool frame_is_urgent(const struct packet *packet, const struct dp_settings *settings)
{
    if (packet->class != FRAME_ACK)
        return settings->trim && packet->class == FRAME_TRIMMED;
    bool cut = packet->stored > AT_AETH && packet->data[AT_AETH] == SYNDROME_CUT;
    return settings->ack_priority || (settings->trim && cut);
}

static uint64_t get64(const uint8_t *at)
{
    return (uint64_t)get32(at) << 32 | get32(at + 4);
}

struct frame_view frame_read(const struct packet *packet)
{
    const uint8_t *data = packet->data;
    bool marked = (data[AT_TOS] & ECN_MASK) == ECN_EXPERIENCED;
    bool ack = packet->class == FRAME_ACK;
    struct frame_view view = {
        .destination = get32(data + AT_DESTINATION),
        .flow = get24(data + AT_QUEUE_PAIR) - FIRST_QUEUE_PAIR,
        .psn = get24(data + AT_PSN),
        .entropy = (uint16_t)get16(data + AT_UDP),
        .congested = ack ? data[AT_BECN] & BECN : marked,
    };
    if (!ack || packet->stored < FRAME_SACK_LENGTH)
        return view;
    view.cut = data[AT_AETH] == SYNDROME_CUT;
    view.nack = view.cut || data[AT_AETH] == SYNDROME_NAK;
    view.cumulative = get24(data + AT_AETH + 1);
    view.bitmap = get64(data + AT_BITMAP);
    return view;
}

bool frame_mark(struct packet *packet)
{
    uint8_t *data = packet->data;
    if (packet->stored < AT_UDP || get16(data + AT_ETHERTYPE) != 0x0800 ||
        (data[AT_TOS] & ECN_MASK) == 0)
        return false;
    uint32_t before = get16(data + AT_IPV4);
    data[AT_TOS] |= ECN_EXPERIENCED;
    uint32_t after = get16(data + AT_IPV4);
    uint32_t sum = (~get16(data + AT_CHECKSUM) & 0xffff) + (~before & 0xffff) + after;
    put16(data + AT_CHECKSUM, ~fold(sum));
    return true;
}

#ifndef PACKET_H
#define PACKET_H
#include "bits.h"
#include "extern.h"
#include "hash.h"
#include "random.h"
#include "state.h"
#include "table.h"

/* A frame on its way through a switch, and what programs do with it. */

/* v1model's standard metadata, with what P4_14 calls queueing and intrinsic metadata. */
struct pl_standard {
    uint64_t ingress_global_timestamp;
    uint64_t egress_global_timestamp;
    uint32_t instance_type;
    uint32_t packet_length;
    uint32_t enq_timestamp;
    uint32_t enq_qdepth;
    uint32_t deq_timedelta;
    uint32_t deq_qdepth;
    uint32_t parser_error;
    uint16_t ingress_port;
    uint16_t egress_spec;
    uint16_t egress_port;
    uint16_t mcast_grp;
    uint16_t egress_rid;
    uint8_t checksum_error;
    uint8_t priority;
    uint8_t qid;
};

/* What a program asks of the traffic manager, or has done to the frame. */
enum pl_request {
    PL_CLONE = 1,
    PL_RESUBMIT = 2,
    PL_RECIRCULATE = 4,
    PL_DIGEST = 8,
    PL_TRUNCATE = 16,
    PL_EXITED = 32,
    PL_FAILED = 64 /* a fault was counted: the frame goes no further */
};

enum { PL_ROUNDS = 1 << 20 /* of a loop, for one frame */ };

enum pl_instance {
    PL_NORMAL = 0,
    PL_INGRESS_CLONE = 1,
    PL_EGRESS_CLONE = 2,
    PL_RECIRCULATED = 4,
    PL_REPLICATED = 5,
    PL_RESUBMITTED = 6
};

struct pl_packet {
    struct pl_switch *sw;
    uint8_t *data;
    uint32_t stored;
    uint32_t length;
    uint32_t parsed; /* bytes that the parser took: the payload starts here */
    uint32_t size;   /* length with the headers added and removed so far */
    uint32_t budget;
    uint32_t truncate_to;
    uint16_t requests;
    uint16_t session;
    uint16_t clone_list;
    uint16_t resubmit_list;
    uint16_t recirculate_list;
    uint16_t digest_list;
    bool in_place; /* nobody else needs the bytes at `data` */
    struct pl_standard standard;
};

bool pl_extend(struct pl_packet *packet, uint64_t end);

/* Whether `bytes` more bytes lie ahead of the parser. */
static inline bool pl_ahead(struct pl_packet *packet, uint64_t bytes)
{
    uint64_t end = packet->parsed + bytes;
    return __builtin_expect(end <= packet->stored, 1) || pl_extend(packet, end);
}

static inline const uint8_t *pl_cursor(const struct pl_packet *packet)
{
    return packet->data + packet->parsed;
}

static inline void pl_fail(struct pl_packet *packet, uint64_t *fault)
{
    ++*fault;
    packet->requests |= PL_FAILED;
}

/* Which headers are valid: a bit each. */

static inline bool pl_is_valid(const uint64_t *valid, uint32_t header)
{
    return valid[header / 64] >> (header % 64) & 1;
}

static inline void pl_set_valid(uint64_t *valid, uint32_t header)
{
    valid[header / 64] |= UINT64_C(1) << (header % 64);
}

static inline void pl_set_invalid(uint64_t *valid, uint32_t header)
{
    valid[header / 64] &= ~(UINT64_C(1) << (header % 64));
}

static inline void pl_copy_valid(uint64_t *valid, uint32_t to, uint32_t from)
{
    if (pl_is_valid(valid, from)) {
        pl_set_valid(valid, to);
    } else {
        pl_set_invalid(valid, to);
    }
}

/* Of the `count` members of a union, one at most is valid. */
static inline void pl_set_member_valid(uint64_t *valid, uint32_t header, uint32_t first,
                                       uint32_t count)
{
    for (uint32_t i = first; i < first + count; i++)
        pl_set_invalid(valid, i);
    pl_set_valid(valid, header);
}

static inline bool pl_any_valid(const uint64_t *valid, uint32_t first, uint32_t count)
{
    for (uint32_t i = first; i < first + count; i++) {
        if (pl_is_valid(valid, i))
            return true;
    }
    return false;
}

/* The index of a stack's last element; of an empty one, its first. */
static inline uint32_t pl_last(uint32_t next)
{
    return next ? next - 1 : 0;
}

/* `index` if it is below `size`; otherwise 0, and the frame fails. */
static inline uint32_t pl_index(struct pl_packet *packet, uint64_t index, uint32_t size)
{
    if (__builtin_expect(index < size, 1))
        return (uint32_t)index;
    pl_fail(packet, &packet->sw->faults.register_range);
    return 0;
}

static inline bool pl_in_range(struct pl_packet *packet, uint64_t index, uint64_t size)
{
    if (__builtin_expect(index < size, 1))
        return true;
    pl_fail(packet, &packet->sw->faults.register_range);
    return false;
}

static inline uint8_t *pl_cells8(const struct pl_packet *packet, uint32_t place)
{
    return packet->sw->cells + place;
}

static inline uint16_t *pl_cells16(const struct pl_packet *packet, uint32_t place)
{
    return (uint16_t *)(void *)(packet->sw->cells + place);
}

static inline uint32_t *pl_cells32(const struct pl_packet *packet, uint32_t place)
{
    return (uint32_t *)(void *)(packet->sw->cells + place);
}

static inline uint64_t *pl_cells64(const struct pl_packet *packet, uint32_t place)
{
    return (uint64_t *)(void *)(packet->sw->cells + place);
}

static inline void pl_mark_to_drop(struct pl_packet *packet)
{
    packet->standard.egress_spec = PL_DROP_PORT;
    packet->standard.mcast_grp = 0;
}

static inline void pl_clone(struct pl_packet *packet, uint64_t session, uint64_t list)
{
    packet->requests |= PL_CLONE;
    packet->session = session % PL_MIRRORS;
    packet->clone_list = (uint16_t)list;
}

static inline void pl_resubmit(struct pl_packet *packet, uint64_t list)
{
    packet->requests |= PL_RESUBMIT;
    packet->resubmit_list = (uint16_t)list;
}

static inline void pl_recirculate(struct pl_packet *packet, uint64_t list)
{
    packet->requests |= PL_RECIRCULATE;
    packet->recirculate_list = (uint16_t)list;
}

static inline void pl_request_digest(struct pl_packet *packet, uint64_t list)
{
    packet->requests |= PL_DIGEST;
    packet->digest_list = (uint16_t)list;
}

static inline void pl_truncate(struct pl_packet *packet, uint64_t length)
{
    packet->requests |= PL_TRUNCATE;
    packet->truncate_to = length > UINT32_MAX ? UINT32_MAX : (uint32_t)length;
}

static inline void pl_exit(struct pl_packet *packet)
{
    packet->requests |= PL_EXITED;
}

/* Whether the control is left: by `exit`, or because the frame failed. */
static inline bool pl_left(const struct pl_packet *packet)
{
    return packet->requests & (PL_EXITED | PL_FAILED);
}

/* Count a round of a loop; a frame that goes round for ever is stopped. */
static inline bool pl_repeats(struct pl_packet *packet, uint32_t *rounds)
{
    if (++*rounds <= PL_ROUNDS)
        return false;
    pl_fail(packet, &packet->sw->faults.recursion);
    return true;
}

static inline void pl_assert(struct pl_packet *packet, bool holds)
{
    if (!holds)
        pl_fail(packet, &packet->sw->faults.assertions);
}

static inline void pl_count(struct pl_packet *packet, uint32_t array, uint64_t index)
{
    struct pl_counters *counters = &packet->sw->counters[array];
    if (pl_in_range(packet, index, counters->size)) {
        counters->cells[index].packets++;
        counters->cells[index].bytes += packet->length;
    }
}

static inline void pl_count_row(struct pl_packet *packet, uint32_t array, uint32_t row)
{
    struct pl_counter *counter = &packet->sw->counters[array].cells[row];
    counter->packets++;
    counter->bytes += packet->length;
}

/* The colour of an indexed meter: 0 green, 1 yellow, 2 red. */
static inline uint32_t pl_meter(struct pl_packet *packet, uint32_t array, uint64_t index)
{
    struct pl_meters *meters = &packet->sw->meters[array];
    if (!pl_in_range(packet, index, meters->size))
        return 0;
    bool bytes = packet->sw->layout->meters[array].in_bytes;
    double amount = bytes ? (double)packet->length : 1.0;
    return pl_meter_execute(&meters->cells[index], packet->sw->now, amount);
}

/* What a table with an action profile found: the row's member, or one of its group. */
struct pl_found pl_found_member(const struct pl_packet *packet, uint32_t profile,
                                struct pl_found found, uint64_t hash);

/* Copy a field wider than 64 bits to byte `at` of a key. */
static inline void pl_key_bytes(uint64_t *key, uint32_t at, const uint8_t *bytes, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        key[(at + i) / 8] |= (uint64_t)bytes[i] << (56 - 8 * ((at + i) % 8));
}

/* The `*size` bytes of a checksum's input with the payload behind them. */
const uint8_t *pl_with_payload(struct pl_packet *packet, const uint8_t *input, uint32_t *size);

bool pl_value_set_has(const struct pl_packet *packet, uint32_t set, const uint8_t *value);
uint64_t pl_round_robin(struct pl_switch *sw, uint32_t calculation);
uint64_t pl_round_robin_consistent(struct pl_switch *sw, uint32_t calculation,
                                   const uint8_t *bytes, uint32_t count);
void pl_log(struct pl_packet *packet, const char *format, const uint64_t *values, uint32_t count);

#endif

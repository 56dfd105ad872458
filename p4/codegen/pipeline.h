#ifndef PIPELINE_H
#define PIPELINE_H
#include <stddef.h>
#include <stdint.h>

/*
 * The pipeline contract: a P4 program compiled to C, as the worlds that run it see it.
 *
 * A compiled program is a shared object that exports one symbol, `pl_program`. Whoever runs it
 * (the event core, the STF runner, the software switch) makes one pl_switch per switch node, gives
 * it frames with `receive`, and is told through pl_world where they go. All state of a switch lives
 * in its pl_switch: two switches of one program never meet, and one switch is used by one thread
 * at a time.
 *
 * Python reads this file too: between the guard lines it holds only what cffi's parser accepts.
 */

enum {
    PL_ABI = 2,           /* bumped with every change of this file */
    PL_DROP_PORT = 511,   /* v1model: egress_spec of a frame to be dropped */
    PL_PORT_LIMIT = 512,  /* ports are 9 bits wide */
    PL_ROOM = 512,        /* header bytes that a program may add to a frame */
    PL_GROUP = 1 << 30,   /* in an entry's action: a group of the table's action profile */
    PL_OWN = (1U << 31) - 1 /* as a default action: the one that the program declares, if any */
};

/*
 * A frame. `data` holds its first `stored` bytes; the bytes from there up to `length` are payload
 * that is not kept and reads as zero. The PL_ROOM bytes before `data` need not exist: a program
 * that adds headers builds its frame in memory of the switch's own.
 */
struct pl_frame {
    uint8_t *data;
    uint32_t stored; /* bytes at data */
    uint32_t length; /* bytes of the frame on the wire without FCS, at least `stored` */
};

/* What a frame met in its queue: v1model's queueing metadata, in the world's time unit. */
struct pl_queueing {
    uint64_t enqueued_at;
    uint64_t dequeued_at;
    uint32_t packets_at_enqueue; /* waiting packets, without the frame itself */
    uint32_t packets_at_dequeue;
};

/* A frame between ingress and egress, owned by the switch until `dequeue` or `discard`. */
struct pl_held;

/*
 * What the world does for a switch.
 *
 * enqueue: put a frame into the queue of `port`.
 *   With held == NULL (programs whose egress is pure) the frame is final: send it when its turn
 *   comes. frame->data is valid until the call returns; if it lies in the buffer that `receive`
 *   was given, the frame was rewritten in place and the world may keep that buffer.
 *   With held != NULL the frame is not final: keep `held`, and call program->dequeue when the
 *   frame's service starts (or program->discard if the queue is full). frame->length is then its
 *   length so far, and frame->data is NULL.
 * transmit: the final bytes of a frame that `dequeue` was called for; send it on `port` now.
 * digest, log: what the program sends to its control plane; either may be NULL.
 */
struct pl_world {
    void *context;
    void (*enqueue)(void *context, uint32_t port, uint32_t priority, const struct pl_frame *frame,
                    struct pl_held *held);
    void (*transmit)(void *context, uint32_t port, const struct pl_frame *frame);
    void (*digest)(void *context, uint32_t receiver, const uint8_t *data, uint32_t size);
    void (*log)(void *context, const char *line);
};

/* One switch: the program's state (tables, registers, counters, meters, random, groups). */
struct pl_switch;

/* Why frames vanished or were stopped inside a switch; read with program->faults. */
struct pl_faults {
    uint64_t dropped;          /* by the program: egress_spec 511, or a port it has no queue for */
    uint64_t register_range;   /* register, counter or meter index out of range */
    uint64_t header_room;      /* more than PL_ROOM bytes of headers added */
    uint64_t recursion;        /* resubmitted or recirculated too often */
    uint64_t assertions;       /* assert or assume that did not hold */
};

/*
 * A table key's fields, most significant byte first, one after the other, each rounded up to whole
 * bytes. `value` and `second` have that same layout; per match kind, `second` holds:
 * exact: nothing; lpm: the mask of its prefix; ternary, optional: the mask; range: the upper end.
 * Action parameters are laid out in the same way, in declaration order.
 */
struct pl_entry {
    const uint8_t *value;
    const uint8_t *second;  /* NULL where all fields are exact */
    uint32_t priority;      /* ternary, range, optional: the smaller number wins */
    uint32_t action;        /* index in the program's action list; or member/group, see flags */
    const uint8_t *parameters;
};

/* Negative results of control-plane calls; pl_program.error gives each a sentence. */
enum {
    PL_OK = 0,
    PL_NO_SUCH = -1,        /* unknown table, action, handle, array or index */
    PL_DUPLICATE = -2,      /* an entry with this key exists */
    PL_FULL = -3,           /* the table's declared size is reached */
    PL_BAD_VALUE = -4,      /* a value wider than its field, a prefix with holes, low > high */
    PL_READ_ONLY = -5,      /* const entries, const default action */
    PL_NO_MEMORY = -6,
    PL_IN_USE = -7,         /* a member or group that an entry, a default action or a group names */
    PL_EMPTY = -8           /* a group without members */
};

/*
 * The program. Tables, actions, registers, counters and meters are numbered in the order of the
 * BMv2 JSON that the C was made from; the Python side maps P4 names to numbers from that JSON.
 */
struct pl_program {
    uint32_t abi;
    const char *name;
    const char *digest;      /* of the JSON this was made from */
    uint32_t pure_egress;    /* 1: egress does nothing, frames are final when enqueued */

    struct pl_switch *(*create)(const struct pl_world *world, uint64_t seed);
    void (*destroy)(struct pl_switch *sw);

    /* A frame arrives on `port` at `now`: parser, ingress, and on to pl_world.enqueue. */
    void (*receive)(struct pl_switch *sw, uint32_t port, const struct pl_frame *frame,
                    uint64_t now);
    void (*dequeue)(struct pl_switch *sw, struct pl_held *held, const struct pl_queueing *queueing);
    void (*discard)(struct pl_switch *sw, struct pl_held *held);

    /* Handles are non-negative; all calls return PL_OK, a handle or count, or an error above. */
    int64_t (*table_add)(struct pl_switch *sw, uint32_t table, const struct pl_entry *entry);
    int64_t (*table_modify)(struct pl_switch *sw, uint32_t table, int64_t handle, uint32_t action,
                            const uint8_t *parameters);
    int64_t (*table_delete)(struct pl_switch *sw, uint32_t table, int64_t handle);
    int64_t (*table_default)(struct pl_switch *sw, uint32_t table, uint32_t action,
                             const uint8_t *parameters);
    int64_t (*table_count)(struct pl_switch *sw, uint32_t table);
    /* Let `sw` read table `table` of `from` instead of its own, copying at the next write. */
    int64_t (*table_share)(struct pl_switch *sw, uint32_t table, struct pl_switch *from);

    int64_t (*register_read)(struct pl_switch *sw, uint32_t array, uint32_t first, uint32_t count,
                             uint8_t *values);
    int64_t (*register_write)(struct pl_switch *sw, uint32_t array, uint32_t first, uint32_t count,
                              const uint8_t *values);
    int64_t (*counter_read)(struct pl_switch *sw, uint32_t array, uint32_t index,
                            uint64_t *packets, uint64_t *bytes);
    void (*faults)(struct pl_switch *sw, struct pl_faults *faults);
    const char *(*error)(int64_t code);

    /* Add `count` entries; how many were added before the first that failed, with its error. */
    int64_t (*table_add_many)(struct pl_switch *sw, uint32_t table,
                              const struct pl_entry *entries, uint32_t count, int64_t *handles);
    /* The handle after `handle` (-1: the first), PL_NO_SUCH at the end. */
    int64_t (*table_next)(struct pl_switch *sw, uint32_t table, int64_t handle);
    /*
     * Read an entry back (handle -1: the default action) into buffers of the key's and of the
     * largest parameters' size; the result is its action, member or group. Of a table where the
     * longest prefix wins, the priority is the number of bits not in the prefix.
     */
    int64_t (*table_read)(struct pl_switch *sw, uint32_t table, int64_t handle, uint8_t *value,
                          uint8_t *second, uint8_t *parameters, uint32_t *priority);
    int64_t (*counter_write)(struct pl_switch *sw, uint32_t array, uint32_t index,
                             uint64_t packets, uint64_t bytes);
    /* Committed and peak rate per time unit of the world, in packets or bytes, and bursts. */
    int64_t (*meter_set)(struct pl_switch *sw, uint32_t array, uint32_t index,
                         const double *rates, const double *bursts);
    /* Read them back: how many rates are set. */
    int64_t (*meter_get)(struct pl_switch *sw, uint32_t array, uint32_t index, double *rates,
                         double *bursts);

    /*
     * Action profiles: members and groups are numbered by the program, -1 makes a new one. An
     * entry of a table with a profile has a member's number as its action, or a group's number
     * plus PL_GROUP; the group must not be empty then. What is in use cannot be deleted.
     */
    int64_t (*member_set)(struct pl_switch *sw, uint32_t profile, int64_t member, uint32_t action,
                          const uint8_t *parameters);
    int64_t (*member_delete)(struct pl_switch *sw, uint32_t profile, uint32_t member);
    int64_t (*selection_set)(struct pl_switch *sw, uint32_t profile, int64_t group,
                             const uint32_t *members, uint32_t count);
    int64_t (*selection_delete)(struct pl_switch *sw, uint32_t profile, uint32_t group);
    /* The member or group after one (-1: the first), PL_NO_SUCH at the end. */
    int64_t (*member_next)(struct pl_switch *sw, uint32_t profile, int64_t member);
    int64_t (*selection_next)(struct pl_switch *sw, uint32_t profile, int64_t group);
    /* Read a member's parameters; the result is its action. */
    int64_t (*member_read)(struct pl_switch *sw, uint32_t profile, uint32_t member,
                           uint8_t *parameters);
    /* Read at most `limit` members of a group; the result is how many it has. */
    int64_t (*selection_read)(struct pl_switch *sw, uint32_t profile, uint32_t group,
                              uint32_t *members, uint32_t limit);

    /* A parser value set's members, each in its whole bytes. */
    int64_t (*value_set_fill)(struct pl_switch *sw, uint32_t set, const uint8_t *values,
                              uint32_t count);
    /* A multicast group's copies: ports, and what they show as egress_rid. */
    int64_t (*group_set)(struct pl_switch *sw, uint32_t group, const uint32_t *ports,
                         const uint32_t *instances, uint32_t count);
    int64_t (*group_delete)(struct pl_switch *sw, uint32_t group);
    /* A mirroring session's port and multicast group, each -1 for none. */
    int64_t (*mirror_set)(struct pl_switch *sw, uint32_t session, int32_t port, int32_t group);
    int64_t (*mirror_delete)(struct pl_switch *sw, uint32_t session);

    /*
     * Hashes that the control plane parameterises, by their place among the JSON's calculations:
     * a CRC of 8 to 64 bits (`reflect`: bit 0 for the data, bit 1 for the remainder), and a
     * Toeplitz key. PL_NO_SUCH if the calculation is of another kind.
     */
    int64_t (*crc_set)(struct pl_switch *sw, uint32_t calculation, uint64_t polynomial,
                       uint64_t initial, uint64_t final_xor, uint32_t reflect);
    int64_t (*toeplitz_set)(struct pl_switch *sw, uint32_t calculation, const uint8_t *key,
                            uint32_t count);
    /* Put everything back to how `create` left it, but for frames, faults and random numbers. */
    int64_t (*reset)(struct pl_switch *sw);
};

#endif

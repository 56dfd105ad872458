#ifndef STATE_H
#define STATE_H
#include "pipeline.h"
#include <stdbool.h>

/*
 * What a program is and what a switch holds. A generated file fills one pl_layout with its
 * tables and arrays; everything that is not per frame works from that description.
 */

struct pl_store;
struct pl_packet;

enum pl_match { PL_EXACT, PL_LPM, PL_TERNARY, PL_RANGE, PL_OPTIONAL };

/* How a table finds its entries: one hash, a hash per mask, or one after the other. */
enum pl_engine { PL_NO_KEY, PL_HASHED, PL_MASKED, PL_SCANNED };

enum {
    PL_NONE = -1,
    PL_NO_LIST = 65536, /* no field list has this number */
    PL_MIRRORS = 32768,
    PL_BUDGET = 4096 /* passes that one received frame and its copies may take together */
};

struct pl_parameter {
    uint16_t bits;
    uint16_t word; /* where it starts among the argument words */
};

struct pl_action {
    const char *name;
    const struct pl_parameter *parameters;
    uint16_t count;
    uint16_t words;
};

struct pl_key {
    uint16_t match;
    uint16_t bits;
    uint16_t byte; /* where it starts in the key */
};

struct pl_table {
    const char *name;
    uint16_t engine;
    uint16_t by_prefix; /* of two entries the longer prefix wins, not the priority */
    uint16_t key_count;
    uint16_t key_bytes;
    uint16_t key_words;
    uint16_t value_words; /* key words in a row; range tables keep the upper ends behind them */
    uint16_t argument_words;
    uint16_t row_bytes;
    const struct pl_key *keys;
    const uint16_t *actions;
    uint16_t action_count;
    uint16_t entries_constant;
    uint16_t default_constant;
    int16_t counter; /* direct counter and meter, profile: numbers, or PL_NONE */
    int16_t meter;
    int16_t profile;
    uint32_t size;
    int32_t default_action;
    const uint8_t *default_parameters;
    const struct pl_entry *entries;
    uint32_t entry_count;
};

struct pl_register {
    const char *name;
    uint32_t bits;
    uint32_t cell_bytes;
    uint32_t size;
    uint32_t place; /* byte offset among the switch's cells */
};

struct pl_counter_info {
    const char *name;
    uint32_t size;
    int32_t table; /* a direct counter's table */
};

struct pl_meter_info {
    const char *name;
    uint32_t size;
    int32_t table;
    uint16_t rates;
    uint16_t in_bytes;
};

struct pl_profile_info {
    const char *name;
    uint32_t size;
    uint32_t selects;
};

enum pl_hash_kind { PL_HASH_FIXED, PL_HASH_CRC, PL_HASH_TOEPLITZ };

struct pl_hash_info {
    uint16_t kind;
    uint16_t bits; /* of a CRC */
};

struct pl_value_set_info {
    const char *name;
    uint32_t bits;
    uint32_t size;
};

/* The stages of a program, as the traffic manager calls them. */
struct pl_stages {
    uint32_t packet_bytes;
    uint32_t head_bytes; /* the deparser never writes more */
    void (*parse)(struct pl_packet *packet);
    void (*ingress)(struct pl_packet *packet);
    void (*egress)(struct pl_packet *packet);
    /* Write the headers to `head` and return how many bytes they take. */
    uint32_t (*deparse)(struct pl_packet *packet, uint8_t *head);
    /* Clear the metadata of `to`, but keep what list number `list` has of `from`. */
    void (*keep)(struct pl_packet *to, const struct pl_packet *from, uint32_t list);
    void (*digest)(struct pl_packet *packet, uint32_t list);
};

struct pl_layout {
    const struct pl_program *program;
    struct pl_stages stages;
    const struct pl_table *tables;
    const struct pl_action *actions;
    const struct pl_register *registers;
    const struct pl_counter_info *counters;
    const struct pl_meter_info *meters;
    const struct pl_profile_info *profiles;
    const struct pl_value_set_info *value_sets;
    const struct pl_hash_info *hashes; /* by calculation */
    uint32_t table_count;
    uint32_t action_count;
    uint32_t register_count;
    uint32_t counter_count;
    uint32_t meter_count;
    uint32_t profile_count;
    uint32_t value_set_count;
    uint32_t calculation_count;
    uint32_t cell_bytes;    /* of all registers */
    uint32_t residue_bytes; /* header fields that outlive a frame, see the generated file */
};

struct pl_counter {
    uint64_t packets;
    uint64_t bytes;
};

struct pl_counters {
    struct pl_counter *cells;
    uint32_t size;
};

struct pl_bucket {
    double rate; /* per time unit of the world */
    double burst;
    double tokens;
    uint64_t filled_at;
};

struct pl_meter {
    struct pl_bucket buckets[2]; /* committed, peak */
    bool configured;
};

struct pl_meters {
    struct pl_meter *cells;
    uint32_t size;
};

struct pl_replica {
    uint16_t port;
    uint16_t instance;
};

struct pl_group {
    uint32_t number;
    uint32_t count;
    struct pl_replica *replicas;
};

struct pl_mirror {
    uint32_t session;
    int32_t port;  /* or PL_NONE */
    int32_t group; /* or PL_NONE */
};

struct pl_member {
    uint32_t used;
    uint32_t action;
    uint64_t *arguments;
};

struct pl_selection {
    uint32_t used;
    uint32_t count;
    uint32_t *members;
};

struct pl_profile {
    struct pl_member *members;
    uint32_t member_count;
    struct pl_selection *groups;
    uint32_t group_count;
};

struct pl_value_set {
    uint8_t *values;
    uint32_t count;
};

/* A hash that counts its calls, or its different inputs. */
struct pl_rounds {
    uint64_t next;
    uint64_t *inputs; /* hashes of those met, in the order of their numbers */
};

/* How the control plane set a hash that has parameters. */
struct pl_hash_setting {
    bool set;
    uint32_t reflect;
    uint64_t polynomial;
    uint64_t initial;
    uint64_t final_xor;
    uint8_t *key;
    uint32_t key_bytes;
};

struct pl_held;

struct pl_switch {
    const struct pl_layout *layout;
    uint8_t *cells;
    struct pl_store **stores;
    uint64_t now;
    uint64_t random[4];
    struct pl_world world;
    struct pl_faults faults;
    uint8_t *residue;
    struct pl_counters *counters;
    struct pl_meters *meters;
    struct pl_profile *profiles;
    struct pl_value_set *value_sets;
    struct pl_group *groups;
    uint32_t group_count;
    struct pl_mirror *mirrors;
    uint32_t mirror_count;
    struct pl_held *spare; /* held frames to use again */
    uint8_t *scratch;      /* a frame under construction */
    uint32_t scratch_bytes;
    uint8_t *window;       /* a frame whose payload the parser asked for */
    uint32_t window_bytes;
    struct pl_rounds *rounds; /* of round-robin hashes, by calculation */
    struct pl_hash_setting *hashes; /* by calculation */
    uint8_t *joined;          /* a checksum's input with payload */
    uint32_t joined_bytes;
};

#endif

// Sets of uplinks as bit masks, and how to choose from them.
//
// EACH_UPLINK(STEP) expands to STEP(0) STEP(1) ... STEP(W - 1): loops over the uplinks are unrolled
// by the preprocessor, because P4 has no loops that every target takes.

#define EACH_1(STEP, i) STEP((i))
#define EACH_2(STEP, i) EACH_1(STEP, i) EACH_1(STEP, i + 1)
#define EACH_4(STEP, i) EACH_2(STEP, i) EACH_2(STEP, i + 2)
#define EACH_8(STEP, i) EACH_4(STEP, i) EACH_4(STEP, i + 4)
#define EACH_16(STEP, i) EACH_8(STEP, i) EACH_8(STEP, i + 8)
#define EACH_32(STEP, i) EACH_16(STEP, i) EACH_16(STEP, i + 16)
#define EACH_64(STEP, i) EACH_32(STEP, i) EACH_32(STEP, i + 32)
#define EACH_128(STEP, i) EACH_64(STEP, i) EACH_64(STEP, i + 64)

#if W & 1
#define UP_TO_1(STEP) EACH_1(STEP, 0)
#else
#define UP_TO_1(STEP)
#endif
#if W & 2
#define UP_TO_2(STEP) UP_TO_1(STEP) EACH_2(STEP, (W & 1))
#else
#define UP_TO_2(STEP) UP_TO_1(STEP)
#endif
#if W & 4
#define UP_TO_4(STEP) UP_TO_2(STEP) EACH_4(STEP, (W & 3))
#else
#define UP_TO_4(STEP) UP_TO_2(STEP)
#endif
#if W & 8
#define UP_TO_8(STEP) UP_TO_4(STEP) EACH_8(STEP, (W & 7))
#else
#define UP_TO_8(STEP) UP_TO_4(STEP)
#endif
#if W & 16
#define UP_TO_16(STEP) UP_TO_8(STEP) EACH_16(STEP, (W & 15))
#else
#define UP_TO_16(STEP) UP_TO_8(STEP)
#endif
#if W & 32
#define UP_TO_32(STEP) UP_TO_16(STEP) EACH_32(STEP, (W & 31))
#else
#define UP_TO_32(STEP) UP_TO_16(STEP)
#endif
#if W & 64
#define UP_TO_64(STEP) UP_TO_32(STEP) EACH_64(STEP, (W & 63))
#else
#define UP_TO_64(STEP) UP_TO_32(STEP)
#endif
#if W & 128
#define EACH_UPLINK(STEP) UP_TO_64(STEP) EACH_128(STEP, (W & 127))
#else
#define EACH_UPLINK(STEP) UP_TO_64(STEP)
#endif

// Whether uplink i, which may be a variable, is in a set.
#define CONTAINS(set, i) ((bit<1>)((set) >> (i)))

// The uplink (or position) after i, round and round.
#define AFTER(i) ((i) == W - 1 ? (bit<8>)0 : (i) + 1)

// The one that is a constant number n of steps after i, at most W.
#define LATER(i, n) ((i) >= W - (n) ? (i) - (W - (n)) : (i) + (n))

// How many uplinks a set has.
bit<8> size_of(in bit<W> set) {
    bit<8> size = 0;
#define COUNT(i) size = size + (bit<8>)CONTAINS(set, i);
    EACH_UPLINK(COUNT)
    return size;
}

// Member number `rank` of a set, from 0. What is still to be passed is counted in a part of a
// variable: compilers that substitute variables leave parts alone, and would nest all steps in each
// other.
bit<8> member(in bit<W> set, in bit<8> rank) {
    bit<8> found = 0;
    bit<16> ahead = (bit<16>)rank;
#define PICK(i) \
    found = CONTAINS(set, i) == 1 && ahead[8:0] == 0 ? (bit<8>)i : found; \
    ahead[8:0] = ahead[8:0] - (bit<9>)CONTAINS(set, i);
    EACH_UPLINK(PICK)
    return found;
}

// The first member of a set at `start` or after it, round and round. The set must not be empty.
bit<8> next_member(in bit<W> set, in bit<8> start) {
    bit<W> rest = set & (ALL_UPLINKS << start);
    return member(rest == 0 ? set : rest, 0);
}

// Two different members of a set of `size`, or the same twice if there is but one.
#define DRAW_TWO(first, second, size) \
    random(first, 8w0, (size) - 1); \
    random(second, (size) == 1 ? 8w0 : 8w1, (size) - 1); \
    second = (bit<8>)((bit<9>)first + (bit<9>)second >= (bit<9>)(size) ? \
                      (bit<9>)first + (bit<9>)second - (bit<9>)(size) : \
                      (bit<9>)first + (bit<9>)second);

// Collects the uplinks with the least measure, one call an uplink, in order.
#define KEEP_LEAST(i, measure, least, candidates) \
    candidates = measure < least ? (bit<W>)1 << i : \
                 (measure == least ? candidates | (bit<W>)1 << i : candidates); \
    least = measure < least ? measure : least;

// Sets `uplink` to a random member of a set.
#define CHOOSE_FROM(candidates, uplink) \
    random(uplink, 8w0, size_of(candidates) - 1); \
    uplink = member(candidates, uplink);

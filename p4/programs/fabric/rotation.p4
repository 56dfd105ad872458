// Ofan's pointers and port orders (paper §4.1 and Appendix F.2), for programs that differ in which
// pointer a packet uses. POINTERS is the number of pointers that a switch may need.
//
// The i-th port of the order of a pointer with identifier id is
//     (xor_w(P[i], id1) + id2) mod w,   id1 = id mod 2^b,   id2 = floor(id / 2^b),
// where b = ceil(log2 w), and xor_w(v, x) is v ^ x where that is below w, and v elsewhere. `order`
// holds P, which is the same in all switches; `pointers` starts at random values. With ONE_ORDER
// all pointers follow P itself, to show what different orders are good for.

#ifndef ONE_ORDER
#define ONE_ORDER 0
#endif

#if W <= 2
#define ORDER_BITS 1
#elif W <= 4
#define ORDER_BITS 2
#elif W <= 8
#define ORDER_BITS 3
#elif W <= 16
#define ORDER_BITS 4
#elif W <= 32
#define ORDER_BITS 5
#elif W <= 64
#define ORDER_BITS 6
#elif W <= 128
#define ORDER_BITS 7
#else
#define ORDER_BITS 8
#endif

// The port for P[i] = base in an order with this `twist` (id1) and `turn` (id2 mod w).
bit<8> port_of(in bit<8> base, in bit<8> twist, in bit<8> turn) {
#if ONE_ORDER
    return base;
#else
    bit<8> flipped = base ^ twist;
    bit<8> place = flipped < W ? flipped : base;
    return place >= W - turn ? place - (W - turn) : place + turn;
#endif
}

// Advances pointer `pointer` and sets the uplink that it points to in the order of `id`.
control Rotation(in bit<32> pointer, in bit<16> id, inout Metadata meta) {
    register<bit<8>>(POINTERS) pointers;
    register<bit<8>>(W) order;
    bit<8> twist = 0;
    bit<8> turn = 0;

    action know_order() {
        bit<16> second = id >> ORDER_BITS;
        // Division by W, exact for all numbers of 16 bits.
        bit<48> rounds = ((bit<48>)second * (0x100000000 / W + 1)) >> 32;
        turn = (bit<8>)(second - (bit<16>)rounds * W);
        twist = (bit<8>)id[ORDER_BITS - 1:0];
    }

    action rotate() {
        bit<8> position;
        bit<8> base;
        pointers.read(position, pointer);
        pointers.write(pointer, AFTER(position));
        order.read(base, (bit<32>)position);
        meta.uplink = port_of(base, twist, turn);
    }

    // The pointer goes on until it meets an uplink that leads to the destination, so that each of
    // those still gets one packet a round. Positions are tried from the last to the first, so that
    // the first counts. Each is told by `start`, and the order is known beforehand: compilers that
    // substitute variables would nest a chain of steps in itself.
    action rotate_over_valid() {
        bit<8> start;
        bit<8> base;
        bit<8> port;
        bit<1> takes;
        bit<8> next = 0;
        pointers.read(start, pointer);
#define TRY(i) \
        order.read(base, (bit<32>)LATER(start, W - 1 - i)); \
        port = port_of(base, twist, turn); \
        takes = CONTAINS(meta.valid, port); \
        meta.uplink = takes == 1 ? port : meta.uplink; \
        next = takes == 1 ? LATER(start, W - i) : next;
        EACH_UPLINK(TRY)
        pointers.write(pointer, next);
    }

    apply {
        know_order();
        if (meta.valid == ALL_UPLINKS) {
            rotate();
        } else {
            rotate_over_valid();
        }
    }
}

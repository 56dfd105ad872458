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

// The port for P[i] = base. id < 4 w^2, so that id2 < 4 w and two subtractions reduce it.
bit<8> port_of(in bit<8> base, in bit<16> id) {
#if ONE_ORDER
    return base;
#else
    bit<8> flipped = base ^ (bit<8>)id[ORDER_BITS - 1:0];
    bit<16> sum = id >> ORDER_BITS;
    sum = sum >= 2 * W ? sum - 2 * W : sum;
    sum = sum >= W ? sum - W : sum;
    sum = sum + (bit<16>)(flipped < W ? flipped : base);
    return (bit<8>)(sum >= W ? sum - W : sum);
#endif
}

// Advances pointer `pointer` and sets the uplink that it points to in the order of `id`.
control Rotation(in bit<32> pointer, in bit<16> id, inout Metadata meta) {
    register<bit<8>>(POINTERS) pointers;
    register<bit<8>>(W) order;

    action rotate() {
        bit<8> position;
        bit<8> base;
        pointers.read(position, pointer);
        pointers.write(pointer, AFTER(position));
        order.read(base, (bit<32>)position);
        meta.uplink = port_of(base, id);
    }

    // The pointer goes on until it meets an uplink that leads to the destination, so that each of
    // those still gets one packet a round.
    action rotate_over_valid() {
        bit<8> position;
        bit<8> base;
        bit<8> port;
        bit<1> takes;
        bit<1> searching = 1;
        bit<8> next = 0;
        pointers.read(position, pointer);
#define TRY(i) \
        order.read(base, (bit<32>)position); \
        port = port_of(base, id); \
        takes = searching & CONTAINS(meta.valid, port); \
        searching = searching & ~takes; \
        position = AFTER(position); \
        meta.uplink = takes == 1 ? port : meta.uplink; \
        next = takes == 1 ? position : next;
        EACH_UPLINK(TRY)
        pointers.write(pointer, next);
    }

    apply {
        if (meta.valid == ALL_UPLINKS) {
            rotate();
        } else {
            rotate_over_valid();
        }
    }
}

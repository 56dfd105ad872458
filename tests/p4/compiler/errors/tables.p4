#include <v1model.p4>

control C(inout bit<8> x, inout bit<32> address, in bool flag) {
    action set(bit<8> value) { x = value; }
    action copy(in bit<8> from, bit<8> value) { x = from + value; }
    table t {
        key = { x: exact; address: lpm; }
        actions = { set; copy(x); }
        size = 16;
        const default_action = set();
        const entries = {
            (1, 0x0a000000 &&& 0xff000000): set(1);
            (1, 2, 3): set(1);
            (_, 1): set(1);
            (1, 1 .. 2): set(1);
            (1, 2): set(x);
            (1, 3): drop();
        }
    }
    table u {
        key = { flag: ternary; }
        actions = { set; }
    }
    apply {
        switch (t.apply().action_run) {
            set: { }
            set: { }
            missing: { }
        }
        if (u.apply().hit == 3) { }
        if (u.apply().found) { }
    }
}

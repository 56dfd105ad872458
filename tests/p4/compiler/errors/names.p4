#include <core.p4>

struct pair_t { bit<8> left; bit<8> left; }
header counted_t { bit<8> count; bool[4] flags; }
enum kind_t { one, two }

control C(inout pair_t p) {
    bit<8> value = valu;
    bit<8> value = 1;
    action act() { value = undefined(1); }
    action act() { }
    table t {
        key = { p.left: exakt; }
        actions = { act; acct; }
        default_action = other;
        colour = 3;
    }
    apply {
        kind_t k = kind_t.three;
        t.apply(1);
        u.apply();
        error e = error.NoMatc;
    }
}

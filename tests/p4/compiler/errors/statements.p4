#include <core.p4>

header h_t { bit<8> f; }
header_union u_t { h_t a; h_t b; }
struct headers { h_t h; h_t[4] stack; u_t u; }

control C(inout headers hdr, inout bit<8> x) {
    const bit<8> fixed = 3;
    const bit<8> moving = x;
    apply {
        fixed = 4;
        hdr.stack[4].f = 1;
        hdr.stack.push_front(x);
        hdr.stack.next = hdr.h;
        hdr.h = 5;
        hdr.h = { 1, 2 };
        hdr.h = { g = 1 };
        x = x / 0;
        x = x << -1;
        x = x |+| true;
        break;
        switch (x) {
            1: { }
            1: { }
            x: { }
        }
        hdr.u.setValid();
        hdr.h.isValid(1);
        5 = x;
    }
}

#include <core.p4>
#include <v1model.p4>
header h_t { bit<8> a; bit<8> b; bit<16> c; int<8> d; bit<4> e; bit<4> f; }
struct headers { h_t h; h_t other; }
struct pair_t { bit<8> l; bit<8> r; }
struct meta_t { pair_t p; bool flag; }
bit<8> bump(inout bit<8> x) { x = x + 1; return x; }
bool touch(inout bit<8> x) { x = x + 1; return x != 0; }
parser P(packet_in p, out headers hdr, inout meta_t m, inout standard_metadata_t sm) {
    state start { p.extract(hdr.h); transition accept; }
}
control V(inout headers hdr, inout meta_t m) { apply { } }
control I(inout headers hdr, inout meta_t m, inout standard_metadata_t sm) {
    apply {
        sm.egress_spec = 1;
        // the operand on the left is taken before the call changes it
        hdr.h.b = hdr.h.a + bump(hdr.h.a);
        m.p = { 1, 2 };
        m.p = { m.p.r, m.p.l };
        hdr.h.c[15:8] = m.p.l;
        hdr.h.c[7:0] = m.p.r;
        hdr.h.d = (hdr.h.d >> 1) |-| 8s100;
        hdr.h.e = hdr.h.f ++ 4w0 == 8w0x50 ? 4w9 : 4w3;
        m.flag = false && touch(hdr.h.a) || hdr.h.f == 5;
        if (m.flag) { hdr.other = hdr.h; hdr.other.a = 0x77; }
        if (hdr.other == hdr.h) { hdr.h.f = 1; } else { hdr.h.f = 2; }
        if (hdr.other == { 0x77, hdr.h.b, hdr.h.c, hdr.h.d, 9, 5 }) { hdr.h.f = 3; }
    }
}
control E(inout headers hdr, inout meta_t m, inout standard_metadata_t sm) { apply { } }
control C(inout headers hdr, inout meta_t m) { apply { } }
control D(packet_out p, in headers hdr) { apply { p.emit(hdr); } }
V1Switch(P(), V(), I(), E(), C(), D()) main;

#include <core.p4>
#include <v1model.p4>
header h_t { bit<8> a; bit<8> b; bit<8> c; bit<8> d; }
header e_t { bit<8> v; }
struct headers { h_t h; e_t[3] s; }
struct meta_t { bit<8> i; }
parser P(packet_in p, out headers hdr, inout meta_t m, inout standard_metadata_t sm) {
    state start {
        p.extract(hdr.h);
        p.extract(hdr.s[hdr.h.b & 1]);
        if (hdr.h.d == 9) { m.i = 1; p.extract(hdr.s[2]); } else { m.i = 2; }
        transition accept;
    }
}
control V(inout headers hdr, inout meta_t m) { apply {} }
control Sub(inout bit<8> x, in bit<8> k) {
    action bump(bit<8> n) { x = x + n; }
    action leave() { x = x |+| 8w250; exit; }
    table t { key = { k: exact; } actions = { bump; leave; NoAction; } default_action = bump(1);
        const entries = { 5: leave(); 6: bump(10); } }
    apply {
        if (t.apply().hit) { x = x ^ 8w0x80; } else { x = x + 1; }
    }
}
control I(inout headers hdr, inout meta_t m, inout standard_metadata_t sm) {
    action set(bit<8> v) { hdr.h.c = hdr.h.c + v; }
    table t { key = { hdr.h.a: exact; } actions = { set; NoAction; } default_action = set(7);
        const entries = { 1: set(1); 2: NoAction(); } }
    Sub() sub;
    apply {
        sm.egress_spec = 1;
        switch (t.apply().action_run) { set: { hdr.h.d = 1; } default: { hdr.h.d = 2; } }
        if (hdr.s[m.i].isValid()) { hdr.s[m.i].v = hdr.s[m.i].v + 1; }
        // aliasing: both arguments overlap, so that copies are made
        sub.apply(hdr.h.b, hdr.h.b);
        hdr.h.a = 0xee;
    }
}
control E(inout headers hdr, inout meta_t m, inout standard_metadata_t sm) { apply { } }
control C(inout headers hdr, inout meta_t m) { apply {} }
control D(packet_out p, in headers hdr) { apply { p.emit(hdr); } }
V1Switch(P(), V(), I(), E(), C(), D()) main;

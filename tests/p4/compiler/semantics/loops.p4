#include <core.p4>
#include <v1model.p4>
header h_t { bit<8> a; bit<8> b; bit<8> c; bit<8> d; }
struct headers { h_t h; h_t[3] s; }
struct meta_t { bit<8> i; }
parser P(packet_in p, out headers hdr, inout meta_t m, inout standard_metadata_t sm) {
    state start {
        p.extract(hdr.h);
        p.extract(hdr.s.next);
        p.extract(hdr.s.next);
        transition accept;
    }
}
control V(inout headers hdr, inout meta_t m) { apply {} }
control I(inout headers hdr, inout meta_t m, inout standard_metadata_t sm) {
    apply {
        sm.egress_spec = 1;
        for (bit<8> i = 0; i < 3; i = i + 1) {
            if (!hdr.s[i].isValid()) { break; }
            hdr.h.a = hdr.h.a + hdr.s[i].a;
            for (bit<4> j in 4w1 .. 3) {
                if (j == 2) { continue; }
                hdr.s[i].b = hdr.s[i].b + (bit<8>)j;
            }
        }
        for (bit<8> k = 5; k > 0; k -= 1) { if (hdr.h.c == k) { k = 1; } hdr.h.d = hdr.h.d + 1; }
        for (bit<8> n in { hdr.h.a, 8w7 }) { hdr.h.b = hdr.h.b ^ n; }
        hdr.h.a = 0xee;
    }
}
control E(inout headers hdr, inout meta_t m, inout standard_metadata_t sm) { apply { } }
control C(inout headers hdr, inout meta_t m) { apply {} }
control D(packet_out p, in headers hdr) { apply { p.emit(hdr); } }
V1Switch(P(), V(), I(), E(), C(), D()) main;

#include <v1model.p4>

header h_t { bit<8> a; bit<8> b; }
header odd_t { bit<3> x; }
struct headers { h_t h; odd_t odd; }
struct meta_t { bit<8> m; }
struct pair_t { bit<8> l; bit<8> r; }

parser P(packet_in p, out headers hdr, inout meta_t m, inout standard_metadata_t sm) {
    state start { p.extract(hdr.h); transition accept; }
}
control V(inout headers hdr, inout meta_t m) { apply { m.m = 1; } }
control I(inout headers hdr, inout meta_t m, inout standard_metadata_t sm) {
    register<pair_t>(4) pairs;
    table t { key = { hdr.h.a: lpm; hdr.h.b: lpm; } actions = { NoAction; } }
    table u { actions = { NoAction; } }
    apply {
        t.apply();
        for (bit<8> i = 0; true; i = i + 1) { u.apply(); }
        recirculate_preserving_field_list(1);
        clone(CloneType.E2E, 5);
    }
}
control E(inout headers hdr, inout meta_t m, inout standard_metadata_t sm) {
    apply { digest<pair_t>(1, { 1, 2 }); }
}
control C(inout headers hdr, inout meta_t m) {
    apply { for (bit<8> i = 0; i < hdr.h.a; i = i + 1) { m.m = i; } }
}
control D(packet_out p, in headers hdr) {
    apply { if (hdr.h.a == 1) { p.emit(hdr.h); } }
}
V1Switch(P(), V(), I(), E(), C(), D()) main;

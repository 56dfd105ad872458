#include <v1model.p4>

header h_t { bit<8> a; bit<8> b; bit<16> c; }
struct headers { h_t h; }
struct meta_t { int<8> s; }

parser P(packet_in p, out headers hdr, inout meta_t m, inout standard_metadata_t sm) {
    state start { p.extract(hdr.h); exit; transition accept; }
    state returns { return; }
    state chooses { switch (hdr.h.a) { 1: { } } }
    state loops { for (bit<8> i = 0; i < 2; i = i + 1) { break; } }
    state each { if (hdr.h.a == 1) { for (bit<8> i in 1 .. 2) { continue; } } }
}
type bit<8> Colour;
control Alone(inout bit<8> x) { apply { } }
Alone() alone;
Colour brighter(in Colour x, in Colour y) { return x + y; }
bit<8> shifted(in bit<8> x, in Colour y) { return x << y; }
bool darker(in Colour x, in Colour y) { return x < y && x != y; }
void leaves() { exit; }
bit<8> gives() { exit; return 1; }
control V(inout headers hdr, inout meta_t m) { apply { } }
control I(inout headers hdr, inout meta_t m, inout standard_metadata_t sm) {
    action first() { }
    action other() { }
    table marked {
        key = { hdr.h.a: exact; }
        actions = { @defaultonly first; @tableonly other; }
        default_action = other;
        const entries = { 1: first(); }
    }
    table listed { key = { hdr.h.a: exact; } actions = { NoAction; NoAction; } }
    apply {
        m.s = m.s / 2;
        m.s = m.s % 3s2;
        m.s = 8s4 / 8s2;
        hdr.h.a = -7 / 2;
        hdr.h.a = hdr.h.a % -1;
    }
}
control E(inout headers hdr, inout meta_t m, inout standard_metadata_t sm) { apply { } }
control C(inout headers hdr, inout meta_t m) { apply { } }
control D(packet_out p, in headers hdr) { apply { p.emit(hdr); } }
V1Switch(P(), V(), I(), E(), C(), D()) main;

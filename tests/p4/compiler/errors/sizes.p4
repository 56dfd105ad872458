#include <v1model.p4>

header h_t { bit<8> a; bit<8> b; bit<16> c; }
struct headers { h_t h; }
struct meta_t { }

parser P(packet_in p, out headers hdr, inout meta_t m, inout standard_metadata_t sm) {
    state start { p.extract(hdr.h); transition accept; }
}
control V(inout headers hdr, inout meta_t m) { apply { } }
control I(inout headers hdr, inout meta_t m, inout standard_metadata_t sm) {
    register<bit<8>>(0) none;
    register<bit<8>>(-1) below;
    counter(0, CounterType.packets) packets;
    meter(0, MeterType.bytes) bytes;
    action_profile(0) profile;
    action_selector(HashAlgorithm.crc16, 0, 8) selector_;
    table exact_ { key = { hdr.h.a: exact; hdr.h.b: exact; } actions = { NoAction; }
        const entries = { (1, 2): NoAction(); (2, 1): NoAction(); (1, 2): NoAction(); } }
    table lpm_ { key = { hdr.h.c: lpm; } actions = { NoAction; }
        entries = { 0x0a01 &&& 0xff00: NoAction(); 0x0a02 &&& 0xff00: NoAction(); _: NoAction(); } }
    table ternary_ { key = { hdr.h.a: ternary; hdr.h.b: optional; } actions = { NoAction; }
        const entries = { (3 &&& 2, 1): NoAction(); (2 &&& 2, 1): NoAction(); } }
    table range_ { key = { hdr.h.a: range; } actions = { NoAction; }
        const entries = { 1 .. 3: NoAction(); 2 .. 3: NoAction(); 1 .. 3: NoAction(); } }
    table narrow { key = { hdr.h.a: exact; } actions = { NoAction; }
        const entries = { 1: NoAction(); 257: NoAction(); } }
    apply {
        exact_.apply(); lpm_.apply(); ternary_.apply(); range_.apply(); narrow.apply();
    }
}
control E(inout headers hdr, inout meta_t m, inout standard_metadata_t sm) { apply { } }
control C(inout headers hdr, inout meta_t m) { apply { } }
control D(packet_out p, in headers hdr) { apply { p.emit(hdr); } }
V1Switch(P(), V(), I(), E(), C(), D()) main;

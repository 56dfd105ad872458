#include <core.p4>
#include <v1model.p4>

header data_t {
    bit<8> a;
    bit<8> b;
    bit<32> found;
    bit<32> counted;
    bit<32> summed;
}
struct headers { data_t data; }
struct meta_t { bit<32> total; }

// A loop in a function, which also runs in the parser.
bit<32> digits(in bit<8> value) {
    bit<32> count = 0;
    for (bit<8> rest = value; rest != 0; rest = rest >> 1) {
        if (rest[0:0] == 0) { continue; }
        count = count + 1;
    }
    return count;
}

parser P(packet_in packet, out headers hdr, inout meta_t meta, inout standard_metadata_t sm) {
    state start {
        packet.extract(hdr.data);
        meta.total = digits(hdr.data.a);
        transition accept;
    }
}
control V(inout headers hdr, inout meta_t meta) { apply { } }
control I(inout headers hdr, inout meta_t meta, inout standard_metadata_t sm) {
    bit<8> at = 0;
    action add() { meta.total = meta.total + (bit<32>)at; }
    action twice() { meta.total = meta.total << 1; }
    action search(bit<8> wanted) {
        for (bit<8> i = 0, bit<8> seen = 0; seen == 0 && i != 200; i = i + 3) {
            if (i == wanted) { seen = 1; }
            hdr.data.found = hdr.data.found + 1;
        }
    }
    table step {
        key = { at: ternary; }
        actions = { add; twice; }
        default_action = add;
    }
    table look {
        key = { hdr.data.a: exact; }
        actions = { search; }
        default_action = search(9);
    }
    apply {
        sm.egress_spec = 1;
        look.apply();
        for (at = hdr.data.b; at > 3; at = at - 4) {
            if (at == 40) { break; }
            step.apply();
        }
        hdr.data.counted = meta.total;
        for (bit<8> i in 2 .. hdr.data.b) { hdr.data.summed = hdr.data.summed + (bit<32>)i; }
        for (bit<3> i = 1; i != 0; i = i + 3) {
            if (hdr.data.a[0:0] == 1 && i == 7) { return; }
            hdr.data.summed = hdr.data.summed + digits((bit<8>)i);
        }
    }
}
control E(inout headers hdr, inout meta_t meta, inout standard_metadata_t sm) { apply { } }
control C(inout headers hdr, inout meta_t meta) { apply { } }
control D(packet_out packet, in headers hdr) { apply { packet.emit(hdr); } }
V1Switch(P(), V(), I(), E(), C(), D()) main;

// What `a ? b : c ? d : e` means, with and without parentheses, for all five bits of a byte.
#include <core.p4>
#include <v1model.p4>

header bits_t { bit<8> in_; bit<8> plain; bit<8> right; bit<8> left; }
struct headers { bits_t bits; }
struct meta_t { }

parser P(packet_in packet, out headers hdr, inout meta_t meta, inout standard_metadata_t sm) {
    state start { packet.extract(hdr.bits); transition accept; }
}
control V(inout headers hdr, inout meta_t meta) { apply { } }
control I(inout headers hdr, inout meta_t meta, inout standard_metadata_t sm) {
    apply {
        bit<8> x = hdr.bits.in_;
        bool a = x[4:4] == 1;
        bool b = x[3:3] == 1;
        bool c = x[2:2] == 1;
        bool d = x[1:1] == 1;
        bool e = x[0:0] == 1;
        bool plain = a ? b : c ? d : e;
        bool right = a ? b : (c ? d : e);
        bool left = (a ? b : c) ? d : e;
        hdr.bits.plain = (bit<8>)(bit<1>)plain;
        hdr.bits.right = (bit<8>)(bit<1>)right;
        hdr.bits.left = (bit<8>)(bit<1>)left;
        sm.egress_spec = 2;
    }
}
control E(inout headers hdr, inout meta_t meta, inout standard_metadata_t sm) { apply { } }
control C(inout headers hdr, inout meta_t meta) { apply { } }
control D(packet_out packet, in headers hdr) { apply { packet.emit(hdr); } }
V1Switch(P(), V(), I(), E(), C(), D()) main;

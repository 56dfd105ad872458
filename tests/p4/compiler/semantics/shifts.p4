// Shifts by amounts that no machine word holds: nothing is left, or all of it the sign.
#include <core.p4>
#include <v1model.p4>

header shift_t {
    bit<128> amount;
    bit<32> narrow;
    bit<128> wide;
    int<32> signed_;
    int<128> wide_signed;
}
header result_t { bit<32> a; bit<32> b; bit<128> c; bit<128> d; int<32> e; int<128> f; }
struct headers { shift_t in_; result_t out_; }
struct meta_t { }

parser P(packet_in packet, out headers hdr, inout meta_t meta, inout standard_metadata_t sm) {
    state start { packet.extract(hdr.in_); transition accept; }
}
control V(inout headers hdr, inout meta_t meta) { apply { } }
control I(inout headers hdr, inout meta_t meta, inout standard_metadata_t sm) {
    apply {
        hdr.out_.setValid();
        hdr.out_.a = hdr.in_.narrow << hdr.in_.amount;
        hdr.out_.b = hdr.in_.narrow >> hdr.in_.amount;
        hdr.out_.c = hdr.in_.wide << hdr.in_.amount;
        hdr.out_.d = hdr.in_.wide >> hdr.in_.amount;
        hdr.out_.e = hdr.in_.signed_ >> hdr.in_.amount;
        hdr.out_.f = hdr.in_.wide_signed >> hdr.in_.amount;
        hdr.in_.setInvalid();
        sm.egress_spec = 1;
    }
}
control E(inout headers hdr, inout meta_t meta, inout standard_metadata_t sm) { apply { } }
control C(inout headers hdr, inout meta_t meta) { apply { } }
control D(packet_out packet, in headers hdr) { apply { packet.emit(hdr); } }
V1Switch(P(), V(), I(), E(), C(), D()) main;

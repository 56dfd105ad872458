// A varbit field that may be a whole frame long.
#include <core.p4>
#include <v1model.p4>

header length_t { bit<16> bytes; }
header rest_t { varbit<12000> data; }
header tail_t { bit<16> mark; }
struct headers { length_t length; rest_t rest; tail_t tail; }
struct meta_t { }

parser P(packet_in packet, out headers hdr, inout meta_t meta, inout standard_metadata_t sm) {
    state start {
        packet.extract(hdr.length);
        packet.extract(hdr.rest, (bit<32>)hdr.length.bytes << 3);
        packet.extract(hdr.tail);
        transition accept;
    }
}
control V(inout headers hdr, inout meta_t meta) { apply { } }
control I(inout headers hdr, inout meta_t meta, inout standard_metadata_t sm) {
    apply { hdr.tail.mark = hdr.tail.mark + 1; sm.egress_spec = 1; }
}
control E(inout headers hdr, inout meta_t meta, inout standard_metadata_t sm) { apply { } }
control C(inout headers hdr, inout meta_t meta) { apply { } }
control D(packet_out packet, in headers hdr) { apply { packet.emit(hdr); } }
V1Switch(P(), V(), I(), E(), C(), D()) main;

// A table that is applied twice and goes on differently, and a loop without a bound.
#include <core.p4>
#include <v1model.p4>

header count_t {
    bit<8> turn;
    bit<8> sum;
    bit<8> end;
    bit<8> passes;
}

struct headers_t {
    count_t count;
}

struct metadata_t {}

parser FrameParser(packet_in packet, out headers_t hdr, inout metadata_t meta,
                   inout standard_metadata_t standard) {
    state start {
        packet.extract(hdr.count);
        transition accept;
    }
}

control Verify(inout headers_t hdr, inout metadata_t meta) {
    apply {}
}

control Turns(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    action add(bit<8> value) {
        hdr.count.sum = hdr.count.sum + value;
        hdr.count.turn = hdr.count.turn + 1;
    }
    table turns {
        key = { hdr.count.turn: exact; }
        actions = { add; NoAction; }
        default_action = NoAction();
    }
    apply {
        turns.apply();
        turns.apply();
        standard.egress_spec = 2;
        for (bit<8> pass = 0; pass < hdr.count.end; pass = pass + 2) {
            hdr.count.passes = hdr.count.passes + 1;
        }
    }
}

control Leave(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    apply {}
}

control Update(inout headers_t hdr, inout metadata_t meta) {
    apply {}
}

control FrameDeparser(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.count);
    }
}

V1Switch(FrameParser(), Verify(), Turns(), Leave(), Update(), FrameDeparser()) main;

// A parser value set, and a table whose entries name members and groups of an action selector.
#include <core.p4>
#include <v1model.p4>

header key_t {
    bit<12> id;
    bit<4> kind;
    bit<16> flow;
}

header mark_t {
    bit<8> found;
}

struct headers_t {
    key_t key;
    mark_t mark;
}

struct metadata_t {
    bit<8> found;
}

parser FrameParser(packet_in packet, out headers_t hdr, inout metadata_t meta,
                   inout standard_metadata_t standard) {
    value_set<bit<12>>(4) chosen;
    state start {
        packet.extract(hdr.key);
        transition select(hdr.key.id) {
            chosen: found;
            default: accept;
        }
    }
    state found {
        meta.found = 1;
        transition accept;
    }
}

control Verify(inout headers_t hdr, inout metadata_t meta) {
    apply {}
}

control Choose(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    action_selector(HashAlgorithm.crc16, 16, 14) paths;
    action drop() {
        mark_to_drop(standard);
    }
    action to(bit<9> port) {
        standard.egress_spec = port;
    }
    table balance {
        key = { hdr.key.kind: exact; hdr.key.flow: selector; }
        actions = { to; drop; }
        implementation = paths;
    }
    apply {
        standard.egress_spec = 9;
        balance.apply();
        hdr.mark.setValid();
        hdr.mark.found = meta.found;
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
        packet.emit(hdr.mark);
        packet.emit(hdr.key);
    }
}

V1Switch(FrameParser(), Verify(), Choose(), Leave(), Update(), FrameDeparser()) main;

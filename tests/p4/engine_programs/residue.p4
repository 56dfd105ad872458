// Reads a header that may be invalid: what it shows is what an earlier frame left there.
#include <core.p4>
#include <v1model.p4>

header kind_t {
    bit<8> kind;
    bit<8> seen;
}

header extra_t {
    bit<8> value;
}

struct headers_t {
    kind_t kind;
    extra_t extra;
}

struct metadata_t {}

parser FrameParser(packet_in packet, out headers_t hdr, inout metadata_t meta,
                   inout standard_metadata_t standard) {
    state start {
        packet.extract(hdr.kind);
        transition select(hdr.kind.kind) {
            0: accept;
            default: extra;
        }
    }
    state extra {
        packet.extract(hdr.extra);
        transition accept;
    }
}

control Verify(inout headers_t hdr, inout metadata_t meta) {
    apply {}
}

control Show(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    apply {
        hdr.kind.seen = hdr.extra.value;
        standard.egress_spec = 1;
        if (hdr.kind.kind == 2) {
            mark_to_drop(standard);
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
        packet.emit(hdr.kind);
        packet.emit(hdr.extra);
    }
}

V1Switch(FrameParser(), Verify(), Show(), Leave(), Update(), FrameDeparser()) main;

// Many kinds of headers, parsed and put back as they came: frames leave as they entered.
#include <core.p4>
#include <v1model.p4>

header ethernet_t {
    bit<48> destination;
    bit<48> source;
    bit<16> type;
}

header tag_t {
    bit<3> priority;
    bit<1> last;
    bit<12> id;
}

header option_t {
    bit<8> length;
    varbit<256> data;
}

header odd_t {
    bit<3> a;
    bit<66> b;
    bit<1> c;
    bit<130> d;
}

header small_t {
    bit<8> value;
}

header large_t {
    bit<24> value;
}

header_union either_t {
    small_t small;
    large_t large;
}

struct headers_t {
    ethernet_t ethernet;
    tag_t[4] tags;
    option_t option;
    odd_t odd;
    either_t either;
}

struct metadata_t {
    bit<66> wide;
}

parser FrameParser(packet_in packet, out headers_t hdr, inout metadata_t meta,
                   inout standard_metadata_t standard) {
    state start {
        packet.extract(hdr.ethernet);
        transition select(hdr.ethernet.type) {
            0x8100: tag;
            0x0001: option;
            0x0002: odd;
            0x0003: either;
            default: accept;
        }
    }
    state tag {
        packet.extract(hdr.tags.next);
        transition select(hdr.tags.last.last) {
            0: tag;
            1: option;
        }
    }
    state option {
        packet.extract(hdr.option, (bit<32>) packet.lookahead<bit<8>>() * 8);
        transition odd;
    }
    state odd {
        packet.extract(hdr.odd);
        transition either;
    }
    state either {
        transition select(packet.lookahead<bit<8>>()) {
            0x80 &&& 0x80: small;
            default: large;
        }
    }
    state small {
        packet.extract(hdr.either.small);
        transition accept;
    }
    state large {
        packet.extract(hdr.either.large);
        transition accept;
    }
}

control Verify(inout headers_t hdr, inout metadata_t meta) {
    apply {}
}

control Pass(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    apply {
        meta.wide = hdr.odd.b;
        hdr.odd.b = ~meta.wide;
        hdr.odd.b = ~hdr.odd.b;
        standard.egress_spec = 1;
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
        packet.emit(hdr.ethernet);
        packet.emit(hdr.tags);
        packet.emit(hdr.option);
        packet.emit(hdr.odd);
        packet.emit(hdr.either);
    }
}

V1Switch(FrameParser(), Verify(), Pass(), Leave(), Update(), FrameDeparser()) main;

// Looking ahead at a structure of several headers, which short frames do not have.

#include <core.p4>
#include <v1model.p4>

header Part {
    bit<8> kind;
    bit<8> value;
}

struct Parts {
    Part first;
    Part second;
    Part third;
}

struct Headers {
    Part[3] parts;
}

struct Metadata {
}

parser Read(packet_in packet, out Headers headers, inout Metadata meta,
            inout standard_metadata_t standard) {
    state start {
        Parts ahead = packet.lookahead<Parts>();
        transition select(ahead.first.kind, ahead.second.kind, ahead.third.kind) {
            (1, _, _): one;
            (_, 1, _): two;
            (_, _, 1): three;
            default: accept;
        }
    }
    state three {
        packet.extract(headers.parts.next);
        transition two;
    }
    state two {
        packet.extract(headers.parts.next);
        transition one;
    }
    state one {
        packet.extract(headers.parts.next);
        transition accept;
    }
}

control Verify(inout Headers headers, inout Metadata meta) {
    apply {}
}

control Count(inout Headers headers, inout Metadata meta, inout standard_metadata_t standard) {
    apply {
        standard.egress_spec = standard.ingress_port;
        if (standard.parser_error == error.PacketTooShort) {
            standard.egress_spec = 15;
        } else if (headers.parts[1].isValid()) {
            headers.parts[0].value = headers.parts[1].kind;
        }
    }
}

control Leave(inout Headers headers, inout Metadata meta, inout standard_metadata_t standard) {
    apply {}
}

control Update(inout Headers headers, inout Metadata meta) {
    apply {}
}

control Write(packet_out packet, in Headers headers) {
    apply {
        packet.emit(headers.parts);
    }
}

V1Switch(Read(), Verify(), Count(), Leave(), Update(), Write()) main;

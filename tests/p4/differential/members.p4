// Two value sets, one with a key of two fields, an action profile, and an action selector.

#include <core.p4>
#include <v1model.p4>

header Frame {
    bit<12> number;
    bit<4>  kind;
    bit<16> flow;
    bit<8>  mark;
}

struct Headers {
    Frame frame;
}

struct Metadata {
    bit<8> found;
}

struct Pair {
    @match(exact) bit<4>  kind;
    @match(exact) bit<16> flow;
}

parser Read(packet_in packet, out Headers headers, inout Metadata meta,
            inout standard_metadata_t standard) {
    value_set<bit<12>>(4) numbers;
    value_set<Pair>(8) pairs;
    state start {
        packet.extract(headers.frame);
        meta.found = 1;
        transition select(headers.frame.number) {
            numbers: numbered;
            default: paired;
        }
    }
    state numbered {
        meta.found = 2;
        transition paired;
    }
    state paired {
        transition select(headers.frame.kind, headers.frame.flow) {
            pairs: found;
            default: accept;
        }
    }
    state found {
        meta.found = meta.found + 8;
        transition accept;
    }
}

control Verify(inout Headers headers, inout Metadata meta) {
    apply {}
}

control Choose(inout Headers headers, inout Metadata meta, inout standard_metadata_t standard) {
    action_selector(HashAlgorithm.crc16, 16, 14) paths;
    action_profile(8) marks;
    action drop() {
        mark_to_drop(standard);
    }
    action send(bit<9> port) {
        standard.egress_spec = port & 15;
    }
    action mark(bit<8> value) {
        headers.frame.mark = value;
    }
    table balance {
        key = { headers.frame.kind: exact; headers.frame.flow: selector; meta.found: selector; }
        actions = { send; drop; }
        implementation = paths;
    }
    table marked {
        key = { headers.frame.number: ternary; }
        actions = { mark; drop; }
        implementation = marks;
    }
    apply {
        standard.egress_spec = 9;
        if (!balance.apply().hit) {
            marked.apply();
        }
        headers.frame.flow = headers.frame.flow ^ (bit<16>)meta.found;
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
        packet.emit(headers.frame);
    }
}

V1Switch(Read(), Verify(), Choose(), Leave(), Update(), Write()) main;

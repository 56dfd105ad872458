// Every kind of key, on headers that may be invalid: their fields then count as 0.

#include <core.p4>
#include <v1model.p4>

header First {
    bit<8>  type;
    bit<16> port;
    bit<32> address;
}

header Second {
    bit<128> name;
    bit<12>  number;
    bit<4>   flags;
}

struct Headers {
    First  first;
    Second second;
}

struct Metadata {
    bit<9> port;
    bit<8> found;
}

parser Read(packet_in packet, out Headers headers, inout Metadata meta,
            inout standard_metadata_t standard) {
    state start {
        packet.extract(headers.first);
        transition select(headers.first.type) {
            1 .. 5: second;
            0x80 &&& 0xf0: second;
            default: accept;
        }
    }
    state second {
        packet.extract(headers.second);
        transition accept;
    }
}

control Verify(inout Headers headers, inout Metadata meta) {
    apply {}
}

control Find(inout Headers headers, inout Metadata meta, inout standard_metadata_t standard) {
    action send(bit<9> port) {
        standard.egress_spec = port;
    }
    action note(bit<8> what) {
        meta.found = meta.found + what;
    }
    table by_name {
        key = { headers.second.name: exact; headers.second.isValid(): exact; }
        actions = { note; NoAction; }
        default_action = NoAction();
    }
    table by_address {
        key = { headers.first.address: lpm; }
        actions = { send; note; }
        default_action = send(3);
    }
    table by_number {
        key = { headers.second.number: ternary; headers.second.flags & 5: exact; }
        actions = { send; note; NoAction; }
        default_action = NoAction();
    }
    table by_port {
        key = { headers.first.port: range; headers.second.flags: optional; }
        actions = { send; note; NoAction; }
        default_action = NoAction();
    }
    apply {
        by_name.apply();
        by_address.apply();
        by_number.apply();
        by_port.apply();
        headers.first.type = meta.found;
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
        packet.emit(headers);
    }
}

V1Switch(Read(), Verify(), Find(), Leave(), Update(), Write()) main;

// A small router: longest prefix, an access list, and the queue that a frame met in its TTL.

#include <core.p4>
#include <v1model.p4>

header Ethernet {
    bit<48> destination;
    bit<48> source;
    bit<16> type;
}

header Ipv4 {
    bit<8>  version_and_length;
    bit<8>  traffic_class;
    bit<16> total_length;
    bit<16> identification;
    bit<16> fragment;
    bit<8>  time_to_live;
    bit<8>  protocol;
    bit<16> checksum;
    bit<32> source;
    bit<32> destination;
}

struct Headers {
    Ethernet ethernet;
    Ipv4     ipv4;
}

struct Metadata {}

parser Read(packet_in packet, out Headers headers, inout Metadata meta,
            inout standard_metadata_t standard) {
    state start {
        packet.extract(headers.ethernet);
        transition select(headers.ethernet.type) {
            0x0800: ipv4;
            default: accept;
        }
    }
    state ipv4 {
        packet.extract(headers.ipv4);
        transition accept;
    }
}

control Verify(inout Headers headers, inout Metadata meta) {
    apply {}
}

control Route(inout Headers headers, inout Metadata meta, inout standard_metadata_t standard) {
    action drop() {
        mark_to_drop(standard);
    }
    action forward(bit<48> next_hop, bit<9> port) {
        headers.ethernet.destination = next_hop;
        headers.ipv4.time_to_live = headers.ipv4.time_to_live - 1;
        standard.egress_spec = port;
    }
    table routes {
        key = { headers.ipv4.destination: lpm; }
        actions = { forward; drop; }
        default_action = drop();
    }
    table access {
        key = {
            headers.ipv4.source: ternary;
            headers.ipv4.protocol: range;
            standard.ingress_port: exact;
        }
        actions = { drop; NoAction; }
        default_action = NoAction();
    }
    apply {
        if (headers.ipv4.isValid()) {
            routes.apply();
            access.apply();
        } else {
            drop();
        }
    }
}

control Queue(inout Headers headers, inout Metadata meta, inout standard_metadata_t standard) {
    apply {
        if (standard.enq_qdepth > 0) {
            headers.ipv4.traffic_class = headers.ipv4.traffic_class | 3;
        }
    }
}

control Update(inout Headers headers, inout Metadata meta) {
    apply {
        update_checksum(headers.ipv4.isValid(),
            { headers.ipv4.version_and_length, headers.ipv4.traffic_class,
              headers.ipv4.total_length, headers.ipv4.identification, headers.ipv4.fragment,
              headers.ipv4.time_to_live, headers.ipv4.protocol, headers.ipv4.source,
              headers.ipv4.destination },
            headers.ipv4.checksum, HashAlgorithm.csum16);
    }
}

control Write(packet_out packet, in Headers headers) {
    apply {
        packet.emit(headers);
    }
}

V1Switch(Read(), Verify(), Route(), Queue(), Update(), Write()) main;

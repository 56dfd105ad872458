// A switch with a tap: forwards by destination, counts by port, copies what watched senders send.
#include <core.p4>
#include <v1model.p4>

header ethernet_t {
    bit<48> destination;
    bit<48> source;
    bit<16> ether_type;
}

struct headers_t {
    ethernet_t ethernet;
}

struct metadata_t {}

parser FrameParser(packet_in packet, out headers_t hdr, inout metadata_t meta,
                   inout standard_metadata_t standard) {
    state start {
        packet.extract(hdr.ethernet);
        transition accept;
    }
}

control Verify(inout headers_t hdr, inout metadata_t meta) {
    apply {}
}

control Forward(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    register<bit<32>>(512) frames;

    action flood(bit<16> group) {
        standard.mcast_grp = group;
    }
    action to(bit<9> port) {
        standard.egress_spec = port;
    }
    action copy(bit<32> session) {
        clone(CloneType.I2E, session);
    }
    table hosts {
        key = { hdr.ethernet.destination: exact; }
        actions = { to; flood; }
        default_action = flood(1);
    }
    table watched {
        key = { hdr.ethernet.source: exact; }
        actions = { copy; NoAction; }
        default_action = NoAction();
    }

    apply {
        bit<32> count;
        frames.read(count, (bit<32>)standard.ingress_port);
        frames.write((bit<32>)standard.ingress_port, count + 1);
        watched.apply();
        hosts.apply();
    }
}

control Leave(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    apply {
        // A flooded frame does not go back to where it came from.
        if (standard.instance_type == 5 && standard.egress_port == standard.ingress_port) {
            mark_to_drop(standard);
        }
    }
}

control Update(inout headers_t hdr, inout metadata_t meta) {
    apply {}
}

control FrameDeparser(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.ethernet);
    }
}

V1Switch(FrameParser(), Verify(), Forward(), Leave(), Update(), FrameDeparser()) main;

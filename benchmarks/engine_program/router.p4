// What benchmarks/engine.py times: five headers, six tables, a register, an in-place rewrite.
#include <core.p4>
#include <v1model.p4>

header ethernet_t {
    bit<48> destination;
    bit<48> source;
    bit<16> type;
}

header vlan_t {
    bit<3> priority;
    bit<1> eligible;
    bit<12> id;
    bit<16> type;
}

header ipv4_t {
    bit<4> version;
    bit<4> header_length;
    bit<6> class;
    bit<2> ecn;
    bit<16> length;
    bit<16> identification;
    bit<3> flags;
    bit<13> fragment;
    bit<8> time_to_live;
    bit<8> protocol;
    bit<16> checksum;
    bit<32> source;
    bit<32> destination;
}

header udp_t {
    bit<16> source_port;
    bit<16> destination_port;
    bit<16> length;
    bit<16> checksum;
}

header bth_t {
    bit<8> opcode;
    bit<8> flags;
    bit<16> partition;
    bit<8> congestion;
    bit<24> queue_pair;
    bit<8> acknowledge;
    bit<24> sequence;
}

struct headers_t {
    ethernet_t ethernet;
    vlan_t vlan;
    ipv4_t ipv4;
    udp_t udp;
    bth_t bth;
}

struct metadata_t {
    bit<16> next_hop;
    bit<8> class;
    bit<32> flow;
}

parser FrameParser(packet_in packet, out headers_t hdr, inout metadata_t meta,
                   inout standard_metadata_t standard) {
    state start {
        packet.extract(hdr.ethernet);
        transition select(hdr.ethernet.type) {
            0x8100: vlan;
            0x0800: ipv4;
            default: accept;
        }
    }
    state vlan {
        packet.extract(hdr.vlan);
        transition select(hdr.vlan.type) {
            0x0800: ipv4;
            default: accept;
        }
    }
    state ipv4 {
        packet.extract(hdr.ipv4);
        transition select(hdr.ipv4.protocol) {
            17: udp;
            default: accept;
        }
    }
    state udp {
        packet.extract(hdr.udp);
        transition select(hdr.udp.destination_port) {
            4791: bth;
            default: accept;
        }
    }
    state bth {
        packet.extract(hdr.bth);
        transition accept;
    }
}

control Verify(inout headers_t hdr, inout metadata_t meta) {
    apply {}
}

control Forward(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    register<bit<16>>(256) turns;

    action drop() {
        mark_to_drop(standard);
    }
    action admit(bit<8> class) {
        meta.class = class;
    }
    table ports {
        key = { standard.ingress_port: exact; }
        actions = { admit; drop; }
        default_action = drop();
    }
    action in_network(bit<8> class) {
        meta.class = meta.class + class;
    }
    table networks {
        key = { hdr.vlan.id: exact; }
        actions = { in_network; drop; }
        default_action = drop();
    }
    table blocked {
        key = { hdr.ipv4.source: ternary; hdr.udp.source_port: ternary; }
        actions = { drop; NoAction; }
        size = 8192;
        default_action = NoAction();
    }
    action hop(bit<16> next) {
        meta.next_hop = next;
        hdr.ipv4.time_to_live = hdr.ipv4.time_to_live - 1;
    }
    table routes {
        key = { hdr.ipv4.destination: lpm; }
        actions = { hop; drop; }
        size = 131072;
        default_action = drop();
    }
    action to_neighbour(bit<48> address, bit<9> port) {
        hdr.ethernet.destination = address;
        standard.egress_spec = port;
    }
    table neighbours {
        key = { meta.next_hop: exact; }
        actions = { to_neighbour; drop; }
        default_action = drop();
    }
    action count_turn() {
        bit<16> turn;
        turns.read(turn, (bit<32>) meta.class);
        turn = turn + 1;
        turns.write((bit<32>) meta.class, turn);
        hdr.ipv4.identification = turn;
    }
    table classes {
        key = { hdr.bth.opcode: exact; }
        actions = { count_turn; NoAction; }
        default_action = NoAction();
    }

    apply {
        ports.apply();
        networks.apply();
        blocked.apply();
        routes.apply();
        neighbours.apply();
        classes.apply();
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
        packet.emit(hdr.vlan);
        packet.emit(hdr.ipv4);
        packet.emit(hdr.udp);
        packet.emit(hdr.bth);
    }
}

V1Switch(FrameParser(), Verify(), Forward(), Leave(), Update(), FrameDeparser()) main;

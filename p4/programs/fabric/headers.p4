// RoCEv2 frames: Ethernet, IPv4, UDP to port 4791, base transport header (BTH). What follows the
// BTH (the AETH of an ACK, payload, ICRC) is payload to the switches.

const bit<16> TYPE_IPV4 = 0x0800;
const bit<8> IPV4_WITHOUT_OPTIONS = 0x45;
const bit<8> PROTOCOL_UDP = 17;
const bit<16> PORT_ROCE = 4791;
const bit<8> OPCODE_ACKNOWLEDGE = 0x11;

header Ethernet {
    bit<48> destination;
    bit<48> source;
    bit<16> ether_type;
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

header Udp {
    bit<16> source_port;  // the entropy or path id that the host chose
    bit<16> destination_port;
    bit<16> length;
    bit<16> checksum;
}

header Bth {
    bit<8>  opcode;
    bit<8>  flags;
    bit<16> partition_key;
    bit<8>  congestion;  // FECN, BECN and six reserved bits
    bit<24> destination_queue_pair;
    bit<8>  acknowledge_request;
    bit<24> packet_number;
}

struct Headers {
    Ethernet ethernet;
    Ipv4     ipv4;
    Udp      udp;
    Bth      bth;
}

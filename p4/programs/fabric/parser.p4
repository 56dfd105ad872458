// Parser and deparser. A frame that is no RoCEv2 keeps its unparsed part as payload.

parser FrameParser(packet_in packet, out Headers headers, inout Metadata meta,
                   inout standard_metadata_t standard) {
    state start {
        packet.extract(headers.ethernet);
        transition select(headers.ethernet.ether_type) {
            TYPE_IPV4: parse_ipv4;
            default: accept;
        }
    }

    state parse_ipv4 {
        packet.extract(headers.ipv4);
        transition select(headers.ipv4.version_and_length, headers.ipv4.protocol) {
            (IPV4_WITHOUT_OPTIONS, PROTOCOL_UDP): parse_udp;
            default: accept;
        }
    }

    state parse_udp {
        packet.extract(headers.udp);
        meta.entropy = headers.udp.source_port;
        transition select(headers.udp.destination_port) {
            PORT_ROCE: parse_bth;
            default: accept;
        }
    }

    state parse_bth {
        packet.extract(headers.bth);
        transition select(headers.bth.opcode) {
            OPCODE_ACKNOWLEDGE: note_ack;
            default: accept;
        }
    }

    state note_ack {
        meta.is_ack = 1;
#ifdef TELEMETRY
        standard.priority = 1;  // see telemetry.p4
#endif
        transition accept;
    }
}

control FrameDeparser(packet_out packet, in Headers headers) {
    apply {
        packet.emit(headers.ethernet);
        packet.emit(headers.ipv4);
        packet.emit(headers.udp);
        packet.emit(headers.bth);
    }
}

// Everything of the traffic manager, chosen by the frame's first byte.
#include <core.p4>
#include <v1model.p4>

header command_t {
    bit<8> what;
    bit<8> value;
    bit<8> passes;
    bit<8> instance;
}

header label_t {
    bit<16> ingress_port;
    bit<16> egress_port;
    bit<32> packet_length;
}

struct headers_t {
    command_t command;
    label_t label;
}

struct metadata_t {
    @field_list(1)
    bit<8> kept;
    bit<8> lost;
}

struct note_t {
    bit<8> value;
    bit<9> port;
}

parser FrameParser(packet_in packet, out headers_t hdr, inout metadata_t meta,
                   inout standard_metadata_t standard) {
    state start {
        packet.extract(hdr.command);
        transition accept;
    }
}

control Verify(inout headers_t hdr, inout metadata_t meta) {
    apply {}
}

control Enter(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    register<bit<8>>(4) cells;
    counter(4, CounterType.packets_and_bytes) counts;
    meter(4, MeterType.packets) rates;

    apply {
        standard.egress_spec = 2;
        if (hdr.command.what == 1) {
            mark_to_drop(standard);
        } else if (hdr.command.what == 2) {
            standard.mcast_grp = (bit<16>) hdr.command.value;
        } else if (hdr.command.what == 3) {
            meta.kept = 7;
            meta.lost = 9;
            clone_preserving_field_list(CloneType.I2E, (bit<32>) hdr.command.value, 1);
            hdr.command.passes = 99;
        } else if (hdr.command.what == 4) {
            if (meta.kept < hdr.command.value) {
                meta.kept = meta.kept + 1;
                resubmit_preserving_field_list(1);
            }
            hdr.command.passes = meta.kept;
        } else if (hdr.command.what == 5) {
            truncate((bit<32>) hdr.command.value);
        } else if (hdr.command.what == 6) {
            digest<note_t>(1, {hdr.command.value, standard.ingress_port});
        } else if (hdr.command.what == 7) {
            bit<8> old;
            cells.read(old, (bit<32>) hdr.command.value);
            cells.write((bit<32>) hdr.command.value, old + 1);
            hdr.command.passes = old;
        } else if (hdr.command.what == 8) {
            counts.count((bit<32>) hdr.command.value);
        } else if (hdr.command.what == 9) {
            rates.execute_meter((bit<32>) hdr.command.value, hdr.command.passes);
        } else if (hdr.command.what == 10) {
            random(hdr.command.passes, 10, 10 + hdr.command.value);
        } else if (hdr.command.what == 11) {
            log_msg("value {} port {}", {hdr.command.value, standard.ingress_port});
        } else if (hdr.command.what == 12) {
            assert(hdr.command.value == 0);
        } else if (hdr.command.what == 15) {
            resubmit_preserving_field_list(1);
        } else if (hdr.command.what == 16) {
            standard.priority = 5;
        }
    }
}

control Leave(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    apply {
        hdr.command.instance = (bit<8>) standard.instance_type;
        if (hdr.command.what == 13 && standard.instance_type == 0 && meta.kept == 0) {
            meta.kept = 3;
            clone_preserving_field_list(CloneType.E2E, (bit<32>) hdr.command.value, 1);
        }
        if (hdr.command.what == 14 && hdr.command.passes < hdr.command.value) {
            hdr.command.passes = hdr.command.passes + 1;
            recirculate_preserving_field_list(1);
        }
        if (hdr.command.what != 14 && hdr.command.what != 1) {
            hdr.label.setValid();
            hdr.label.ingress_port = (bit<16>) standard.ingress_port;
            hdr.label.egress_port = (bit<16>) standard.egress_port;
            hdr.label.packet_length = standard.packet_length;
        }
        if (standard.instance_type == 1 || standard.instance_type == 2) {
            hdr.command.passes = meta.kept + meta.lost;
        }
        if (standard.instance_type == 5) {
            hdr.command.passes = (bit<8>) standard.egress_rid;
        }
    }
}

control Update(inout headers_t hdr, inout metadata_t meta) {
    apply {}
}

control FrameDeparser(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.command);
        packet.emit(hdr.label);
    }
}

V1Switch(FrameParser(), Verify(), Enter(), Leave(), Update(), FrameDeparser()) main;

// One table of each kind over the same header; each writes which entry it took.
#include <core.p4>
#include <v1model.p4>

header key_t {
    bit<8> a;
    bit<16> b;
    bit<4> c;
    bit<4> d;
    bit<128> wide;
}

header result_t {
    bit<16> exact_entry;
    bit<16> prefix_entry;
    bit<16> ternary_entry;
    bit<16> range_entry;
    bit<16> optional_entry;
    bit<16> wide_entry;
}

struct headers_t {
    key_t key;
    result_t result;
}

struct metadata_t {}

parser FrameParser(packet_in packet, out headers_t hdr, inout metadata_t meta,
                   inout standard_metadata_t standard) {
    state start {
        packet.extract(hdr.key);
        packet.extract(hdr.result);
        transition accept;
    }
}

control Verify(inout headers_t hdr, inout metadata_t meta) {
    apply {}
}

control Lookup(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    direct_counter(CounterType.packets_and_bytes) hits;

    action took_exact(bit<16> entry) {
        hdr.result.exact_entry = entry;
    }
    table exact_table {
        key = { hdr.key.a: exact; hdr.key.c: exact; }
        actions = { took_exact; }
        default_action = took_exact(0xffff);
        counters = hits;
        size = 65536;
    }
    action took_prefix(bit<16> entry) {
        hdr.result.prefix_entry = entry;
    }
    table prefix_table {
        key = { hdr.key.b: lpm; hdr.key.d: exact; }
        actions = { took_prefix; }
        default_action = took_prefix(0xffff);
        size = 65536;
    }
    action took_ternary(bit<16> entry) {
        hdr.result.ternary_entry = entry;
    }
    table ternary_table {
        key = { hdr.key.a: ternary; hdr.key.b: ternary; hdr.key.c: exact; }
        actions = { took_ternary; }
        default_action = took_ternary(0xffff);
        size = 65536;
    }
    action took_range(bit<16> entry) {
        hdr.result.range_entry = entry;
    }
    table range_table {
        key = { hdr.key.b: range; hdr.key.a: ternary; }
        actions = { took_range; }
        default_action = took_range(0xffff);
        size = 16;
    }
    action took_optional(bit<16> entry) {
        hdr.result.optional_entry = entry;
    }
    table optional_table {
        key = { hdr.key.c: optional; hdr.key.d: optional; }
        actions = { took_optional; }
        default_action = took_optional(0xffff);
    }
    action took_wide(bit<16> entry, bit<100> unused) {
        hdr.result.wide_entry = entry;
    }
    table wide_table {
        key = { hdr.key.wide: exact; }
        actions = { took_wide; }
        default_action = took_wide(0xffff, 0);
    }

    apply {
        exact_table.apply();
        prefix_table.apply();
        ternary_table.apply();
        range_table.apply();
        optional_table.apply();
        wide_table.apply();
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
        packet.emit(hdr.key);
        packet.emit(hdr.result);
    }
}

V1Switch(FrameParser(), Verify(), Lookup(), Leave(), Update(), FrameDeparser()) main;

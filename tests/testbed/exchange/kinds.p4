/* A table of each kind that a file of entries may fill, and some that it may not. */
#include <core.p4>
#include <v1model.p4>

header ethernet_t { bit<48> to; bit<48> from; bit<16> kind; }
header ipv4_t { bit<96> first; bit<32> source; bit<32> destination; }
struct headers_t { ethernet_t ethernet; ipv4_t ipv4; }
struct none_t { }

parser Parse(packet_in packet, out headers_t h, inout none_t m, inout standard_metadata_t s) {
    state start {
        packet.extract(h.ethernet);
        packet.extract(h.ipv4);
        transition accept;
    }
}

control Nothing(inout headers_t h, inout none_t m) { apply { } }

control In(inout headers_t h, inout none_t m, inout standard_metadata_t s) {
    action to(bit<9> port) { s.egress_spec = port; }
    action lose() { mark_to_drop(s); }
    action tap(bit<32> session) { clone(CloneType.I2E, session); }
    table exact_ { key = { h.ethernet.to: exact; } actions = { to; lose; } size = 2; }
    table prefix { key = { h.ipv4.destination: lpm; } actions = { to; lose; } size = 2; }
    table masked { key = { h.ipv4.source: ternary; } actions = { to; lose; } size = 2; }
    table spans {
        key = { s.ingress_port: range; h.ethernet.kind: exact; }
        actions = { tap; NoAction; }
    }
    table maybe { key = { h.ethernet.kind: optional; } actions = { to; NoAction; } }
    table fixed {
        key = { h.ethernet.kind: exact; }
        actions = { to; NoAction; }
        const default_action = NoAction();
        const entries = { 0x800: to(1); }
    }
    table keyless { actions = { to; NoAction; } }
    table members {
        key = { h.ethernet.kind: exact; }
        actions = { to; NoAction; }
        implementation = action_profile(8);
    }
    apply {
        exact_.apply();
        prefix.apply();
        masked.apply();
        spans.apply();
        maybe.apply();
        fixed.apply();
        keyless.apply();
        members.apply();
    }
}

control Out(inout headers_t h, inout none_t m, inout standard_metadata_t s) { apply { } }

control Deparse(packet_out packet, in headers_t h) {
    apply {
        packet.emit(h.ethernet);
        packet.emit(h.ipv4);
    }
}

V1Switch(Parse(), Nothing(), In(), Out(), Nothing(), Deparse()) main;

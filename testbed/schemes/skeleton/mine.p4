// MINE: say in a line how it chooses an uplink. This skeleton rotates over them.
//
// A frame that goes down is sent by address before this control is asked, and so is a frame with
// one way only. For all others `Balance` sets meta.uplink, a number from 0 to W - 1.
//
// What there is to decide by (p4/programs/fabric):
//   meta.valid         the uplinks that lead to the destination, a bit each; ALL_UPLINKS mostly
//   meta.destination   at an edge switch the destination's edge switch, at an aggregation its pod
//   meta.destinations  how many of those there are
//   meta.is_ack        1 for an acknowledgement
//   meta.entropy       the UDP source port, which the host chose (`entropy` in mine.toml)
//   headers            ethernet, ipv4, udp, bth (headers.p4)
//   standard.ingress_global_timestamp, standard.packet_length: v1model's
//   fabric/backlog.p4  how much waits at a port
//   fabric/uplinks.p4  AFTER(i), CONTAINS(set, i), member(set, rank), next_member(set, from)
//
// W, the number of uplinks, and DESTINATIONS are defined by the network that it is compiled for.

#include "fabric/scheme.p4"

control Balance(inout Headers headers, inout Metadata meta, inout standard_metadata_t standard) {
    // Registers are a switch's memory. They start with 0, or with what mine.toml says.
    register<bit<8>>(1) pointer;

    apply {
        bit<8> next;
        pointer.read(next, 0);
        meta.uplink = meta.valid == ALL_UPLINKS ? next : next_member(meta.valid, next);
        pointer.write(0, AFTER(meta.uplink));
    }
}

#include "fabric/main.p4"

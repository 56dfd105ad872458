// Source routing for schemes of the hosts: DRB and Ethereal name the path of every packet.
//
// Paper: §3.4. A host writes the number of a core into the UDP source port, or of an aggregation
// (of a spine in two levels) where that is the turning point. Core l w + j is behind uplink j of an
// edge switch and uplink l of an aggregation switch.
//
// Deviations and choices:
// - The path is in the UDP source port and not in an encapsulation, so that frames keep their size.
// - Hosts know which paths lead to their destination. A frame whose uplink does not lead there
//   takes the next one that does.

#include "fabric/scheme.p4"

control Balance(inout Headers headers, inout Metadata meta, inout standard_metadata_t standard) {
    action take_aggregation() {
        // Division by LAYER, exact for all path numbers.
        bit<48> core_layer = ((bit<48>)meta.entropy * (0x100000000 / LAYER + 1)) >> 32;
        meta.uplink = (bit<8>)(meta.entropy - (bit<16>)core_layer * LAYER);
    }

    action take_core() {
        meta.uplink = (bit<8>)(((bit<48>)meta.entropy * (0x100000000 / LAYER + 1)) >> 32);
    }

    table turn {
        actions = { take_aggregation; take_core; }
        default_action = take_aggregation();
    }

    action take_next_valid() {
        meta.uplink = next_member(meta.valid, meta.uplink);
    }

    apply {
        turn.apply();
        if (meta.uplink >= W || CONTAINS(meta.valid, meta.uplink) == 0) {
            take_next_valid();
        }
    }
}

#include "fabric/main.p4"

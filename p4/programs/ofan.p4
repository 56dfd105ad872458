// Ofan: per destination and class of packet, one pointer that rotates over the uplinks.
//
// Paper: §4.1; port orders of Appendix F.2. An edge switch has a pointer for each destination edge
// switch, an aggregation switch for each destination pod, and both tell data from ACKs.
//
// Deviations and choices:
// - The basis permutation P, which the paper does not print, comes from the control plane.
// - The pointers' random initial values are registers that the control plane writes.

#include "fabric/scheme.p4"

#define POINTERS (2 * DESTINATIONS)
#include "fabric/rotation.p4"

control Balance(inout Headers headers, inout Metadata meta, inout standard_metadata_t standard) {
    Rotation() rotation;

    apply {
        bit<16> id = meta.destination + (meta.is_ack == 1 ? meta.destinations : 0);
        rotation.apply((bit<32>)id, id, meta);
    }
}

#include "fabric/main.p4"

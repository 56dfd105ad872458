// POfan: Ofan in a switch of several pipes, each of which has pointers of its own.
//
// Paper: §5.1 and Appendix H. PIPE_PORTS ports that face down share a pipe: 4Ofan by default, 1Ofan
// and 2Ofan with other values. With one pipe for all of them it is Ofan.
//
// Deviations and choices:
// - As in Ofan. All pipes use the port order of the destination, whatever their own number.

#include "fabric/scheme.p4"

#ifndef PIPE_PORTS
#define PIPE_PORTS 4
#endif
#define PIPES ((DOWN + PIPE_PORTS - 1) / PIPE_PORTS)
#define POINTERS (PIPES * 2 * DESTINATIONS)
#include "fabric/rotation.p4"

control Balance(inout Headers headers, inout Metadata meta, inout standard_metadata_t standard) {
    Rotation() rotation;

    apply {
        bit<16> id = meta.destination + (meta.is_ack == 1 ? meta.destinations : 0);
        // Division by PIPE_PORTS, exact for ports below 256.
        bit<32> pipe = ((bit<32>)(standard.ingress_port - 1) * (65536 / PIPE_PORTS + 1)) >> 16;
        rotation.apply(pipe * 2 * (bit<32>)meta.destinations + (bit<32>)id, id, meta);
    }
}

#include "fabric/main.p4"

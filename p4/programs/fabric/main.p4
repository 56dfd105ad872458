// The switch around a scheme's control `Balance`, which sets meta.uplink for frames that go up.

#include "switch.p4"

control Fabric(inout Headers headers, inout Metadata meta, inout standard_metadata_t standard) {
    Routing() routing;
    Balance() balance;

    apply {
        routing.apply(headers, meta, standard);
        if (meta.valid != 0) {
            balance.apply(headers, meta, standard);
            standard.egress_spec = DOWN + 1 + (bit<9>)meta.uplink;
        }
    }
}

V1Switch(FrameParser(), NoVerification(), Fabric(), Departure(), NoUpdate(), FrameDeparser()) main;

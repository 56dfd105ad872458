// The parts of a switch that do nothing here: frames are final when they are queued. Only where the
// switch keeps no log of its queues, TELEMETRY makes it note them in egress.

control NoVerification(inout Headers headers, inout Metadata meta) {
    apply {}
}

#ifdef TELEMETRY
#include "telemetry.p4"
#else
control Departure(inout Headers headers, inout Metadata meta, inout standard_metadata_t standard) {
    apply {}
}
#endif

control NoUpdate(inout Headers headers, inout Metadata meta) {
    apply {}
}

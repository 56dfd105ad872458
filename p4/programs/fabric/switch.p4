// The parts of a switch that do nothing here: frames are final when they are queued.

control NoVerification(inout Headers headers, inout Metadata meta) {
    apply {}
}

control NoEgress(inout Headers headers, inout Metadata meta, inout standard_metadata_t standard) {
    apply {}
}

control NoUpdate(inout Headers headers, inout Metadata meta) {
    apply {}
}

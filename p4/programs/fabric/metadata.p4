// What the fabric tells a scheme about a frame on its way up, and what the scheme answers.

struct Metadata {
    bit<1>  is_ack;        // the frame's class: data or acknowledgment
    bit<16> entropy;       // UDP source port; 0 for other frames
    bit<16> destination;   // at an edge the destination's edge switch, at an aggregation its pod
    bit<16> destinations;  // how many of those there are
    bit<W>  valid;         // uplinks that lead to the destination; 0 if the frame goes down
    bit<8>  uplink;        // the scheme's answer, from 0
}

// ECMP: every packet of a flow takes the uplink that a hash of its five-tuple names.
//
// Paper: the per-flow hashing of §1 and of RSQ and RPS in §3.1. Hosts that change the UDP source
// port packet by packet make random packet spraying (RPS) and REPS of it.
//
// Deviations and choices:
// - CRC-32 is linear: under any salt that is hashed along, two switches' choices differ only by a
//   constant, and an aggregation would see but the bits that its edges chose. So the CRC is
//   multiplied by an odd number of the switch's own and the uppermost bits choose.
// - With failed links the hash chooses among the uplinks that still lead to the destination.

#include "fabric/scheme.p4"

control Balance(inout Headers headers, inout Metadata meta, inout standard_metadata_t standard) {
    bit<32> hashed;

    action hash_flow(bit<32> multiplier) {
        hash(hashed, HashAlgorithm.crc32, 32w0,
             { headers.ipv4.source, headers.ipv4.destination, headers.ipv4.protocol,
               meta.entropy, PORT_ROCE },
             64w0x100000000);
        hashed = hashed * multiplier;
    }

    table salt {
        actions = { hash_flow; }
        default_action = hash_flow(1);
    }

    action take_any() {
        meta.uplink = (bit<8>)(((bit<40>)hashed * W) >> 32);
    }

    action take_valid() {
        meta.uplink = member(
            meta.valid, (bit<8>)(((bit<40>)hashed * (bit<40>)size_of(meta.valid)) >> 32));
    }

    apply {
        salt.apply();
        if (meta.valid == ALL_UPLINKS) {
            take_any();
        } else {
            take_valid();
        }
    }
}

#include "fabric/main.p4"

// CONGA, packet by packet: the uplink of the least congested path, as the destination's edge tells.
//
// Paper: §3.1, Table 1 ("packet-based"): the original sends flowlets over two levels of switches.
//
// Deviations and choices:
// - There is no flowlet table: every packet takes a random one of the least congested uplinks.
// - tau is 0.1 us, a few frames: with it queues grow as in the paper's figures, which give none
//   (docs/reproduction/sensitivity.md); 160 us never adapt in 17. Congestion has 3 bits.
// - Three levels: edges run CONGA with one tag an uplink. An aggregation takes its least congested
//   uplink, as a tag does not tell cores apart. Links A-C, C-A and A-E raise a frame's congestion.
// - Tag (5 bits), congestion (3), fed-back tag (5) and metric (3) are in the partition key of the
//   BTH, so that frames keep their size; at most 32 uplinks. The last switch puts the default key
//   back, with which the ICRC of the frame holds again.
// - Fed-back entries take turns; the original prefers changed ones.
// - A fed-back metric counts as 0 when it is older than one to two ages of 2^n ticks, near 10 tau.

#include "fabric/scheme.p4"
#include "fabric/estimator.p4"
#include "fabric/switch.p4"

#define PATHS (DESTINATIONS * W)
#define DEFAULT_PARTITION_KEY 0xffff

control Fabric(inout Headers headers, inout Metadata meta, inout standard_metadata_t standard) {
    Routing() routing;
    Clock() clock;
    Discounter() discounter;
    Timing timing;
    register<bit<16>>(PATHS) to_edge;         // by destination edge and uplink: age, metric
    register<bit<8>>(PATHS) from_edge;        // by source edge and its tag: congestion
    register<bit<8>>(DESTINATIONS) next_tag;  // to feed back, by edge

    bit<1> is_edge = 0;
    bit<48> growth = 0;
    bit<8> age = 0;
    bit<32> source = 0;

    // Edges count from `first`, the first one of the network's plane. `tick_growth` is what a tick
    // of service adds to X, with 40 binary places.
    action know(bit<1> edge, bit<32> edges_per_pod, bit<32> first, bit<48> tick_growth,
                bit<8> age_shift) {
        is_edge = edge;
        source = (bit<32>)headers.ipv4.source[23:16] * edges_per_pod +
                 (bit<32>)headers.ipv4.source[15:8] - first;
        growth = tick_growth;
        age = (bit<8>)(timing.now >> age_shift);
    }

    table constants {
        actions = { know; }
        default_action = know(0, 0, 0, 0, 0);
    }

    action learn() {
        bit<16> key = headers.bth.partition_key;
        from_edge.write(source * W + (bit<32>)key[15:11], (bit<8>)key[10:8]);
        to_edge.write(source * W + (bit<32>)key[7:3], age ++ (bit<8>)key[2:0]);
        headers.bth.partition_key = DEFAULT_PARTITION_KEY;
    }

    action choose_path() {
        bit<32> estimator;
        bit<8> congestion;
        bit<16> remote;
        bit<8> least = ~8w0;
        bit<W> candidates = 0;
        bit<32> path = (bit<32>)meta.destination * W;
#define COMPARE_PATH(i) \
        estimators.read(estimator, (bit<32>)(DOWN + 1 + i)); \
        congestion = CONGESTION(estimator); \
        to_edge.read(remote, path + (bit<32>)i); \
        congestion = age - remote[15:8] <= 1 && remote[7:0] > congestion ? \
                     remote[7:0] : congestion; \
        congestion = CONTAINS(meta.valid, i) == 1 ? congestion : ~8w0; \
        KEEP_LEAST(i, congestion, least, candidates)
        EACH_UPLINK(COMPARE_PATH)
        CHOOSE_FROM(candidates, meta.uplink)
    }

    action write_tags() {
        bit<8> tag;
        bit<8> metric;
        next_tag.read(tag, (bit<32>)meta.destination);
        from_edge.read(metric, (bit<32>)meta.destination * W + (bit<32>)tag);
        next_tag.write((bit<32>)meta.destination, AFTER(tag));
        headers.bth.partition_key = meta.uplink[4:0] ++ 3w0 ++ tag[4:0] ++ metric[2:0];
    }

    action choose_uplink() {
        bit<32> estimator;
        bit<8> congestion;
        bit<8> least = ~8w0;
        bit<W> candidates = 0;
#define COMPARE_UPLINK(i) \
        estimators.read(estimator, (bit<32>)(DOWN + 1 + i)); \
        congestion = CONTAINS(meta.valid, i) == 1 ? CONGESTION(estimator) : ~8w0; \
        KEEP_LEAST(i, congestion, least, candidates)
        EACH_UPLINK(COMPARE_UPLINK)
        CHOOSE_FROM(candidates, meta.uplink)
    }

    action raise_congestion() {
        bit<32> estimator;
        bit<8> so_far = (bit<8>)headers.bth.partition_key[10:8];
        bit<8> here;
        estimators.read(estimator, (bit<32>)standard.egress_spec);
        here = CONGESTION(estimator);
        here = here > so_far ? here : so_far;
        headers.bth.partition_key[10:8] = here[2:0];
    }

    action count_frame() {
        bit<32> estimator;
        COUNT_FRAME((bit<32>)standard.egress_spec, estimator, timing, growth)
    }

    apply {
        clock.apply(meta, standard, timing);
        discounter.apply(timing);
        constants.apply();
        routing.apply(headers, meta, standard);
        if (meta.valid != 0) {
            if (is_edge == 1) {
                choose_path();
                write_tags();
            } else {
                choose_uplink();
            }
            standard.egress_spec = DOWN + 1 + (bit<9>)meta.uplink;
        } else if (is_edge == 1 && standard.ingress_port > DOWN &&
                   headers.bth.isValid() && headers.bth.partition_key != DEFAULT_PARTITION_KEY) {
            if (source < DESTINATIONS && (bit<8>)headers.bth.partition_key[15:11] < W &&
                (bit<8>)headers.bth.partition_key[7:3] < W) {
                learn();  // unless the frame is damaged, or nobody's here
            }
        }
        if (standard.egress_spec < PORTS) {
            if (is_edge == 0) {
                raise_congestion();
            }
            count_frame();
        }
    }
}

V1Switch(FrameParser(), NoVerification(), Fabric(), Departure(), NoUpdate(), FrameDeparser()) main;

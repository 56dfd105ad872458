// CONGA, packet by packet: the uplink whose path is least congested, where the destination's edge
// switch sends back how congested each path was.
//
// Paper: §3.1, Table 1 ("packet-based"): the original sends flowlets over two levels of switches.
//
// Deviations and choices:
// - There is no flowlet table: every packet takes a random one of the least congested uplinks.
// - Every port has a discounting rate estimator X, which grows by each frame and shrinks by a part
//   alpha each period; X is counted in link capacities times tau = period / alpha, and congestion is
//   X in eighths, at most 7. With the paper's network tau is about a round trip, 6.4 us, because the
//   original's 160 us would never adapt within a collective of 17 us. All ports of a switch shrink
//   together, when a frame arrives and periods have passed.
// - Three levels: edges run CONGA with one tag an uplink. An aggregation takes its least congested
//   uplink, as a tag does not tell cores apart. Links A-C, C-A and A-E raise a frame's congestion.
// - Tag (5 bits), congestion (3), fed-back tag (5) and metric (3) are in the partition key of the
//   BTH, so that frames keep their size; at most 32 uplinks. The last switch puts the default key
//   back, with which the ICRC of the frame holds again.
// - Fed-back entries take turns; the original prefers changed ones.
// - A fed-back metric counts as 0 when it is older than one to two ages of 2^n ticks, near 10 tau.

#include "fabric/scheme.p4"
#include "fabric/backlog.p4"
#include "fabric/switch.p4"

#define PORTS (2 * W + 1)
#define PATHS (DESTINATIONS * W)
#define MOST_PERIODS 63  // that shrinking tells apart
#define DEFAULT_PARTITION_KEY 0xffff

control Fabric(inout Headers headers, inout Metadata meta, inout standard_metadata_t standard) {
    Routing() routing;
    Clock() clock;
    Timing timing;
    register<bit<32>>(PORTS) estimators;  // in capacities times tau, 24 binary places
    register<bit<48>>(1) shrunk;          // when
    register<bit<16>>(PATHS) to_edge;     // by destination edge and uplink: age, fed-back metric
    register<bit<8>>(PATHS) from_edge;    // by source edge and its tag: congestion
    register<bit<8>>(DESTINATIONS) next_tag;  // to feed back, by edge

    bit<1> is_edge = 0;
    bit<1> is_due = 0;
    bit<48> periods = 0;
    bit<48> period = 0;
    bit<32> kept = 0;
    bit<48> growth = 0;
    bit<8> age = 0;
    bit<16> pod_stride = 0;

    // `period_share` is a tick's part of the period with 32 binary places, rounded up; `keep` is
    // 1 - alpha with 16; `tick_growth` is a tick of service in units of X, with 16 more.
    action check_age(bit<1> edge, bit<16> edges_per_pod, bit<48> period_ticks, bit<64> period_share,
                     bit<32> keep, bit<48> tick_growth, bit<8> age_shift) {
        bit<48> last;
        bit<48> elapsed;
        shrunk.read(last, 0);
        elapsed = timing.now - last;
        elapsed = elapsed > MOST_PERIODS * period_ticks ? MOST_PERIODS * period_ticks : elapsed;
        periods = (bit<48>)(((bit<64>)elapsed * period_share) >> 32);
        is_due = elapsed >= period_ticks ? 1w1 : 1w0;
        is_edge = edge;
        period = period_ticks;
        kept = keep;
        growth = tick_growth;
        age = (bit<8>)(timing.now >> age_shift);
        pod_stride = edges_per_pod;
    }

    table constants {
        actions = { check_age; }
        default_action = check_age(0, 0, LONGEST, 0, 0, 0, 0);
    }

    action shrink() {
        bit<48> last;
        bit<32> value;
        bit<32> factor = 65536;
#define SQUARE_AND_MULTIPLY(n) \
        factor = periods[n:n] == 1 ? (factor * kept) >> 16 : factor; \
        kept = (kept * kept) >> 16;
        SQUARE_AND_MULTIPLY(0)
        SQUARE_AND_MULTIPLY(1)
        SQUARE_AND_MULTIPLY(2)
        SQUARE_AND_MULTIPLY(3)
        SQUARE_AND_MULTIPLY(4)
        SQUARE_AND_MULTIPLY(5)
#define SHRINK(port) \
        estimators.read(value, port); \
        value = (bit<32>)(((bit<64>)value * (bit<64>)factor) >> 16); \
        estimators.write(port, value);
#define SHRINK_BOTH(i) SHRINK((bit<32>)(1 + i)) SHRINK((bit<32>)(W + 1 + i))
        EACH_UPLINK(SHRINK_BOTH)
        shrunk.read(last, 0);
        shrunk.write(0, periods == MOST_PERIODS ? timing.now : last + periods * period);
    }

    action learn() {
        bit<32> edge = (bit<32>)(headers.ipv4.source[23:16]) * (bit<32>)pod_stride +
                       (bit<32>)(headers.ipv4.source[15:8]);
        bit<16> key = headers.bth.partition_key;
        from_edge.write(edge * W + (bit<32>)key[15:11], (bit<8>)key[10:8]);
        to_edge.write(edge * W + (bit<32>)key[7:3], age ++ (bit<8>)key[2:0]);
        headers.bth.partition_key = DEFAULT_PARTITION_KEY;
    }

    // Congestion from an estimator: eighths, at most 7.
#define CONGESTION(value) (value >> 24 != 0 ? 8w7 : (bit<8>)(value >> 21))

    action choose_path() {
        bit<32> value;
        bit<8> congestion;
        bit<16> remote;
        bit<8> least = ~8w0;
        bit<W> candidates = 0;
        bit<32> path = (bit<32>)meta.destination * W;
#define COMPARE_PATH(i) \
        estimators.read(value, (bit<32>)(W + 1 + i)); \
        congestion = CONGESTION(value); \
        to_edge.read(remote, path + (bit<32>)i); \
        congestion = age - remote[15:8] <= 1 && remote[7:0] > congestion ? \
                     remote[7:0] : congestion; \
        congestion = CONTAINS(meta.valid, i) == 1 ? congestion : ~8w0; \
        KEEP_LEAST(i, congestion, least, candidates)
        EACH_UPLINK(COMPARE_PATH)
        CHOOSE_FROM(candidates, meta.uplink)
        standard.egress_spec = W + 1 + (bit<9>)meta.uplink;
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
        bit<32> value;
        bit<8> congestion;
        bit<8> least = ~8w0;
        bit<W> candidates = 0;
#define COMPARE_UPLINK(i) \
        estimators.read(value, (bit<32>)(W + 1 + i)); \
        congestion = CONTAINS(meta.valid, i) == 1 ? CONGESTION(value) : ~8w0; \
        KEEP_LEAST(i, congestion, least, candidates)
        EACH_UPLINK(COMPARE_UPLINK)
        CHOOSE_FROM(candidates, meta.uplink)
        standard.egress_spec = W + 1 + (bit<9>)meta.uplink;
    }

    action raise_congestion() {
        bit<32> value;
        bit<3> congestion;
        estimators.read(value, (bit<32>)standard.egress_spec);
        congestion = (bit<3>)CONGESTION(value);
        headers.bth.partition_key[10:8] =
            congestion > headers.bth.partition_key[10:8] ?
            congestion : headers.bth.partition_key[10:8];
    }

    action note_frame() {
        bit<32> value;
        estimators.read(value, (bit<32>)standard.egress_spec);
        estimators.write((bit<32>)standard.egress_spec,
                         value + (bit<32>)((timing.service * growth) >> 16));
    }

    apply {
        clock.apply(meta, standard, timing);
        constants.apply();
        if (is_due == 1) {
            shrink();
        }
        routing.apply(headers, meta, standard);
        if (is_edge == 1) {
            if (meta.valid != 0) {
                choose_path();
                write_tags();
            } else if (standard.ingress_port > W && headers.bth.isValid()) {
                learn();
            }
        } else {
            if (meta.valid != 0) {
                choose_uplink();
            }
            if (standard.egress_spec < PORTS) {
                raise_congestion();
            }
        }
        if (standard.egress_spec < PORTS) {
            note_frame();
        }
    }
}

V1Switch(FrameParser(), NoVerification(), Fabric(), NoEgress(), NoUpdate(), FrameDeparser()) main;

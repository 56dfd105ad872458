// SGLB, global load balancing as in ByteDance's and Broadcom's switches: a random one of the
// uplinks whose path is best, where a path is as good as the worse of the uplink and what the next
// switch says about its own link towards the destination.
//
// Paper: §3.1 (Table 1), §7: five kinds of information, of which two are local; an edge of a
// three-level network sees nothing beyond the next switch. The five are not named. Here they are
// load and queue of the uplink, load and queue of the next switch's link, and reachability.
//
// Deviations and choices:
// - Quality is that of fabric/penalty.p4, for all ports.
// - What switches say travels in the partition key of the RoCEv2 frames that they send down anyway,
//   one link's penalty a frame, in turn. It costs no capacity, and is as fresh as frames are many:
//   of each link of a busy switch its neighbour hears once in as many frames as there are links.
//   The last switch puts the default key back, with which the ICRC of the frame holds again.
// - An aggregation says what its links down are worth one by one, and what its uplinks are worth on
//   average, because it will choose among them itself. A core says each link down.
// - Before anything was heard, a link counts as best.

#include "fabric/scheme.p4"

#include "fabric/downlinks.p4"
#include "fabric/penalty.p4"
#include "fabric/switch.p4"

#define LINKS (ABOVE + 1)  // that a switch reports on: down ports by their number, 0 for upwards
#define DEFAULT_PARTITION_KEY 0xffff

register<bit<8>>(W * LINKS) heard;  // penalties by uplink and link of the switch behind it
register<bit<16>>(1) next_link;     // to report on

control Fabric(inout Headers headers, inout Metadata meta, inout standard_metadata_t standard) {
    Routing() routing;
    Clock() clock;
    Sampler() sampler;
    Timing timing;
    bit<1> is_due = 0;
    bit<16> near_first = 0;
    bit<16> near_count = 0;
    bit<16> first_link = 0;
    bit<16> last_link = 0;
    bit<32> uplink_share = 0;

    // Destinations from `first_near` on have a link of their own at the next switch, `count_near`
    // of them. This switch reports on its links from `first` to `last`; `last` is 0 at an edge.
    // `share` is one uplink's part of the average, with 16 binary places.
    action see(bit<16> first_near, bit<16> count_near, bit<16> first, bit<16> last,
               bit<32> share) {
        near_first = first_near;
        near_count = count_near;
        first_link = first;
        last_link = last;
        uplink_share = share;
    }

    table view {
        actions = { see; }
        default_action = see(0, 0, 0, 0, 0);
    }

    action average_uplinks() {
        bit<8> penalty;
        bit<32> sum = 0;
#define ADD_PENALTY(i) \
        penalties.read(penalty, (bit<32>)(DOWN + 1 + i)); \
        sum = sum + (bit<32>)penalty;
        EACH_UPLINK(ADD_PENALTY)
        penalties.write(0, (bit<8>)((sum * uplink_share) >> 16));
    }

    action hear() {
        heard.write(((bit<32>)standard.ingress_port - DOWN - 1) * LINKS +
                    (bit<32>)headers.bth.partition_key[15:4],
                    (bit<8>)headers.bth.partition_key[3:0]);
    }

    action report() {
        bit<16> link;
        bit<8> penalty;
        next_link.read(link, 0);
        link = link < first_link ? first_link : link;
        penalties.read(penalty, (bit<32>)link);
        headers.bth.partition_key = link << 4 | (bit<16>)penalty;
        next_link.write(0, link == last_link ? first_link : link + 1);
    }

    action restore_key() {
        headers.bth.partition_key = DEFAULT_PARTITION_KEY;
    }

    action choose_best() {
        bit<16> link = meta.destination - near_first;
        bit<8> penalty;
        bit<8> beyond;
        bit<8> least = ~8w0;
        bit<W> candidates = 0;
        link = link < near_count ? link + 1 : 0;
#define COMPARE(i) \
        penalties.read(penalty, (bit<32>)(DOWN + 1 + i)); \
        heard.read(beyond, (bit<32>)(i * LINKS) + (bit<32>)link); \
        penalty = beyond > penalty ? beyond : penalty; \
        penalty = CONTAINS(meta.valid, i) == 1 ? penalty : ~8w0; \
        KEEP_LEAST(i, penalty, least, candidates)
        EACH_UPLINK(COMPARE)
        CHOOSE_FROM(candidates, meta.uplink)
        standard.egress_spec = DOWN + 1 + (bit<9>)meta.uplink;
    }

    action note_frame() {
        bit<48> finish;
        bit<32> sum;
        NOTE_FRAME((bit<32>)standard.egress_spec, finish, sum, timing)
    }

    apply {
        view.apply();
        clock.apply(meta, standard, timing);
        sampler.apply(timing, is_due);
        if (is_due == 1) {
            average_uplinks();
        }
        if (near_count != 0 && standard.ingress_port > DOWN &&
            headers.bth.isValid() && headers.bth.partition_key[15:4] < LINKS) {
            hear();
        }
        routing.apply(headers, meta, standard);
        if (meta.valid != 0) {
            choose_best();
        } else if (headers.bth.isValid()) {
            if (last_link != 0) {
                report();
            } else {
                restore_key();
            }
        }
        if (standard.egress_spec < PORTS) {
            note_frame();
        }
    }
}

V1Switch(FrameParser(), NoVerification(), Fabric(), Departure(), NoUpdate(), FrameDeparser()) main;

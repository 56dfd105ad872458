// What a switch that keeps no log of its queues notes for the control plane to read: BMv2's
// simple_switch, whose depths are in packets and whose times are in microseconds.
//
// FRAME_US is the time of a data frame on a link. Because that switch paces frames and not bytes,
// ACKs have a queue of their own there, that of priority 1. Cells are at 2 * port, one more for
// ACKs.

#define PORTS (2 * W + 1)
#define SLOTS 64
#define SLOT_BITS 14  // a slot of the queue's time series lasts 2^14 microseconds

control Departure(inout Headers headers, inout Metadata meta, inout standard_metadata_t standard) {
    register<bit<64>>(2 * PORTS) packets;
    register<bit<64>>(2 * PORTS) bytes;
    register<bit<64>>(2 * PORTS) waited;       // microseconds in the queue, all frames together
    register<bit<32>>(2 * PORTS) peak;         // most packets that a frame found before itself
    register<bit<32>>(PORTS * SLOTS) slot;     // which slot a cell of `slot_peak` is about
    register<bit<32>>(PORTS * SLOTS) slot_peak;
    register<bit<48>>(PORTS) last;             // departure
    register<bit<1>>(PORTS) left_some;         // whether that one left others waiting
    register<bit<64>>(PORTS) gaps;             // between departures of one busy period, and how
    register<bit<64>>(PORTS) gaps_10;          // many of these were as long as a data frame, within
    register<bit<64>>(PORTS) gaps_25;          // 10 %, 25 % and 100 %
    register<bit<64>>(PORTS) gaps_100;

#define ADD(array, cell, amount) \
    array.read(total, cell); \
    array.write(cell, total + (bit<64>)(amount));

    action note_frame(bit<32> cell) {
        bit<64> total;
        bit<32> most;
        ADD(packets, cell, 1)
        ADD(bytes, cell, standard.packet_length)
        ADD(waited, cell, standard.deq_timedelta)
        peak.read(most, cell);
        peak.write(cell, (bit<32>)standard.enq_qdepth > most ? (bit<32>)standard.enq_qdepth : most);
    }

    action note_queue(bit<32> port) {
        bit<32> now = (bit<32>)(standard.egress_global_timestamp >> SLOT_BITS);
        bit<32> cell = port * SLOTS + (now & (SLOTS - 1));
        bit<32> about;
        bit<32> most;
        slot.read(about, cell);
        slot_peak.read(most, cell);
        most = about == now ? most : 0;
        slot.write(cell, now);
        slot_peak.write(cell, (bit<32>)standard.enq_qdepth > most
                              ? (bit<32>)standard.enq_qdepth : most);
    }

    action note_gap(bit<32> port) {
        bit<64> total;
        bit<48> before;
        bit<1> busy;
        bit<48> distance;
        last.read(before, port);
        left_some.read(busy, port);
        distance = standard.egress_global_timestamp - before;
        distance = distance > FRAME_US ? distance - FRAME_US : FRAME_US - distance;
        ADD(gaps, port, busy)
        ADD(gaps_10, port, busy == 1 && distance * 10 <= FRAME_US ? 64w1 : 0)
        ADD(gaps_25, port, busy == 1 && distance * 4 <= FRAME_US ? 64w1 : 0)
        ADD(gaps_100, port, busy == 1 && distance <= FRAME_US ? 64w1 : 0)
        last.write(port, standard.egress_global_timestamp);
        left_some.write(port, standard.deq_qdepth > 0 ? 1w1 : 0);
    }

    apply {
        bit<32> port = (bit<32>)standard.egress_port;
        note_frame(2 * port + (bit<32>)meta.is_ack);
        if (meta.is_ack == 0) {
            note_queue(port);
            note_gap(port);
        }
    }
}

// What a switch that keeps no log of its queues notes for the control plane to read, and its ECN
// marks: for BMv2's simple_switch, whose depths are in packets and whose times in microseconds.
//
// frame_us is the time of a data frame at a port. A data frame that leaves MARK_FRAMES or more
// behind is marked (0: none is). Because that switch paces frames and not bytes, ACKs have a queue
// of their own there, that of priority 1. Cells are at 2 * port, one more for ACKs.
//
// A frame leaves that switch's queue when its service starts, and waits there only if the port is
// busy: with those in front of it, the frame itself and the one in service make the depth.

#define CELLS (2 * PORTS_COUNTED)
#define PORTS_COUNTED (DOWN + W + 1)
#define SLOTS 64
#define SLOT_BITS 14  // a slot of the queue's time series lasts 2^14 microseconds
#define ECN_CAPABLE 2
#define BUSY_SHIFT 3  // a wait shorter than this share of a data frame is the switch's own work

#ifndef MARK_FRAMES
#define MARK_FRAMES 0
#endif

control Departure(inout Headers headers, inout Metadata meta, inout standard_metadata_t standard) {
    register<bit<48>>(PORTS_COUNTED) frame_us; // of the port's link, from the control plane
    register<bit<64>>(CELLS) packets;
    register<bit<64>>(CELLS) bytes;
    register<bit<64>>(CELLS) waited;           // microseconds in the queue, all frames together
    register<bit<32>>(CELLS) peak;             // greatest depth
    register<bit<64>>(CELLS) marks;
    register<bit<48>>(PORTS_COUNTED * SLOTS) slots; // a slot's number, and in 16 bits its peak
    register<bit<48>>(PORTS_COUNTED) last;     // departure
    register<bit<1>>(PORTS_COUNTED) left_some; // whether that one left others waiting
    register<bit<64>>(PORTS_COUNTED) gaps;     // between departures of one busy period, and how
    register<bit<64>>(PORTS_COUNTED) gaps_10;  // many of these were as long as a data frame, within
    register<bit<64>>(PORTS_COUNTED) gaps_25;  // 10 %, 25 % and 100 %
    register<bit<64>>(PORTS_COUNTED) gaps_100;
    register<bit<48>>(PORTS_COUNTED) late;     // by how much the longest gap was too long

#define ADD(array, cell, amount) \
    array.read(total, cell); \
    array.write(cell, total + (bit<64>)(amount));

    action note_frame(bit<32> cell, bit<32> depth) {
        bit<64> total;
        bit<32> most;
        ADD(packets, cell, 1)
        ADD(bytes, cell, standard.packet_length)
        ADD(waited, cell, standard.deq_timedelta)
        peak.read(most, cell);
        peak.write(cell, depth > most ? depth : most);
    }

    action note_queue(bit<32> port, bit<16> depth) {
        bit<32> now = (bit<32>)(standard.egress_global_timestamp >> SLOT_BITS);
        bit<32> cell = port * SLOTS + (now & (SLOTS - 1));
        bit<48> noted;
        bit<16> most;
        slots.read(noted, cell);
        most = noted[47:16] == now ? noted[15:0] : 0;
        slots.write(cell, now ++ (depth > most ? depth : most));
    }

    action note_gap(bit<32> port, bit<48> frame) {
        bit<64> total;
        bit<48> before;
        bit<48> latest;
        bit<1> busy;
        bit<48> gap;
        bit<48> excess;
        bit<48> distance;
        last.read(before, port);
        left_some.read(busy, port);
        late.read(latest, port);
        gap = standard.egress_global_timestamp - before;
        excess = busy == 1 && gap > frame ? gap - frame : 0;
        distance = gap > frame ? gap - frame : frame - gap;
        late.write(port, excess > latest ? excess : latest);
        ADD(gaps, port, busy)
        ADD(gaps_10, port, busy == 1 && distance * 10 <= frame ? 64w1 : 0)
        ADD(gaps_25, port, busy == 1 && distance * 4 <= frame ? 64w1 : 0)
        ADD(gaps_100, port, busy == 1 && distance <= frame ? 64w1 : 0)
        last.write(port, standard.egress_global_timestamp);
        left_some.write(port, standard.deq_qdepth > 0 ? 1w1 : 0);
    }

    // The checksum of a header in which one 16-bit word grew by 1 is smaller by 1, without the 0
    // that ones' complement has twice.
    action mark(bit<32> cell) {
        bit<64> total;
        headers.ipv4.traffic_class = headers.ipv4.traffic_class | 3;
        headers.ipv4.checksum = headers.ipv4.checksum == 0 ? 0xfffe : headers.ipv4.checksum - 1;
        ADD(marks, cell, 1)
    }

    apply {
        bit<32> port = (bit<32>)standard.egress_port;
        bit<32> cell = 2 * port + (bit<32>)meta.is_ack;
        bit<48> frame;
        frame_us.read(frame, port);
        bit<32> busy = (bit<48>)standard.deq_timedelta > frame >> BUSY_SHIFT ? 32w1 : 0;
        bit<32> depth = (bit<32>)standard.enq_qdepth + 1 + busy;
        note_frame(cell, depth);
        if (meta.is_ack == 0) {
            note_queue(port, (bit<16>)depth);
            note_gap(port, frame);
            if (MARK_FRAMES > 0 && (bit<32>)standard.deq_qdepth >= MARK_FRAMES &&
                headers.ipv4.isValid() && headers.ipv4.traffic_class[1:0] == ECN_CAPABLE) {
                mark(cell);
            }
        }
    }
}

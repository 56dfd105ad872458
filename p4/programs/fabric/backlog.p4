// How much waits at a port, known at ingress: the virtual finish time.
//
// A port sends frames in order, one after the other, a gap between two. So the time at which the
// last frame given to it will have left tells its backlog exactly, as the time that it takes to
// send. The frame in service counts with what is still to be sent, and gaps between waiting frames
// count as well.

#define FCS_BYTES 4
#define LONGEST (~(bit<48>)0)

// Times are in units of the ingress timestamp.
struct Timing {
    bit<48> now;
    bit<48> service;  // what this frame takes on a link
    bit<48> gap;      // what a link rests after each frame
}

control Clock(inout Metadata meta, inout standard_metadata_t standard, out Timing timing) {
    // `ticks_per_byte` has 12 binary places.
    action measure(bit<48> ticks_per_byte, bit<48> ack_ticks, bit<48> gap_ticks) {
        timing.now = standard.ingress_global_timestamp;
        timing.service = meta.is_ack == 1 ? ack_ticks :
            ((bit<48>)(standard.packet_length + FCS_BYTES) * ticks_per_byte) >> 12;
        timing.gap = gap_ticks;
    }

    table rates {
        actions = { measure; }
        default_action = measure(0, 0, 0);
    }

    apply {
        rates.apply();
    }
}

// What a port with this finish time has still to send.
bit<48> backlog(in bit<48> finish, in bit<48> now) {
    return finish > now ? finish - now : 0;
}

// How many data frames a backlog is, begun ones counted whole. `tick_share` is a tick's part of a
// full frame and its gap, with 40 binary places and rounded up; 0 leaves the backlog in ticks.
bit<48> whole_frames(in bit<48> ticks, in bit<64> tick_share) {
    bit<48> before = (bit<48>)(((bit<64>)(ticks - 1) * tick_share) >> 40);
    return ticks == 0 || tick_share == 0 ? ticks : before + 1;
}

// The finish time of a port once the frame is in its queue.
bit<48> finish_with(in bit<48> finish, in Timing timing) {
    bit<48> free = finish + timing.gap;
    return (free > timing.now ? free : timing.now) + timing.service;
}

// The quality of ports as Broadcom's dynamic load balancing (DLB) knows it, here as a penalty from
// 0 (best) to 7: two local metrics, how much was given to a port recently and how much waits there,
// each smoothed, put into one of eight bands, and averaged.
//
// Ports are sampled when a frame arrives and the last sample is at least a period old, all at once.
// Load is what was given in the time that has really passed since.
// Smoothing is new = old + (sample - old) / 4. A switch that saw no frame for eight periods has
// forgotten all.

#include "backlog.p4"

#define PORTS (DOWN + W + 1)
#define FORGOTTEN 8  // periods
#define WORST 7

register<bit<48>>(PORTS) finishes;   // by port: when its last frame will have left
register<bit<32>>(PORTS) given;      // by port: ticks of service given since the last sample
register<bit<32>>(PORTS) loads;      // by port: smoothed share of the period, 16 binary places
register<bit<32>>(PORTS) queues;     // by port: smoothed backlog in ticks
register<bit<8>>(PORTS) penalties;   // by port
register<bit<48>>(1) sampled;        // when

// The band of a metric: 0 below `lowest`, then one more for each 2^32 / `scale`, up to 7.
bit<8> band(in bit<32> metric, in bit<32> lowest, in bit<32> scale) {
    bit<64> above = metric > lowest ? (bit<64>)(metric - lowest) : 0;
    bit<64> steps = (above * (bit<64>)scale) >> 32;
    return steps > WORST ? 8w7 : (bit<8>)steps;
}

#define SMOOTHED(old, sample) ((old) - ((old) >> 2) + ((sample) >> 2))

control Sampler(in Timing timing, out bit<1> is_due) {
    bit<1> is_forgotten = 0;
    bit<48> period = 0;
    bit<48> elapsed = 0;
    bit<32> share_of_tick = 0;
    bit<32> lowest_load = 0;
    bit<32> scale_of_load = 0;
    bit<32> scale_of_queue = 0;

    // `tick_share` is a tick's part of the period with 32 binary places.
    action check_age(bit<48> period_ticks, bit<32> tick_share, bit<32> load_lowest,
                     bit<32> load_scale, bit<32> queue_scale) {
        bit<48> last;
        sampled.read(last, 0);
        elapsed = timing.now - last;
        is_due = elapsed >= period_ticks ? 1w1 : 1w0;
        is_forgotten = elapsed >= FORGOTTEN * period_ticks ? 1w1 : 1w0;
        period = period_ticks;
        share_of_tick = tick_share;
        lowest_load = load_lowest;
        scale_of_load = load_scale;
        scale_of_queue = queue_scale;
    }

    table sampling {
        actions = { check_age; }
        default_action = check_age(LONGEST, 0, 0, 0, 0);
    }

    action sample() {
        bit<48> finish;
        bit<32> share;
        bit<32> load;
        bit<32> queue;
        bit<64> ratio = 0;  // of the period to the time that has passed, 8 binary places
        bit<64> tick_share;
        bit<64> rest = (bit<64>)period;
        // In a part of a variable: see member() in uplinks.p4.
#define DIVIDE \
        ratio = ratio << 1 | (rest[47:0] >= elapsed ? 64w1 : 64w0); \
        rest[47:0] = (rest[47:0] >= elapsed ? rest[47:0] - elapsed : rest[47:0]) << 1;
        DIVIDE DIVIDE DIVIDE DIVIDE DIVIDE DIVIDE DIVIDE DIVIDE DIVIDE
        tick_share = ((bit<64>)share_of_tick * ratio) >> 8;
#define SAMPLE(port) \
        finishes.read(finish, port); \
        given.read(share, port); \
        loads.read(load, port); \
        queues.read(queue, port); \
        share = (bit<32>)(((bit<64>)share * tick_share) >> 16); \
        load = is_forgotten == 1 ? 0 : SMOOTHED(load, share); \
        queue = is_forgotten == 1 ? 0 : SMOOTHED(queue, (bit<32>)backlog(finish, timing.now)); \
        given.write(port, 0); \
        loads.write(port, load); \
        queues.write(port, queue); \
        penalties.write(port, (band(load, lowest_load, scale_of_load) + \
                               band(queue, 0, scale_of_queue) + 1) >> 1);
#define SAMPLE_UP(i) SAMPLE((bit<32>)(DOWN + 1 + i))
        EACH_UPLINK(SAMPLE_UP)
#ifdef EACH_DOWNLINK
#define SAMPLE_DOWN(i) SAMPLE((bit<32>)(1 + i))
        EACH_DOWNLINK(SAMPLE_DOWN)
#endif
        sampled.write(0, timing.now);
    }

    apply {
        sampling.apply();
        if (is_due == 1) {
            sample();
        }
    }
}

// Notes a frame that goes to `port`, which is of type bit<32>.
#define NOTE_FRAME(port, finish, sum, timing) \
    finishes.read(finish, port); \
    finishes.write(port, finish_with(finish, timing)); \
    given.read(sum, port); \
    given.write(port, sum + (bit<32>)timing.service);

// CONGA's discounting rate estimator: per port an amount X that grows with each frame, and of which
// a part alpha is lost each period. X is in link capacities times tau, where tau = period / alpha.
//
// All ports of a switch lose together, when a frame arrives and whole periods have passed.

#include "backlog.p4"
#include "downlinks.p4"

#define PORTS (DOWN + W + 1)
#define MOST_PERIODS 63  // that are told apart; what is left then is nothing
#define HIGHEST_CONGESTION 7

register<bit<32>>(PORTS) estimators;  // X by port, 24 binary places
register<bit<48>>(1) discounted;      // up to when

// Congestion: X in eighths, at most 7.
#define CONGESTION(estimator) \
    ((estimator) >> 24 != 0 ? (bit<8>)HIGHEST_CONGESTION : (bit<8>)((estimator) >> 21))

// Counts a frame that goes to `port`, which is of type bit<32>.
#define COUNT_FRAME(port, estimator, timing, tick) \
    estimators.read(estimator, port); \
    estimators.write(port, estimator + (bit<32>)((timing.service * tick) >> 16));

control Discounter(in Timing timing) {
    bit<1> is_due = 0;
    bit<48> period = 0;
    bit<48> periods = 0;
    bit<32> keep = 0;

    // `period_share` is a tick's part of the period with 32 binary places, rounded up; `kept` is
    // 1 - alpha with 16.
    action count_periods(bit<48> period_ticks, bit<64> period_share, bit<32> kept) {
        bit<48> last;
        bit<48> elapsed;
        discounted.read(last, 0);
        elapsed = timing.now - last;
        elapsed = elapsed > MOST_PERIODS * period_ticks ? MOST_PERIODS * period_ticks : elapsed;
        periods = (bit<48>)(((bit<64>)elapsed * period_share) >> 32);
        is_due = elapsed >= period_ticks ? 1w1 : 1w0;
        period = period_ticks;
        keep = kept;
    }

    table discount {
        actions = { count_periods; }
        default_action = count_periods(LONGEST, 0, 0);
    }

    // Multiplies all X by keep to the power of `periods`.
    action lose() {
        bit<48> last;
        bit<32> estimator;
        bit<32> factor = 65536;
#define SQUARE_AND_MULTIPLY(n) \
        factor = periods[n:n] == 1 ? (factor * keep) >> 16 : factor; \
        keep = (keep * keep) >> 16;
        SQUARE_AND_MULTIPLY(0)
        SQUARE_AND_MULTIPLY(1)
        SQUARE_AND_MULTIPLY(2)
        SQUARE_AND_MULTIPLY(3)
        SQUARE_AND_MULTIPLY(4)
        SQUARE_AND_MULTIPLY(5)
#define LOSE(port) \
        estimators.read(estimator, port); \
        estimator = (bit<32>)(((bit<64>)estimator * (bit<64>)factor) >> 16); \
        estimators.write(port, estimator);
#define LOSE_DOWN(i) LOSE((bit<32>)(1 + i))
#define LOSE_UP(i) LOSE((bit<32>)(DOWN + 1 + i))
        EACH_DOWNLINK(LOSE_DOWN)
        EACH_UPLINK(LOSE_UP)
        discounted.read(last, 0);
        discounted.write(0, periods == MOST_PERIODS ? timing.now : last + periods * period);
    }

    apply {
        discount.apply();
        if (is_due == 1) {
            lose();
        }
    }
}

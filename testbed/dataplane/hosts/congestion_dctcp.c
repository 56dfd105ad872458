#include <float.h>

#include "congestion.h"
#include "registry.h"

/*
 * DCTCP (Alizadeh et al., SIGCOMM 2010) on NewReno, as htsim has it: the share of marked ACKs is
 * averaged once a window of ACKs, and as long as the average is above 0 every window is cut by half
 * of it, marked or not. A mark ends slow start. Reordering beyond 3 + paths duplicate ACKs is taken
 * for a loss. The first window is NSCC's, because with htsim's 10 frames slow start would be most
 * of a message.
 */
struct dctcp {
    double alpha;      /* average share of marked ACKs */
    double threshold;  /* slow start below it */
    double past;       /* window when the present one began */
    uint32_t seen;     /* ACKs of this window */
    uint32_t marked;
    bool recovering;
};

static double frame(const struct cca *cca)
{
    return cca->network->frame;
}

static double first_window(const struct network *network)
{
    double packets = network->parameters[DCTCP_WINDOW_PACKETS];
    double products = network->parameters[DCTCP_WINDOW_BDPS] * network->bdp;
    return packets > 0 ? network->frame * packets : products;
}

static void open(struct cca *cca)
{
    struct dctcp *dctcp = (struct dctcp *)cca->state;
    cca->window = first_window(cca->network);
    dctcp->threshold = frame(cca) * given(cca, DCTCP_THRESHOLD_PACKETS);
    dctcp->past = 2 * frame(cca);
}

static void end_window(struct cca *cca, struct dctcp *dctcp)
{
    double gain = given(cca, DCTCP_GAIN);
    double share = (double)dctcp->marked / dctcp->seen;
    dctcp->alpha = (1 - gain) * dctcp->alpha + gain * share;
    dctcp->seen = dctcp->marked = 0;
    if (dctcp->alpha > 0) {
        cca->window = larger(cca->window * (1 - dctcp->alpha / 2), frame(cca));
        dctcp->threshold = cca->window;
    }
    dctcp->past = cca->window;
}

/* By one frame an ACK at the most, however far it moves the window after a reordering. */
static void grow(struct cca *cca, const struct dctcp *dctcp, double bytes)
{
    double acknowledged = smaller(bytes, frame(cca));
    if (cca->window < dctcp->threshold)
        cca->window += smaller(acknowledged, dctcp->threshold - cca->window);
    else
        cca->window += frame(cca) * acknowledged / cca->window;
}

static void acknowledged(struct cca *cca, const struct dp_signal *signal)
{
    struct dctcp *dctcp = (struct dctcp *)cca->state;
    dctcp->seen++;
    dctcp->marked += signal->marked;
    if (signal->marked)
        dctcp->threshold = smaller(dctcp->threshold, cca->window);
    if (dctcp->seen * frame(cca) >= dctcp->past)
        end_window(cca, dctcp);
    if (!dctcp->recovering)
        grow(cca, dctcp, (double)signal->in_order_bytes);
}

static void halve(struct cca *cca, struct dctcp *dctcp)
{
    dctcp->seen = dctcp->marked = 0;
    dctcp->past = cca->window;
    dctcp->threshold = larger(cca->window / 2, 2 * frame(cca));
}

static void lost(struct cca *cca, const struct dp_signal *signal)
{
    (void)signal;
    struct dctcp *dctcp = (struct dctcp *)cca->state;
    halve(cca, dctcp);
    cca->window = dctcp->threshold + 3 * frame(cca);
    dctcp->recovering = true;
}

static void recovered(struct cca *cca, const struct dp_signal *signal)
{
    (void)signal;
    struct dctcp *dctcp = (struct dctcp *)cca->state;
    cca->window = dctcp->threshold;
    dctcp->recovering = false;
}

static void timed_out(struct cca *cca, const struct dp_signal *signal)
{
    (void)signal;
    struct dctcp *dctcp = (struct dctcp *)cca->state;
    if (cca->window <= frame(cca))
        return;
    halve(cca, dctcp);
    cca->window = frame(cca);
    dctcp->recovering = false;
}

static uint32_t duplicates(const struct network *network, uint32_t routes)
{
    return (uint32_t)network->parameters[DCTCP_DUPLICATES] + routes;
}

static uint32_t constants(const struct network *network, struct dp_constant *constants)
{
    constants[0] = (struct dp_constant){ "window_bytes", first_window(network) };
    constants[1] = (struct dp_constant){ "threshold_bytes",
                                         network->frame *
                                             network->parameters[DCTCP_THRESHOLD_PACKETS] };
    return 2;
}

const struct congestion congestion_dctcp = {
    .name = "dctcp",
    .state_bytes = sizeof(struct dctcp),
    .open = open,
    .acknowledged = acknowledged,
    .nacked = lost,
    .lost = lost,
    .recovered = recovered,
    .timed_out = timed_out,
    .duplicates = duplicates,
    .constants = constants,
};

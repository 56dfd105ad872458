#include "congestion.h"

#include <stdlib.h>

#include "registry.h"

#define DECLARE(algorithm) extern const struct congestion congestion_##algorithm;
#define LIST(algorithm) &congestion_##algorithm,

CONGESTIONS(DECLARE)

static const struct congestion *const ALL[] = { CONGESTIONS(LIST) };

const struct congestion *congestion_at(uint32_t number)
{
    return number < sizeof ALL / sizeof *ALL ? ALL[number] : NULL;
}

struct network network_of(const struct dp_settings *settings)
{
    struct network network = {
        .rtt_ps = settings->rtt_ps,
        .buffer_bytes = settings->buffer_bytes,
        .hops = settings->hops,
        .bytes_per_ps = 1 / settings->picoseconds_per_byte,
        .frame = settings->payload_bytes + settings->header_bytes,
        .payload = settings->payload_bytes,
        .trims = settings->trim != 0,
    };
    network.bdp = (double)network.rtt_ps * network.bytes_per_ps;
    for (uint32_t i = 0; i < DP_PARAMETERS; i++)
        network.parameters[i] = settings->congestion_parameters[i];
    return network;
}

void cca_open(struct cca *cca, const struct congestion *ops, const struct network *network)
{
    cca->ops = ops;
    cca->network = network;
    ops->open(cca);
}

void cca_close(struct cca *cca)
{
    if (cca->ops && cca->ops->close)
        cca->ops->close(cca);
}

void cca_signal(struct cca *cca, const struct dp_signal *signal)
{
    void (*const answers[])(struct cca *, const struct dp_signal *) = {
        [DP_ACK] = cca->ops->acknowledged,  [DP_NACK] = cca->ops->nacked,
        [DP_LOST] = cca->ops->lost,         [DP_RECOVERED] = cca->ops->recovered,
        [DP_TIMEOUT] = cca->ops->timed_out,
    };
    if (signal->kind < sizeof answers / sizeof *answers && answers[signal->kind])
        answers[signal->kind](cca, signal);
}

/* --- One flow's control alone, for tests --- */

struct dp_cca {
    struct network network;
    struct cca cca;
};

struct dp_cca *dp_cca_new(const struct dp_settings *settings)
{
    const struct congestion *ops = congestion_at(settings->congestion);
    struct dp_cca *made = ops ? calloc(1, sizeof *made + ops->state_bytes) : NULL;
    if (!made)
        return NULL;
    made->network = network_of(settings);
    cca_open(&made->cca, ops, &made->network);
    return made;
}

double dp_cca_step(struct dp_cca *made, const struct dp_signal *signal)
{
    cca_signal(&made->cca, signal);
    return made->cca.window;
}

double dp_cca_window(const struct dp_cca *made)
{
    return made->cca.window;
}

uint64_t dp_cca_pace(const struct dp_cca *made)
{
    return made->cca.pace_ps;
}

void dp_cca_free(struct dp_cca *made)
{
    cca_close(&made->cca);
    free(made);
}

uint32_t dp_constants(const struct dp_settings *settings, struct dp_constant *constants)
{
    const struct congestion *ops = congestion_at(settings->congestion);
    struct network network = network_of(settings);
    return ops && ops->constants ? ops->constants(&network, constants) : 0;
}

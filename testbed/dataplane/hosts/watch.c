#include "watch.h"

#include <stdlib.h>
#include <string.h>

#include "build.h"
#include "transport.h"

enum { FIRST_ROOM = 256 };

int dp_watch(struct dp *dp, uint64_t count, const uint32_t *flows)
{
    if (!dp->transports)
        return build_fail(dp, "hosts have neither congestion control nor recovery: no flow has a "
                              "window to watch");
    if (!dp->watches)
        dp->watches = calloc(dp->flow_count, sizeof *dp->watches);
    if (!dp->watches)
        return build_fail(dp, "not enough memory to watch flows");
    for (uint64_t i = 0; i < count; i++) {
        if (flows[i] >= dp->flow_count)
            return build_fail(dp, "there is no flow %u to watch; there are %llu", flows[i],
                              (unsigned long long)dp->flow_count);
        struct watch *watch = &dp->watches[flows[i]];
        if (watch->room > 0)
            continue;
        watch->rows = malloc(FIRST_ROOM * sizeof *watch->rows);
        if (!watch->rows)
            return build_fail(dp, "not enough memory to watch flows");
        watch->room = FIRST_ROOM;
    }
    return 0;
}

static void make_room(struct watch *watch)
{
    if (watch->count < watch->room)
        return;
    watch->room *= 2;
    watch->rows = realloc(watch->rows, watch->room * sizeof *watch->rows);
    if (!watch->rows)
        abort();
}

void watch_note(struct dp *dp, uint32_t flow, const struct dp_signal *signal)
{
    struct watch *watch = &dp->watches[flow];
    if (watch->room == 0)
        return;
    make_room(watch);
    const struct cca *cca = &transport_of(dp, flow)->cca;
    watch->rows[watch->count++] = (struct dp_watched){
        .time_ps = signal->now_ps,
        .rtt_ps = signal->rtt_ps,
        .bytes = signal->kind == DP_ACK ? signal->bytes : 0,
        .in_flight_bytes = signal->in_flight_bytes,
        .window_bytes = cca->window,
        .flow = flow,
        .kind = signal->kind,
        .marked = signal->marked,
    };
}

uint64_t dp_watched_count(const struct dp *dp)
{
    uint64_t count = 0;
    for (uint64_t flow = 0; dp->watches && flow < dp->flow_count; flow++)
        count += dp->watches[flow].count;
    return count;
}

void dp_take_watched(struct dp *dp, struct dp_watched *rows)
{
    for (uint64_t flow = 0; dp->watches && flow < dp->flow_count; flow++) {
        struct watch *watch = &dp->watches[flow];
        if (watch->count > 0)
            memcpy(rows, watch->rows, watch->count * sizeof *rows);
        rows += watch->count;
        watch->count = 0;
    }
}

void watch_close(struct dp *dp)
{
    for (uint64_t flow = 0; dp->watches && flow < dp->flow_count; flow++)
        free(dp->watches[flow].rows);
    free(dp->watches);
}

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core.h"
#include "entropy.h"
#include "packets.h"
#include "recovery.h"
#include "starts.h"

/* Messages and computations: checked, and laid out for the hosts that they belong to. */

static int fail_flow(struct dp *dp, uint64_t flow, const char *what)
{
    snprintf(dp->message, sizeof dp->message, "flow %llu: %s", (unsigned long long)flow, what);
    return DP_FAILED;
}

static uint32_t number_of(uint32_t before)
{
    return before & ~(uint32_t)DP_ACKNOWLEDGED;
}

static int check_waits(struct dp *dp, uint64_t i, const struct dp_flow *flows,
                       const struct dp_flow_lists *lists)
{
    const struct dp_flow *flow = &flows[i];
    if ((uint64_t)flow->after_first + flow->after_count > lists->after_entries)
        return fail_flow(dp, i, "what it waits for is not in the list");
    for (uint32_t j = 0; j < flow->after_count; j++) {
        uint32_t before = number_of(lists->after[flow->after_first + j]);
        if (before >= i)
            return fail_flow(dp, i, "it waits for a flow that is not before it in the list");
        uint32_t here = machine_of(dp, flow->source);
        if (machine_of(dp, flows[before].destination) != here &&
            machine_of(dp, flows[before].source) != here)
            return fail_flow(dp, i, "it waits for a flow that does not end or begin at its source");
    }
    return 0;
}

static int check(struct dp *dp, uint64_t i, const struct dp_flow *flows,
                 const struct dp_flow_lists *lists)
{
    const struct dp_flow *flow = &flows[i];
    if (flow->source >= dp->hosts || flow->destination >= dp->hosts)
        return fail_flow(dp, i, "there is no such host");
    if (flow->bytes == 0 && flow->source != flow->destination)
        return fail_flow(dp, i, "it has no bytes");
    if (flow->bytes != 0 && machine_of(dp, flow->source) == machine_of(dp, flow->destination))
        return fail_flow(dp, i, "its source is its destination");
    if (flow->subflows == 0 || packets_of(dp, flow->bytes, flow->subflows) > UINT32_MAX)
        return fail_flow(dp, i, "it has no subflows, or too many packets");
    if ((uint64_t)flow->path_first + flow->path_count > lists->path_entries)
        return fail_flow(dp, i, "its paths are not in the list of paths");
    return check_waits(dp, i, flows, lists);
}

static int make_room(struct dp *dp, uint64_t count, const struct dp_flow_lists *lists)
{
    dp->senders = calloc(count + 1, sizeof *dp->senders);
    dp->receivers = calloc(count + 1, sizeof *dp->receivers);
    dp->waiting = calloc(lists->after_entries + 1, sizeof *dp->waiting);
    dp->missing = calloc(count + 1, sizeof *dp->missing);
    dp->start_at = calloc(count + 1, sizeof *dp->start_at);
    dp->delay = calloc(count + 1, sizeof *dp->delay);
    dp->flow_slots = calloc(2 * count + 1, sizeof *dp->flow_slots);
    dp->paths = calloc(lists->path_entries + 1, sizeof *dp->paths);
    dp->routes = calloc(count + 1, sizeof *dp->routes);
    bool made = dp->senders && dp->receivers && dp->waiting && dp->missing && dp->start_at &&
                dp->delay && dp->flow_slots && dp->paths && dp->routes;
    if (!made)
        return fail_flow(dp, count, "there is no memory for so many");
    return 0;
}

static void fill(struct dp *dp, uint64_t i, const struct dp_flow *flow)
{
    dp->missing[i] = flow->after_count;
    dp->start_at[i] = flow->start_ps;
    dp->delay[i] = flow->delay_ps;
    dp->routes[i] = flow->routes;
    dp->receivers[i].delivered = TIME_NEVER;
    dp->senders[i] = (struct sender){
        .start = TIME_NEVER,
        .finish = TIME_NEVER,
        .bytes = flow->bytes,
        .source = flow->source,
        .destination = flow->destination,
        .packets = (uint32_t)packets_of(dp, flow->bytes, flow->subflows),
        .path_first = flow->path_first,
        .path_count = flow->path_count,
        .pair = flow->pair,
        .subflows = flow->subflows,
    };
}

/* Each flow's run of the flows that wait for it. */
static void lay_out_waiting(struct dp *dp, uint64_t count, const struct dp_flow *flows,
                            const uint32_t *after)
{
    for (uint64_t i = 0; i < count; i++)
        for (uint32_t j = 0; j < flows[i].after_count; j++)
            dp->receivers[number_of(after[flows[i].after_first + j])].first_waiting++;
    uint32_t place = 0;
    for (uint64_t i = 0; i <= count; i++) {
        place += dp->receivers[i].first_waiting;
        dp->receivers[i].first_waiting = place;
    }
    for (uint64_t i = count; i-- > 0;)
        for (uint32_t j = flows[i].after_count; j-- > 0;) {
            uint32_t before = after[flows[i].after_first + j];
            uint32_t flag = before & DP_ACKNOWLEDGED;
            dp->waiting[--dp->receivers[number_of(before)].first_waiting] = (uint32_t)i | flag;
        }
}

/* Each host's ring of active flows, and its heap of flows that begin at a known time. */
static void lay_out_hosts(struct dp *dp, uint64_t count)
{
    uint32_t place = 0;
    for (uint64_t i = 0; i < count; i++)
        dp->host[dp->senders[i].source].flow_count++;
    for (uint32_t i = 0; i < dp->hosts; i++) {
        dp->host[i].active = dp->flow_slots + place;
        dp->host[i].starts = dp->flow_slots + count + place;
        place += dp->host[i].flow_count;
    }
    for (uint64_t i = 0; i < count; i++)
        if (dp->missing[i] == 0)
            starts_add(dp, &dp->host[dp->senders[i].source], (uint32_t)i, 0);
}

int dp_flows(struct dp *dp, uint64_t count, const struct dp_flow *flows,
             const struct dp_flow_lists *lists)
{
    if (dp->senders)
        return fail_flow(dp, 0, "flows can be added once only");
    if (count > 1 << 24)
        return fail_flow(dp, 1 << 24, "queue pair numbers have 24 bits");
    if (lists->after_entries > UINT32_MAX)
        return fail_flow(dp, count, "there are too many flows to wait for");
    for (uint64_t i = 0; i < count; i++)
        if (check(dp, i, flows, lists) != 0)
            return DP_FAILED;
    if (make_room(dp, count, lists) != 0)
        return DP_FAILED;
    memcpy(dp->paths, lists->paths, lists->path_entries * sizeof *lists->paths);
    for (uint64_t i = 0; i < count; i++)
        fill(dp, i, &flows[i]);
    lay_out_waiting(dp, count, flows, lists->after);
    lay_out_hosts(dp, count);
    dp->flow_count = count;
    if ((dp->entropy->open && dp->entropy->open(dp) != 0) ||
        (dp->recovery->open && dp->recovery->open(dp) != 0) || transports_open(dp) != 0)
        return fail_flow(dp, count, "there is no memory for what hosts keep of flows");
    return 0;
}

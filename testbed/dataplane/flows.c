#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core.h"
#include "host.h"
#include "policy.h"

/* Messages: checked, and laid out for the hosts that send them. */

static int fail_flow(struct dp *dp, uint64_t flow, const char *what)
{
    snprintf(dp->message, sizeof dp->message, "flow %llu: %s", (unsigned long long)flow, what);
    return DP_FAILED;
}

static int check(struct dp *dp, uint64_t i, const struct dp_flow *flows, uint64_t count,
                 uint64_t path_entries)
{
    const struct dp_flow *flow = &flows[i];
    if (flow->source >= dp->hosts || flow->destination >= dp->hosts)
        return fail_flow(dp, i, "there is no such host");
    if (flow->source == flow->destination)
        return fail_flow(dp, i, "its source is its destination");
    if (flow->bytes == 0)
        return fail_flow(dp, i, "it has no bytes");
    if (flow->subflows == 0 || host_packets(dp, flow->bytes, flow->subflows) > UINT32_MAX)
        return fail_flow(dp, i, "it has no subflows, or too many packets");
    if ((uint64_t)flow->path_first + flow->path_count > path_entries)
        return fail_flow(dp, i, "its paths are not in the list of paths");
    if (flow->after >= (int64_t)count ||
        (flow->after >= 0 && flows[flow->after].destination != flow->source))
        return fail_flow(dp, i, "it waits for a flow that does not end at its source");
    return 0;
}

static int make_room(struct dp *dp, uint64_t count, uint64_t path_entries)
{
    dp->senders = calloc(count + 1, sizeof *dp->senders);
    dp->receivers = calloc(count + 1, sizeof *dp->receivers);
    dp->waiting = calloc(count + 1, sizeof *dp->waiting);
    dp->start_at = calloc(count + 1, sizeof *dp->start_at);
    dp->flow_slots = calloc(2 * count + 1, sizeof *dp->flow_slots);
    dp->paths = calloc(path_entries + 1, sizeof *dp->paths);
    bool made = dp->senders && dp->receivers && dp->waiting && dp->start_at && dp->flow_slots &&
                dp->paths;
    if (!made)
        return fail_flow(dp, count, "there is no memory for so many");
    return 0;
}

static void fill(struct dp *dp, uint64_t i, const struct dp_flow *flow)
{
    dp->start_at[i] = flow->start_ps;
    dp->receivers[i].delivered = TIME_NEVER;
    dp->senders[i] = (struct sender){
        .start = TIME_NEVER,
        .finish = TIME_NEVER,
        .bytes = flow->bytes,
        .source = flow->source,
        .destination = flow->destination,
        .packets = (uint32_t)host_packets(dp, flow->bytes, flow->subflows),
        .path_first = flow->path_first,
        .path_count = flow->path_count,
        .pair = flow->pair,
        .subflows = flow->subflows,
    };
}

/* Each flow's run of the flows that wait for it. */
static void lay_out_waiting(struct dp *dp, uint64_t count, const struct dp_flow *flows)
{
    for (uint64_t i = 0; i < count; i++)
        if (flows[i].after >= 0)
            dp->receivers[flows[i].after].first_waiting++;
    uint32_t place = 0;
    for (uint64_t i = 0; i <= count; i++) {
        place += dp->receivers[i].first_waiting;
        dp->receivers[i].first_waiting = place;
    }
    for (uint64_t i = count; i-- > 0;)
        if (flows[i].after >= 0)
            dp->waiting[--dp->receivers[flows[i].after].first_waiting] = (uint32_t)i;
}

static int by_start(const void *left, const void *right, void *starts)
{
    const uint64_t *start_at = starts;
    uint32_t a = *(const uint32_t *)left;
    uint32_t b = *(const uint32_t *)right;
    if (start_at[a] != start_at[b])
        return start_at[a] < start_at[b] ? -1 : 1;
    return (a > b) - (a < b);
}

/* Each host's ring of active flows, and its list of flows that start by themselves. */
static void lay_out_hosts(struct dp *dp, uint64_t count, const struct dp_flow *flows)
{
    uint32_t place = 0;
    for (uint64_t i = 0; i < count; i++)
        dp->host[flows[i].source].flow_count++;
    for (uint32_t i = 0; i < dp->hosts; i++) {
        dp->host[i].active = dp->flow_slots + place;
        dp->host[i].starts = dp->flow_slots + count + place;
        place += dp->host[i].flow_count;
    }
    for (uint64_t i = 0; i < count; i++) {
        struct host *host = &dp->host[flows[i].source];
        if (flows[i].after < 0)
            host->starts[host->start_count++] = (uint32_t)i;
    }
    for (uint32_t i = 0; i < dp->hosts; i++)
        qsort_r(dp->host[i].starts, dp->host[i].start_count, sizeof(uint32_t), by_start,
                dp->start_at);
}

int dp_flows(struct dp *dp, uint64_t count, const struct dp_flow *flows, uint64_t path_entries,
             const uint16_t *paths)
{
    if (dp->senders)
        return fail_flow(dp, 0, "flows can be added once only");
    if (count > 1 << 24)
        return fail_flow(dp, 1 << 24, "queue pair numbers have 24 bits");
    for (uint64_t i = 0; i < count; i++)
        if (check(dp, i, flows, count, path_entries) != 0)
            return DP_FAILED;
    if (make_room(dp, count, path_entries) != 0)
        return DP_FAILED;
    memcpy(dp->paths, paths, path_entries * sizeof *paths);
    for (uint64_t i = 0; i < count; i++)
        fill(dp, i, &flows[i]);
    lay_out_waiting(dp, count, flows);
    lay_out_hosts(dp, count, flows);
    dp->flow_count = count;
    if (dp->policy->open && dp->policy->open(dp) != 0)
        return fail_flow(dp, count, "there is no memory for the policy's state");
    return 0;
}

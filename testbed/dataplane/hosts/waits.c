#include "waits.h"

#include "starts.h"

static uint32_t number_of(uint32_t entry)
{
    return entry & ~(uint32_t)DP_ACKNOWLEDGED;
}

static bool waits_for(const struct dp *dp, const struct host *host, uint32_t entry,
                      enum event event)
{
    if (machine_of(dp, dp->senders[number_of(entry)].source) != machine_of(dp, host->node))
        return false;
    if (event == EVENT_DELIVERED)
        return true;
    bool patient = (entry & DP_ACKNOWLEDGED) && dp->settings.acks;
    return patient == (event == EVENT_ACKNOWLEDGED);
}

void waits_release(struct dp *dp, struct host *host, uint32_t flow, enum event event, uint64_t now)
{
    const struct receiver *receiver = &dp->receivers[flow];
    for (uint32_t i = receiver[0].first_waiting; i < receiver[1].first_waiting; i++) {
        uint32_t entry = dp->waiting[i];
        uint32_t next = number_of(entry);
        if (waits_for(dp, host, entry, event) && --dp->missing[next] == 0)
            starts_add(dp, &dp->host[dp->senders[next].source], next, now);
    }
}

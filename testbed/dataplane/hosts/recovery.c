#include "recovery.h"

#include "entropy.h"
#include "registry.h"

#define DECLARE(way) extern const struct recovery recovery_##way;
#define LIST(way) &recovery_##way,

RECOVERIES(DECLARE)

static const struct recovery *const ALL[] = { RECOVERIES(LIST) };

const struct recovery *recovery_at(uint32_t number)
{
    return number < sizeof ALL / sizeof *ALL ? ALL[number] : NULL;
}

void recovery_settle(struct dp *dp, uint32_t flow, const struct frame_view *ack, struct news *news,
                     uint64_t now)
{
    const struct sender *sender = &dp->senders[flow];
    uint32_t psn = psn_near(sender->acked.base, ack->psn);
    uint32_t cumulative = psn_near(sender->acked.base, ack->cumulative);
    uint32_t first = psn - cumulative < 64 || psn < cumulative ? cumulative : psn - 63;
    if (!ack->nack)
        transport_settle(dp, flow, psn, news, now);
    transport_settle_to(dp, flow, cumulative, news, now);
    if (ack->bitmap)
        transport_settle_bitmap(dp, flow, first, ack->bitmap, news, now);
}

/* --- The timer --- */

enum { FRAMES_UNLIMITED = 192, DOUBLINGS_MOST = 10 };  /* 800 KB of the paper's frames */

static double parameter_of(const struct dp *dp, uint32_t number)
{
    return dp->settings.recovery_parameters[number];
}

/* Time in which a port at the settings' rate sends all that its buffer holds. */
static uint64_t drain_time(const struct dp *dp)
{
    uint64_t frame = dp->settings.payload_bytes + dp->settings.header_bytes;
    uint64_t buffer = dp->settings.buffer_bytes;
    return serialisation_long(&dp->speeds[0], buffer ? buffer : FRAMES_UNLIMITED * frame);
}

static uint64_t fixed_timeout(const struct dp *dp)
{
    if (parameter_of(dp, SELECTIVE_TIMEOUT_US) > 0)
        return microseconds(parameter_of(dp, SELECTIVE_TIMEOUT_US));
    uint64_t drains = portion(drain_time(dp), parameter_of(dp, SELECTIVE_TIMEOUT_DRAINS));
    return microseconds(parameter_of(dp, SELECTIVE_TIMEOUT_BASE_US)) + drains;
}

uint64_t recovery_timeout(const struct dp *dp, const struct transport *transport)
{
    uint64_t timeout = fixed_timeout(dp);
    if (parameter_of(dp, SELECTIVE_ADAPTIVE) == 0)
        return timeout;
    uint64_t measured = transport->srtt + 4 * transport->mdev;
    uint32_t doublings = transport->fruitless < DOUBLINGS_MOST ? transport->fruitless
                                                               : DOUBLINGS_MOST;
    return (measured > timeout ? measured : timeout) << doublings;
}

/* Take for lost what has been in flight for too long; when the next one will have been. */
static uint64_t lose_overdue(struct dp *dp, struct host *host, uint32_t flow, uint64_t now,
                             uint64_t *bytes)
{
    const struct sender *sender = &dp->senders[flow];
    uint64_t timeout = recovery_timeout(dp, transport_of(dp, flow));
    uint64_t next = TIME_NEVER;
    for (uint32_t psn = sender->acked.base; psn < sender->sent; psn++) {
        const struct record *record = record_of(transport_of(dp, flow), psn);
        if (record->state != RECORD_FLYING)
            continue;
        if (record->sent_at + timeout <= now) {
            if (dp->entropy->timed_out)
                dp->entropy->timed_out(dp, host, flow, record->entropy, now);
            *bytes += transport_lose(dp, flow, psn);
        } else if (record->sent_at + timeout < next) {
            next = record->sent_at + timeout;
        }
    }
    return next;
}

/* Packets that left one after the other are overdue one after the other: they count once. */
static void count_timeout(const struct dp *dp, struct transport *transport, uint64_t now)
{
    if (transport->fruitless > 0 &&
        now - transport->timed_out_at < recovery_timeout(dp, transport))
        return;
    transport->timed_out_at = now;
    transport->timeouts++;
    transport->fruitless++;
    transport->given_up = transport->fruitless > parameter_of(dp, SELECTIVE_RETRIES);
}

void recovery_check_patience(struct dp *dp, uint32_t flow, uint64_t now)
{
    struct transport *transport = transport_of(dp, flow);
    uint64_t patience = portion(fixed_timeout(dp), parameter_of(dp, SELECTIVE_RETRIES));
    transport->given_up |= now - transport->news_at > patience;
}

void recovery_check_timer(struct worker *worker, struct host *host, uint32_t flow, uint64_t now)
{
    struct dp *dp = worker->dp;
    struct transport *transport = transport_of(dp, flow);
    struct news lost = { 0 };
    uint64_t next = lose_overdue(dp, host, flow, now, &lost.bytes);
    if (lost.bytes > 0) {
        count_timeout(dp, transport, now);
        transport->recovering = false;
        transport_signal(dp, flow, DP_TIMEOUT, &lost, false, now);
    }
    if (next != TIME_NEVER && !transport->given_up)
        transport_set_alarm(dp, host, flow, next);
}

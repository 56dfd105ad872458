#include "transport.h"

#include <assert.h>
#include <stdlib.h>

#include "alarms.h"
#include "recovery.h"
#include "watch.h"

enum { FIRST_ROOM = 16 };

/* --- All flows --- */

int transports_open(struct dp *dp)
{
    if (dp->congestion == &congestion_none && !dp->recovery->active)
        return 0;
    size_t bytes = sizeof(struct transport) + dp->congestion->state_bytes;
    dp->transport_bytes = (bytes + LINE_BYTES - 1) / LINE_BYTES * LINE_BYTES;
    dp->transports = calloc(dp->flow_count + 1, dp->transport_bytes);
    if (!dp->transports)
        return -1;
    for (uint32_t flow = 0; flow < dp->flow_count; flow++) {
        struct transport *transport = transport_of(dp, flow);
        transport->alarm = TIME_NEVER;
        transport->routes = dp->routes[flow];
        cca_open(&transport->cca, dp->congestion, &dp->network);
    }
    return 0;
}

void transport_end(struct dp *dp, uint32_t flow)
{
    struct transport *transport = transport_of(dp, flow);
    free(transport->records);
    transport->records = NULL;
    transport->room = 0;
    transport->alarm = TIME_NEVER;
    cca_close(&transport->cca);
}

void transports_close(struct dp *dp)
{
    for (uint32_t flow = 0; dp->transports && flow < dp->flow_count; flow++)
        transport_end(dp, flow);
    free(dp->transports);
}

/* --- Packets in flight --- */

static void make_room(struct transport *transport, uint32_t first, uint32_t psn)
{
    uint32_t room = transport->room ? transport->room : FIRST_ROOM;
    while (room <= psn - first)
        room *= 2;
    if (room == transport->room)
        return;
    struct record *records = calloc(room, sizeof *records);
    if (!records)
        abort();
    for (uint32_t i = 0; i < transport->room; i++)
        records[(first + i) & (room - 1)] = *record_of(transport, first + i);
    free(transport->records);
    transport->records = records;
    transport->room = room;
}

bool transport_next(const struct dp *dp, uint32_t flow, uint32_t *psn)
{
    struct transport *transport = transport_of(dp, flow);
    const struct sender *sender = &dp->senders[flow];
    if (transport->given_up)
        return false;
    if (transport->lost == 0) {
        *psn = sender->sent;
        return sender->sent < sender->packets;
    }
    if (transport->lowest_lost < sender->acked.base)
        transport->lowest_lost = sender->acked.base;
    while (record_of(transport, transport->lowest_lost)->state != RECORD_LOST)
        transport->lowest_lost++;
    assert(transport->lowest_lost < sender->sent);
    *psn = transport->lowest_lost;
    return true;
}

bool transport_may_send(const struct dp *dp, uint32_t flow, uint32_t bytes)
{
    const struct transport *transport = transport_of(dp, flow);
    return transport->in_flight == 0 || (transport->beyond_window && transport->lost > 0) ||
           (double)(transport->in_flight + bytes) <= transport->cca.window;
}

void transport_sent(struct dp *dp, struct host *host, uint32_t flow, uint32_t psn, uint32_t bytes,
                    uint16_t entropy, uint64_t now)
{
    struct transport *transport = transport_of(dp, flow);
    make_room(transport, dp->senders[flow].acked.base, psn);
    struct record *record = record_of(transport, psn);
    bool again = record->state == RECORD_LOST;
    assert(record->state != RECORD_FLYING);
    transport->lost -= again;
    transport->retransmitted += again;
    *record = (struct record){ now, bytes, entropy, RECORD_FLYING, again };
    if (transport->news_at == 0)
        transport->news_at = now;
    transport->in_flight += bytes;
    transport->not_before = now + transport->cca.pace_ps;
    if (transport->alarm == TIME_NEVER && dp->recovery->alarm)
        transport_set_alarm(dp, host, flow, now + recovery_timeout(dp, transport));
}

void transport_settle(struct dp *dp, uint32_t flow, uint32_t psn, struct news *news, uint64_t now)
{
    struct transport *transport = transport_of(dp, flow);
    struct sender *sender = &dp->senders[flow];
    if (psn >= sender->sent || seen_has(&sender->acked, psn))
        return;
    struct record *record = record_of(transport, psn);
    if (record->state == RECORD_FLYING)
        transport->in_flight -= record->bytes;
    else
        transport->lost--;
    record->state = RECORD_IDLE;
    news->bytes += record->bytes;
    if (!record->again)
        news->rtt = now - record->sent_at;
    uint32_t before = sender->acked.base;
    seen_add(&sender->acked, psn);
    sender->acknowledged++;
    news->in_order_bytes += (uint64_t)(sender->acked.base - before) * record->bytes;
}

void transport_settle_to(struct dp *dp, uint32_t flow, uint32_t cumulative, struct news *news,
                         uint64_t now)
{
    const struct sender *sender = &dp->senders[flow];
    uint64_t rtt = news->rtt;
    while (sender->acked.base < cumulative && sender->acked.base < sender->sent)
        transport_settle(dp, flow, sender->acked.base, news, now);
    news->rtt = rtt;  /* such news is late: the ACKs of these packets were lost or overtaken */
}

void transport_settle_bitmap(struct dp *dp, uint32_t flow, uint32_t first, uint64_t bitmap,
                             struct news *news, uint64_t now)
{
    uint64_t fresh = bitmap & ~seen_word(&dp->senders[flow].acked, first);
    uint64_t rtt = news->rtt;
    for (; fresh; fresh &= fresh - 1)
        transport_settle(dp, flow, first + (uint32_t)__builtin_ctzll(fresh), news, now);
    news->rtt = rtt;
}

uint64_t transport_lose(struct dp *dp, uint32_t flow, uint32_t psn)
{
    struct transport *transport = transport_of(dp, flow);
    const struct sender *sender = &dp->senders[flow];
    if (psn >= sender->sent || seen_has(&sender->acked, psn))
        return 0;
    struct record *record = record_of(transport, psn);
    if (record->state != RECORD_FLYING)
        return 0;
    record->state = RECORD_LOST;
    transport->in_flight -= record->bytes;
    if (transport->lost++ == 0 || psn < transport->lowest_lost)
        transport->lowest_lost = psn;
    transport->losses++;
    return record->bytes;
}

void transport_signal(struct dp *dp, uint32_t flow, uint32_t kind, const struct news *news,
                      bool marked, uint64_t now)
{
    struct transport *transport = transport_of(dp, flow);
    const struct dp_signal signal = {
        .kind = kind,
        .marked = marked,
        .now_ps = now,
        .rtt_ps = news->rtt,
        .bytes = news->bytes,
        .in_order_bytes = news->in_order_bytes,
        .in_flight_bytes = transport->in_flight,
    };
    cca_signal(&transport->cca, &signal);
    if (dp->watches)
        watch_note(dp, flow, &signal);
}

void transport_set_alarm(struct dp *dp, struct host *host, uint32_t flow, uint64_t time)
{
    struct transport *transport = transport_of(dp, flow);
    if (time >= transport->alarm)
        return;
    transport->alarm = time;
    alarms_add(&host->alarms, time, flow);
}

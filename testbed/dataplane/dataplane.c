#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "batch.h"
#include "build.h"
#include "core.h"
#include "hosts/entropy.h"
#include "hosts/host.h"
#include "hosts/recovery.h"
#include "hosts/watch.h"
#include "real/real.h"
#include "switch.h"

/* Building a network, and taking it down. */

static const size_t GIGABYTE = (size_t)1 << 30;

int build_fail(struct dp *dp, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    vsnprintf(dp->message, sizeof dp->message, format, values);
    va_end(values);
    return DP_FAILED;
}

static int out_of_memory(struct dp *dp)
{
    return build_fail(dp, "not enough memory for %u nodes", dp->nodes);
}

const char *dp_error(const struct dp *dp)
{
    return dp->message;
}

static void *zeroed(size_t count, size_t bytes)
{
    size_t whole = (count * bytes + LINE_BYTES) / LINE_BYTES * LINE_BYTES;
    void *memory = aligned_alloc(LINE_BYTES, whole);
    if (memory)
        memset(memory, 0, whole);
    return memory;
}

/* --- The empty network --- */

/* What a link means for the clock: how far a window may look ahead, how long a hop can take. */
static void note_speed(struct dp *dp, const struct speed *speed)
{
    uint32_t frame = dp->settings.payload_bytes + dp->settings.header_bytes;
    uint64_t hop_ps = speed->delay_ps + serialisation_long(speed, frame);
    if (speed->delay_ps < dp->lookahead_ps)
        dp->lookahead_ps = speed->delay_ps;
    if (hop_ps > dp->longest_hop_ps)
        dp->longest_hop_ps = hop_ps;
}

static int check_rate(struct dp *dp, double picoseconds_per_byte)
{
    if (picoseconds_per_byte > 0 && picoseconds_per_byte < 1e8)
        return 0;
    return build_fail(dp, "a byte takes %g ps; it must be above 0 and below 1e8",
                      picoseconds_per_byte);
}

static int check_settings(struct dp *dp)
{
    const struct dp_settings *settings = &dp->settings;
    if (!dp->entropy || !dp->congestion || !dp->recovery)
        return build_fail(dp, "hosts know no entropy %u, congestion control %u or recovery %u",
                          settings->entropy, settings->congestion, settings->recovery);
    if (!settings->acks && (dp->congestion != &congestion_none || dp->recovery->active))
        return build_fail(dp, "congestion control and recovery need ACKs");
    if (settings->trim && !dp->recovery->cut)
        return build_fail(dp, "trimming needs a recovery that sends again what was cut");
    if (settings->shared_bytes && !(settings->shared_alpha > 0 && settings->shared_alpha < 1e6))
        return build_fail(dp, "shared_alpha is %g; it must be above 0", settings->shared_alpha);
    if (!(settings->loss >= 0 && settings->loss < 1))
        return build_fail(dp, "loss is %g; it must be at least 0 and below 1", settings->loss);
    if (settings->header_bytes < 62)
        return build_fail(dp, "header_bytes is %u; RoCEv2 frames need 62", settings->header_bytes);
    if (settings->planes == 0 || dp->hosts % settings->planes != 0)
        return build_fail(dp, "%u hosts are not the NICs of machines with %u each", dp->hosts,
                          settings->planes);
    if (settings->tick_ps == 0)
        return build_fail(dp, "tick_ps is 0");
    if (!(settings->load > 0 && settings->load <= 1))
        return build_fail(dp, "load is %g; it must be above 0 and at most 1", settings->load);
    if (check_rate(dp, settings->picoseconds_per_byte) != 0)
        return DP_FAILED;
    if (settings->payload_bytes == 0 || settings->payload_bytes > 1 << 16)
        return build_fail(dp, "payload_bytes is %u; it must be 1 to 65536",
                          settings->payload_bytes);
    return 0;
}

static int lay_out_ports(struct dp *dp, const uint32_t *ports)
{
    dp->first_port = malloc((dp->nodes + 1) * sizeof *dp->first_port);
    if (!dp->first_port)
        return -1;
    dp->first_port[0] = 0;
    for (uint32_t node = 0; node < dp->nodes; node++)
        dp->first_port[node + 1] = dp->first_port[node] + ports[node];
    dp->port_count = dp->first_port[dp->nodes];
    dp->ports = zeroed(dp->port_count, sizeof *dp->ports);
    dp->inputs = zeroed(dp->port_count, sizeof *dp->inputs);
    if (!dp->ports || !dp->inputs)
        return -1;
    for (uint32_t node = 0; node < dp->nodes; node++)
        for (uint32_t i = dp->first_port[node]; i < dp->first_port[node + 1]; i++) {
            dp->ports[i].peer = NO_NODE;
            dp->ports[i].node = node;
            dp->ports[i].random = dp->settings.seed ^ (uint64_t)i << 24 ^ 0x7472696d;
        }
    return 0;
}

static int make_workers(struct dp *dp)
{
    dp->workers = zeroed(DP_THREADS, sizeof *dp->workers);
    if (!dp->workers)
        return -1;
    dp->active_workers = 1;
    for (uint32_t i = 0; i < DP_THREADS; i++) {
        struct worker *worker = &dp->workers[i];
        worker->dp = dp;
        worker->packets.arena = &dp->packets;
        worker->large.arena = &dp->large;
        worker->chunks.arena = &dp->chunks;
        worker->next_event = TIME_NEVER;
    }
    return 0;
}

static int make_hosts(struct dp *dp)
{
    dp->host = zeroed(dp->hosts, sizeof *dp->host);
    if (!dp->host)
        return -1;
    for (uint32_t i = 0; i < dp->hosts; i++) {
        uint64_t state = dp->settings.seed ^ (uint64_t)i << 40 ^ 0x686f7374;
        dp->host[i].node = i;
        dp->host[i].port = &dp->ports[dp->first_port[i]];
        dp->host[i].input = &dp->inputs[dp->first_port[i]];
        dp->host[i].random = random_next(&state);
    }
    return 0;
}

static int make_all(struct dp *dp, const uint32_t *ports)
{
    if (arena_open(&dp->packets, PACKET_BLOCK, 128 * GIGABYTE) != 0 ||
        arena_open(&dp->large, PACKET_LARGE, 128 * GIGABYTE) != 0 ||
        arena_open(&dp->chunks, sizeof(struct chunk), 128 * GIGABYTE) != 0)
        return -1;
    dp->sw = zeroed(dp->nodes - dp->hosts, sizeof *dp->sw);
    dp->switch_of = calloc(dp->nodes + 1, sizeof(struct sw *));
    if (!dp->sw || !dp->switch_of)
        return -1;
    return lay_out_ports(dp, ports) || make_workers(dp) || make_hosts(dp);
}

static struct speed speed_with(const struct dp *dp, double picoseconds_per_byte, uint64_t delay_ps)
{
    struct speed speed = { .delay_ps = delay_ps };
    speed.scale = (uint64_t)(picoseconds_per_byte * (1 << 24) + 0.5);
    speed.gap_ps = serialisation(&speed, dp->settings.gap_bytes);
    return speed;
}

struct dp *dp_new(const struct dp_settings *settings, uint32_t nodes, uint32_t hosts,
                  const uint32_t *ports)
{
    struct dp *dp = calloc(1, sizeof *dp);
    if (!dp)
        return NULL;
    dp->settings = *settings;
    dp->nodes = nodes;
    dp->hosts = hosts;
    dp->machines = settings->planes ? hosts / settings->planes : 0;
    dp->entropy = entropy_at(settings->entropy);
    dp->congestion = congestion_at(settings->congestion);
    dp->recovery = recovery_at(settings->recovery);
    dp->network = network_of(settings);
    dp->stretch = (uint64_t)(4294967296.0 / settings->load + 0.5);
    dp->loss_threshold = (uint64_t)(settings->loss * 18446744073709551616.0);
    dp->lookahead_ps = settings->delay_ps;
    dp->speeds[0] = speed_with(dp, settings->picoseconds_per_byte, settings->delay_ps);
    dp->speed_count = 1;
    note_speed(dp, &dp->speeds[0]);
    if (check_settings(dp) == 0 && make_all(dp, ports) != 0)
        out_of_memory(dp);
    return dp;
}

static void free_flows(struct dp *dp)
{
    if (dp->entropy && dp->entropy->close)
        dp->entropy->close(dp);
    if (dp->recovery && dp->recovery->close)
        dp->recovery->close(dp);
    transports_close(dp);
    watch_close(dp);
    for (uint64_t flow = 0; flow < dp->flow_count; flow++) {
        seen_free(&dp->senders[flow].acked);
        seen_free(&dp->receivers[flow].seen);
    }
    free(dp->senders);
    free(dp->receivers);
    free(dp->waiting);
    free(dp->missing);
    free(dp->start_at);
    free(dp->delay);
    free(dp->flow_slots);
    free(dp->paths);
    free(dp->routes);
}

void dp_free(struct dp *dp)
{
    for (uint32_t i = 0; i < dp->switch_count; i++)
        switch_close(&dp->sw[i]);
    for (uint32_t i = 0; dp->host && i < dp->hosts; i++) {
        free(dp->host[i].acks.packets);
        free(dp->host[i].alarms.heap);
    }
    for (uint32_t i = 0; dp->workers && i < DP_THREADS; i++) {
        batch_free(&dp->workers[i].batch);
        free(dp->workers[i].samples);
        free(dp->workers[i].arrivals);
        free(dp->workers[i].hops);
        free(dp->workers[i].captured);
        free(dp->workers[i].headers);
    }
    if (dp->real)
        real_close(dp);
    free_flows(dp);
    free(dp->sending.area_bytes);
    free(dp->sending.area_packets);
    free(dp->sw);
    free(dp->switch_of);
    free(dp->first_port);
    free(dp->ports);
    free(dp->inputs);
    free(dp->host);
    free(dp->workers);
    arena_close(&dp->packets);
    arena_close(&dp->large);
    arena_close(&dp->chunks);
    free(dp);
}

/* --- Nodes and links --- */

void dp_hosts(struct dp *dp, const uint32_t *ipv4, const uint64_t *mac)
{
    for (uint32_t i = 0; i < dp->hosts; i++) {
        dp->host[i].ipv4 = ipv4[i];
        dp->host[i].mac = mac[i];
    }
}

int dp_switches(struct dp *dp, const struct pl_program *program, uint32_t count,
                const uint32_t *nodes, const uint64_t *seeds, struct pl_switch **made)
{
    if (program->abi != PL_ABI)
        return build_fail(dp, "program %s was compiled for another version of the contract",
                    program->name);
    for (uint32_t i = 0; i < count; i++) {
        if (nodes[i] < dp->hosts || nodes[i] >= dp->nodes || dp->switch_of[nodes[i]])
            return build_fail(dp, "node %u cannot be a switch, or is one already", nodes[i]);
        struct sw *sw = &dp->sw[dp->switch_count++];
        if (switch_open(dp, sw, program, nodes[i], seeds[i]) != 0)
            return out_of_memory(dp);
        dp->switch_of[nodes[i]] = sw;
        made[i] = sw->state;
    }
    return 0;
}

void port_open(struct dp *dp, struct port *port, struct cursor *reader)
{
    port->tail = (struct cursor){ chunk_new(&dp->workers[0].chunks)->entries };
    port->serving = port->tail;
    port->up = true;
    *reader = port->tail;
}

int port_index(struct dp *dp, uint32_t node, uint32_t port, uint32_t *index)
{
    if (node >= dp->nodes || port >= dp->first_port[node + 1] - dp->first_port[node] ||
        (node >= dp->hosts && port == 0))
        return build_fail(dp, "node %u has no port %u", node, port);
    *index = dp->first_port[node] + port;
    return 0;
}

/* The number of a speed among those that are known by now, or SPEEDS if there are too many. */
static uint32_t speed_number(struct dp *dp, struct speed speed)
{
    for (uint32_t i = 0; i < dp->speed_count; i++)
        if (dp->speeds[i].scale == speed.scale && dp->speeds[i].delay_ps == speed.delay_ps)
            return i;
    if (dp->speed_count == SPEEDS)
        return SPEEDS;
    dp->speeds[dp->speed_count] = speed;
    return dp->speed_count++;
}

int dp_speeds(struct dp *dp, uint64_t count, const struct dp_speed *speeds)
{
    for (uint64_t i = 0; i < count; i++) {
        uint32_t index = 0;
        if (port_index(dp, speeds[i].node, speeds[i].port, &index) != 0 ||
            check_rate(dp, speeds[i].picoseconds_per_byte) != 0)
            return DP_FAILED;
        uint32_t number = speed_number(
                dp, speed_with(dp, speeds[i].picoseconds_per_byte, speeds[i].delay_ps));
        if (number == SPEEDS)
            return build_fail(dp, "links have more than %u different rates and delays",
                              (unsigned)SPEEDS);
        dp->ports[index].speed = (uint8_t)number;
        note_speed(dp, &dp->speeds[number]);
    }
    return 0;
}

int dp_links(struct dp *dp, uint64_t count, const struct dp_link *links)
{
    for (uint64_t i = 0; i < count; i++) {
        uint32_t near = 0;
        uint32_t far = 0;
        if (port_index(dp, links[i].node, links[i].port, &near) != 0 ||
            port_index(dp, links[i].peer, links[i].peer_port, &far) != 0)
            return DP_FAILED;
        if (dp->ports[near].tail.entry || dp->ports[far].tail.entry)
            return build_fail(dp, "port %u of node %u, or its peer, has a cable already",
                              links[i].port, links[i].node);
        port_open(dp, &dp->ports[near], &dp->inputs[far]);
        port_open(dp, &dp->ports[far], &dp->inputs[near]);
        dp->ports[near].peer = far;
        dp->ports[far].peer = near;
        dp->ports[near].to_host = links[i].peer < dp->hosts;
        dp->ports[far].to_host = links[i].node < dp->hosts;
    }
    return 0;
}

int dp_port_up(struct dp *dp, uint32_t node, uint32_t port, uint32_t up)
{
    uint32_t index = 0;
    if (port_index(dp, node, port, &index) != 0)
        return DP_FAILED;
    if (!dp->ports[index].tail.entry)
        return build_fail(dp, "port %u of node %u has no cable", port, node);
    dp->ports[index].up = up != 0;
    return 0;
}

#include "extern.h"
#include "memory.h"

/* Counters and meters, indexed and direct. */

int64_t pl_counter_read(struct pl_switch *sw, uint32_t array, uint32_t index, uint64_t *packets,
                        uint64_t *bytes)
{
    if (array >= sw->layout->counter_count || index >= sw->counters[array].size)
        return PL_NO_SUCH;
    *packets = sw->counters[array].cells[index].packets;
    *bytes = sw->counters[array].cells[index].bytes;
    return PL_OK;
}

int64_t pl_counter_write(struct pl_switch *sw, uint32_t array, uint32_t index, uint64_t packets,
                         uint64_t bytes)
{
    if (array >= sw->layout->counter_count || index >= sw->counters[array].size)
        return PL_NO_SUCH;
    sw->counters[array].cells[index] = (struct pl_counter){packets, bytes};
    return PL_OK;
}

static bool is_amount(double value)
{
    return __builtin_isfinite(value) && value >= 0;
}

int64_t pl_meter_set(struct pl_switch *sw, uint32_t array, uint32_t index, const double *rates,
                     const double *bursts)
{
    if (array >= sw->layout->meter_count || index >= sw->meters[array].size)
        return PL_NO_SUCH;
    uint32_t count = sw->layout->meters[array].rates;
    struct pl_meter *meter = &sw->meters[array].cells[index];
    for (uint32_t i = 0; i < count && i < 2; i++) {
        if (!is_amount(rates[i]) || !is_amount(bursts[i]) || (i && rates[i] < rates[i - 1]))
            return PL_BAD_VALUE;
    }
    for (uint32_t i = 0; i < count && i < 2; i++)
        meter->buckets[i] = (struct pl_bucket){rates[i], bursts[i], bursts[i], sw->now};
    meter->configured = true;
    return PL_OK;
}

int64_t pl_meter_get(struct pl_switch *sw, uint32_t array, uint32_t index, double *rates,
                     double *bursts)
{
    if (array >= sw->layout->meter_count || index >= sw->meters[array].size)
        return PL_NO_SUCH;
    const struct pl_meter *meter = &sw->meters[array].cells[index];
    uint32_t count = sw->layout->meters[array].rates < 2 ? 1 : 2;
    if (!meter->configured)
        return 0;
    for (uint32_t i = 0; i < count; i++) {
        rates[i] = meter->buckets[i].rate;
        bursts[i] = meter->buckets[i].burst;
    }
    return count;
}

static bool bucket_take(struct pl_bucket *bucket, uint64_t now, double amount)
{
    bucket->tokens += bucket->rate * (double)(now - bucket->filled_at);
    bucket->filled_at = now;
    if (bucket->tokens > bucket->burst)
        bucket->tokens = bucket->burst;
    if (bucket->tokens < amount)
        return false;
    bucket->tokens -= amount;
    return true;
}

uint32_t pl_meter_execute(struct pl_meter *meter, uint64_t now, double amount)
{
    if (!meter->configured)
        return 0;
    if (meter->buckets[1].burst > 0 && !bucket_take(&meter->buckets[1], now, amount))
        return 2;
    return bucket_take(&meter->buckets[0], now, amount) ? 0 : 1;
}

static int64_t counters_reset(struct pl_counters *counters, uint32_t row, uint32_t capacity)
{
    if (capacity > counters->size) {
        if (!pl_resize(&counters->cells, capacity * sizeof(*counters->cells)))
            return PL_NO_MEMORY;
        memset(counters->cells + counters->size, 0,
               (capacity - counters->size) * sizeof(*counters->cells));
        counters->size = capacity;
    }
    if (row < counters->size)
        counters->cells[row] = (struct pl_counter){0, 0};
    return PL_OK;
}

static int64_t meters_reset(struct pl_meters *meters, uint32_t row, uint32_t capacity)
{
    if (capacity > meters->size) {
        if (!pl_resize(&meters->cells, capacity * sizeof(*meters->cells)))
            return PL_NO_MEMORY;
        memset(meters->cells + meters->size, 0,
               (capacity - meters->size) * sizeof(*meters->cells));
        meters->size = capacity;
    }
    if (row < meters->size)
        memset(&meters->cells[row], 0, sizeof(*meters->cells));
    return PL_OK;
}

int64_t pl_direct_reset(struct pl_switch *sw, uint32_t table, uint32_t row, uint32_t capacity)
{
    const struct pl_table *info = &sw->layout->tables[table];
    int64_t result = PL_OK;
    if (info->counter != PL_NONE)
        result = counters_reset(&sw->counters[info->counter], row, capacity);
    if (result == PL_OK && info->meter != PL_NONE)
        result = meters_reset(&sw->meters[info->meter], row, capacity);
    return result;
}

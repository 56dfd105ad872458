#include "bits.h"
#include "extern.h"

/* Registers from the control plane. Cells have their smallest natural width. */

static const struct pl_register *range(const struct pl_switch *sw, uint32_t array, uint32_t first,
                                       uint32_t count)
{
    if (array >= sw->layout->register_count)
        return NULL;
    const struct pl_register *info = &sw->layout->registers[array];
    return first <= info->size && count <= info->size - first ? info : NULL;
}

static uint64_t cell_read(const uint8_t *cell, uint32_t bytes)
{
    uint16_t two;
    uint32_t four;
    uint64_t eight;
    switch (bytes) {
    case 1:
        return *cell;
    case 2:
        memcpy(&two, cell, sizeof(two));
        return two;
    case 4:
        memcpy(&four, cell, sizeof(four));
        return four;
    default:
        memcpy(&eight, cell, sizeof(eight));
        return eight;
    }
}

static void cell_write(uint8_t *cell, uint32_t bytes, uint64_t value)
{
    uint16_t two = (uint16_t)value;
    uint32_t four = (uint32_t)value;
    switch (bytes) {
    case 1:
        *cell = (uint8_t)value;
        break;
    case 2:
        memcpy(cell, &two, sizeof(two));
        break;
    case 4:
        memcpy(cell, &four, sizeof(four));
        break;
    default:
        memcpy(cell, &value, sizeof(value));
    }
}

int64_t pl_register_read(struct pl_switch *sw, uint32_t array, uint32_t first, uint32_t count,
                         uint8_t *values)
{
    const struct pl_register *info = range(sw, array, first, count);
    if (!info)
        return PL_NO_SUCH;
    uint32_t bytes = (info->bits + 7) / 8;
    for (uint32_t i = 0; i < count; i++, values += bytes) {
        const uint8_t *cell = sw->cells + info->place + (size_t)(first + i) * info->cell_bytes;
        if (info->bits <= 64) {
            pl_store(values, bytes, cell_read(cell, info->cell_bytes));
        } else {
            memcpy(values, cell, bytes);
        }
    }
    return PL_OK;
}

int64_t pl_register_write(struct pl_switch *sw, uint32_t array, uint32_t first, uint32_t count,
                          const uint8_t *values)
{
    const struct pl_register *info = range(sw, array, first, count);
    if (!info)
        return PL_NO_SUCH;
    uint32_t bytes = (info->bits + 7) / 8;
    for (uint32_t i = 0; i < count; i++) {
        if (info->bits % 8 && values[i * bytes] >> (info->bits % 8))
            return PL_BAD_VALUE;
    }
    for (uint32_t i = 0; i < count; i++, values += bytes) {
        uint8_t *cell = sw->cells + info->place + (size_t)(first + i) * info->cell_bytes;
        if (info->bits <= 64) {
            cell_write(cell, info->cell_bytes, pl_load(values, bytes));
        } else {
            memcpy(cell, values, bytes);
        }
    }
    return PL_OK;
}

#include "pipeline.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Feeds a program with whatever it is given: control-plane calls and frames, read from bytes.
 * With FUZZER it is a libFuzzer target; without, it makes its own bytes, from a seed and a count.
 */

enum { WAITING = 64, ROOM = 70000 };

extern const struct pl_program pl_program;

struct bench {
    struct pl_held *waiting[WAITING];
    uint32_t count;
};

static uint64_t touched;

/* Read every byte that a program sends, so that the sanitizers see those that are not its own. */
static void touch(const struct pl_frame *frame)
{
    if (frame->stored > frame->length)
        abort();
    for (uint32_t i = 0; i < frame->stored; i++)
        touched += frame->data[i];
}

static void enqueue(void *context, uint32_t port, uint32_t priority, const struct pl_frame *frame,
                    struct pl_held *held)
{
    struct bench *bench = context;
    touched += port + priority;
    if (!held) {
        touch(frame);
    } else if (bench->count < WAITING) {
        bench->waiting[bench->count++] = held;
    } else {
        abort();
    }
}

static void transmit(void *context, uint32_t port, const struct pl_frame *frame)
{
    (void)context;
    touched += port;
    touch(frame);
}

static void digest(void *context, uint32_t receiver, const uint8_t *data, uint32_t size)
{
    (void)context;
    touched += receiver;
    for (uint32_t i = 0; i < size; i++)
        touched += data[i];
}

struct input {
    const uint8_t *bytes;
    size_t left;
};

static uint32_t take(struct input *input, uint32_t count)
{
    uint32_t value = 0;
    while (count-- > 0 && input->left > 0) {
        value = value << 8 | *input->bytes++;
        input->left--;
    }
    return value;
}

static void fill(struct input *input, uint8_t *to, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        to[i] = (uint8_t)take(input, 1);
}

static void serve(struct pl_switch *sw, struct bench *bench, struct input *input)
{
    for (uint32_t served = 0; bench->count > 0; served++) {
        struct pl_held *held = bench->waiting[0];
        bench->count--;
        memmove(bench->waiting, bench->waiting + 1, bench->count * sizeof(held));
        struct pl_queueing queueing = {take(input, 2), 70000, 1, 2};
        if (served > 40 || bench->count > WAITING / 2) {
            pl_program.discard(sw, held);
        } else {
            pl_program.dequeue(sw, held, &queueing);
        }
    }
}

static void control(struct pl_switch *sw, struct input *input)
{
    uint8_t value[512], second[512], parameters[512];
    uint64_t counts[2];
    uint32_t ports[3] = {1, 2, 3}, priority;
    uint32_t number = take(input, 1) % 8;
    fill(input, value, 32);
    fill(input, second, 32);
    fill(input, parameters, 16);
    memset(value + 32, 0, sizeof(value) - 32);
    memset(second + 32, 255, sizeof(second) - 32);
    memset(parameters + 16, 0, sizeof(parameters) - 16);
    struct pl_entry entry = {value, second, take(input, 1), take(input, 1), parameters};
    int64_t handle = pl_program.table_add(sw, number, &entry);
    pl_program.table_modify(sw, number, take(input, 1), entry.action, parameters);
    if (take(input, 1) % 2)
        pl_program.table_delete(sw, number, handle);
    pl_program.table_default(sw, number, entry.action, parameters);
    pl_program.table_read(sw, number, take(input, 1), value, second, parameters, &priority);
    pl_program.register_read(sw, number, take(input, 1), 1, value);
    pl_program.register_write(sw, number, take(input, 1), 1, value);
    pl_program.counter_read(sw, number, take(input, 1), &counts[0], &counts[1]);
    pl_program.group_set(sw, number, ports, ports, take(input, 1) % 4);
    pl_program.mirror_set(sw, number, (int32_t)take(input, 1) - 1, (int32_t)(number % 3) - 1);
}

static void run(const uint8_t *bytes, size_t size)
{
    struct bench bench = {.count = 0};
    struct pl_world world = {&bench, enqueue, transmit, digest, NULL};
    struct pl_switch *sw = pl_program.create(&world, size);
    struct input input = {bytes, size};
    while (input.left > 0) {
        if (take(&input, 1) % 4 == 0)
            control(sw, &input);
        uint32_t stored = take(&input, 1);
        uint32_t more = take(&input, 1) % 4 == 0 ? take(&input, 2) : 0;
        /* A buffer of just the frame's size: one byte too far is one byte outside. */
        uint8_t *frame = malloc(stored ? stored : 1);
        if (!frame)
            abort();
        fill(&input, frame, stored);
        struct pl_frame arriving = {frame, stored, stored + more};
        pl_program.receive(sw, take(&input, 2), &arriving, 5);
        serve(sw, &bench, &input);
        free(frame);
    }
    pl_program.destroy(sw);
}

#ifdef FUZZER

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    run(bytes, size);
    return 0;
}

#else

static uint64_t state;

static uint8_t random_byte(void)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    uint8_t byte = (uint8_t)(state >> 56);
    /* Small numbers and full bytes meet more tests than any others. */
    switch (state >> 40 & 3) {
    case 0:
        return byte & 3;
    case 1:
        return byte & 16 ? 0 : 255;
    default:
        return byte;
    }
}

int main(int count, char **words)
{
    static uint8_t bytes[ROOM];
    if (count < 3)
        return 2;
    state = strtoull(words[1], NULL, 10);
    for (unsigned long round = strtoul(words[2], NULL, 10); round-- > 0;) {
        size_t size = (size_t)random_byte() * 16;
        for (size_t i = 0; i < size; i++)
            bytes[i] = random_byte();
        run(bytes, size);
    }
    printf("%llu\n", (unsigned long long)touched);
    return 0;
}

#endif

#include "wire.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/if_ether.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#ifndef PACKET_IGNORE_OUTGOING
#define PACKET_IGNORE_OUTGOING 23
#endif

enum {
    PAGE = 4096,
    SLOT_HEADER = 128,
    BLOCK_PAGES = 16,
    SEND_BUFFER = 32 << 20,
    WHOLE_FRAME = 1 << 18,
    ROCE_PORT = 4791,
    ZEROS = 1 << 17
};

static const uint8_t zeros[ZEROS];

static int set_filter(int fd, uint32_t header_bytes)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_H | BPF_ABS, 12),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ETH_P_IP, 0, 5),
        BPF_STMT(BPF_LD | BPF_B | BPF_ABS, 23),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, IPPROTO_UDP, 0, 3),
        BPF_STMT(BPF_LD | BPF_H | BPF_ABS, 36),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ROCE_PORT, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, header_bytes),
        BPF_STMT(BPF_RET | BPF_K, WHOLE_FRAME),
    };
    struct sock_fprog program = { sizeof code / sizeof *code, code };
    return setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program);
}

static int set_number(int fd, int level, int name, int value)
{
    return setsockopt(fd, level, name, &value, sizeof value);
}

static uint32_t round_up(uint32_t value, uint32_t unit)
{
    return (value + unit - 1) / unit * unit;
}

/* Where a slot has the address that its frame came from: after the header, both aligned. */
static uint32_t address_at(void)
{
    return round_up(sizeof(struct tpacket2_hdr), TPACKET_ALIGNMENT);
}

static int make_ring(struct wire_socket *socket, uint32_t slot_bytes, uint64_t ring_bytes)
{
    socket->slot_bytes = round_up(slot_bytes + SLOT_HEADER, 64);
    socket->block_bytes = round_up(socket->slot_bytes, PAGE);
    if (socket->block_bytes < BLOCK_PAGES * PAGE)
        socket->block_bytes = BLOCK_PAGES * PAGE;
    socket->slots_in_block = socket->block_bytes / socket->slot_bytes;
    uint32_t blocks = (uint32_t)(ring_bytes / socket->block_bytes) + 1;
    socket->slots = blocks * socket->slots_in_block;
    struct tpacket_req request = {
        .tp_block_size = socket->block_bytes,
        .tp_block_nr = blocks,
        .tp_frame_size = socket->slot_bytes,
        .tp_frame_nr = socket->slots,
    };
    if (setsockopt(socket->fd, SOL_PACKET, PACKET_RX_RING, &request, sizeof request) != 0)
        return -1;
    socket->ring_bytes = (uint64_t)socket->block_bytes * blocks;
    void *ring = mmap(NULL, socket->ring_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, socket->fd, 0);
    if (ring == MAP_FAILED)
        return -1;
    socket->ring = ring;
    return 0;
}

static int bind_to(int fd, uint32_t ifindex)
{
    struct sockaddr_ll address = {
        .sll_family = AF_PACKET,
        .sll_protocol = htons(ETH_P_ALL),
        .sll_ifindex = (int)ifindex,
    };
    return bind(fd, (const struct sockaddr *)&address, sizeof address);
}

int wire_open(struct wire_socket *socket, int fd, uint32_t ifindex, uint32_t slot_bytes,
              uint64_t ring_bytes, uint32_t header_bytes)
{
    *socket = (struct wire_socket){ .fd = fd };
    if (set_filter(fd, header_bytes) != 0 ||
        set_number(fd, SOL_PACKET, PACKET_IGNORE_OUTGOING, 1) != 0 ||
        set_number(fd, SOL_PACKET, PACKET_VERSION, TPACKET_V2) != 0 ||
        make_ring(socket, slot_bytes, ring_bytes) != 0 || bind_to(fd, ifindex) != 0)
        return -1;
    if (set_number(fd, SOL_SOCKET, SO_SNDBUFFORCE, SEND_BUFFER) != 0)
        return set_number(fd, SOL_SOCKET, SO_SNDBUF, SEND_BUFFER);
    return 0;
}

void wire_close(struct wire_socket *socket)
{
    if (socket->ring)
        munmap(socket->ring, socket->ring_bytes);
}

static struct tpacket2_hdr *next_slot(const struct wire_socket *socket)
{
    uint64_t block = socket->next / socket->slots_in_block;
    uint64_t within = socket->next % socket->slots_in_block;
    uint8_t *at = socket->ring + block * socket->block_bytes + within * socket->slot_bytes;
    return (struct tpacket2_hdr *)(void *)at;
}

bool wire_next(struct wire_socket *socket, struct wire_frame *frame)
{
    struct tpacket2_hdr *slot = next_slot(socket);
    if (!(__atomic_load_n(&slot->tp_status, __ATOMIC_ACQUIRE) & TP_STATUS_USER))
        return false;
    const uint8_t *base = (const uint8_t *)slot;
    const struct sockaddr_ll *from = (const void *)(base + address_at());
    *frame = (struct wire_frame){
        .data = base + slot->tp_mac,
        .stored = slot->tp_snaplen,
        .length = slot->tp_len,
        .ifindex = (uint32_t)from->sll_ifindex,
    };
    return true;
}

void wire_done(struct wire_socket *socket)
{
    __atomic_store_n(&next_slot(socket)->tp_status, TP_STATUS_KERNEL, __ATOMIC_RELEASE);
    if (++socket->next == socket->slots)
        socket->next = 0;
}

void wire_count_drops(struct wire_socket *socket)
{
    struct tpacket_stats stats;
    socklen_t size = sizeof stats;
    if (getsockopt(socket->fd, SOL_PACKET, PACKET_STATISTICS, &stats, &size) == 0)
        socket->drops += stats.tp_drops;
}

void wire_add(struct wire_batch *batch, uint32_t ifindex, const uint8_t *data, uint32_t stored,
              uint32_t length)
{
    uint32_t i = batch->count++;
    batch->parts[i][0] = (struct iovec){ (void *)(uintptr_t)data, stored };
    batch->parts[i][1] = (struct iovec){ (void *)(uintptr_t)zeros, length - stored };
    batch->to[i] = (struct sockaddr_ll){ .sll_family = AF_PACKET, .sll_ifindex = (int)ifindex };
    batch->messages[i].msg_hdr = (struct msghdr){
        .msg_name = &batch->to[i],
        .msg_namelen = sizeof batch->to[i],
        .msg_iov = batch->parts[i],
        .msg_iovlen = length > stored ? 2 : 1,
    };
}

void wire_flush(struct wire_batch *batch, void (*lost)(void *context, uint32_t place),
                void *context)
{
    uint32_t done = 0;
    while (done < batch->count) {
        int sent = sendmmsg(batch->fd, batch->messages + done, batch->count - done, MSG_DONTWAIT);
        if (sent > 0) {
            done += (uint32_t)sent;
        } else if (errno != EINTR) {
            lost(context, done);
            done++;
        }
    }
    batch->count = 0;
}

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
    BLOCK_PAGES = 16,
    SEND_BUFFER = 32 << 20,
    QUEUE_BYTES = 4 << 20,   /* of frames that do not fit a slot */
    ADDRESSES = 12,          /* bytes before a frame's VLAN tag */
    TAG = 4,
    ROCE_PORT = 4791,
    ZEROS = 1 << 17
};

static const uint8_t zeros[ZEROS];
static _Thread_local uint8_t large[WIRE_WHOLE];

static int set_filter(int fd, uint32_t roce_bytes)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_H | BPF_ABS, 12),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ETH_P_IP, 0, 5),
        BPF_STMT(BPF_LD | BPF_B | BPF_ABS, 23),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, IPPROTO_UDP, 0, 3),
        BPF_STMT(BPF_LD | BPF_H | BPF_ABS, 36),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ROCE_PORT, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, roce_bytes),
        BPF_STMT(BPF_RET | BPF_K, WIRE_WHOLE),
    };
    struct sock_fprog program = { sizeof code / sizeof *code, code };
    if (roce_bytes == WIRE_WHOLE)
        return 0;
    return setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program);
}

static int set_number(int fd, int level, int name, int value)
{
    return setsockopt(fd, level, name, &value, sizeof value);
}

/* A buffer's size, beyond the machine's limit where we may. */
static int set_buffer(int fd, int forced, int name, int bytes)
{
    if (set_number(fd, SOL_SOCKET, forced, bytes) == 0)
        return 0;
    return set_number(fd, SOL_SOCKET, name, bytes);
}

static int make_ring(struct wire_socket *socket, uint32_t slot_bytes, uint32_t slots)
{
    socket->slot_bytes = slot_bytes;
    socket->block_bytes = BLOCK_PAGES * PAGE;
    socket->slots_in_block = socket->block_bytes / slot_bytes;
    uint32_t blocks = (slots + socket->slots_in_block - 1) / socket->slots_in_block;
    socket->slots = blocks * socket->slots_in_block;
    struct tpacket_req request = {
        .tp_block_size = socket->block_bytes,
        .tp_block_nr = blocks,
        .tp_frame_size = slot_bytes,
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
              uint32_t slots, uint32_t roce_bytes)
{
    *socket = (struct wire_socket){ .fd = fd };
    if (set_filter(fd, roce_bytes) != 0 ||
        set_number(fd, SOL_PACKET, PACKET_IGNORE_OUTGOING, 1) != 0 ||
        set_number(fd, SOL_PACKET, PACKET_VERSION, TPACKET_V2) != 0 ||
        set_number(fd, SOL_PACKET, PACKET_RESERVE, TAG) != 0 ||
        set_number(fd, SOL_PACKET, PACKET_COPY_THRESH, 1) != 0 ||
        set_buffer(fd, SO_RCVBUFFORCE, SO_RCVBUF, QUEUE_BYTES) != 0 ||
        make_ring(socket, slot_bytes, slots) != 0)
        return -1;
    return bind_to(fd, ifindex);
}

int wire_open_sender(int fd)
{
    return set_buffer(fd, SO_SNDBUFFORCE, SO_SNDBUF, SEND_BUFFER);
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

/* The frame behind a slot: in it, or in the socket's queue; false if the kernel cut it off. */
static bool find_bytes(const struct wire_socket *socket, struct tpacket2_hdr *slot,
                       struct wire_frame *frame)
{
    *frame = (struct wire_frame){ (uint8_t *)slot + slot->tp_mac, slot->tp_snaplen, slot->tp_len };
    if (slot->tp_status & TP_STATUS_COPY) {
        ssize_t bytes = recv(socket->fd, large + TAG, sizeof large - TAG, MSG_DONTWAIT);
        frame->data = large + TAG;
        frame->stored = (uint32_t)bytes;
        return bytes > 0;
    }
    return slot->tp_snaplen == slot->tp_len ||
           slot->tp_mac + slot->tp_snaplen < socket->slot_bytes;
}

/* Put the tag back that the kernel keeps beside the frame. */
static void put_tag_back(const struct tpacket2_hdr *slot, struct wire_frame *frame)
{
    uint16_t tag[2] = { htons(slot->tp_status & TP_STATUS_VLAN_TPID_VALID ? slot->tp_vlan_tpid
                                                                          : ETH_P_8021Q),
                        htons(slot->tp_vlan_tci) };
    uint8_t *data = (uint8_t *)(uintptr_t)frame->data - TAG;
    memmove(data, frame->data, ADDRESSES);
    memcpy(data + ADDRESSES, tag, sizeof tag);
    *frame = (struct wire_frame){ data, frame->stored + TAG, frame->length + TAG };
}

bool wire_next(struct wire_socket *socket, struct wire_frame *frame)
{
    for (;;) {
        struct tpacket2_hdr *slot = next_slot(socket);
        if (!(__atomic_load_n(&slot->tp_status, __ATOMIC_ACQUIRE) & TP_STATUS_USER))
            return false;
        if (find_bytes(socket, slot, frame)) {
            if (slot->tp_status & TP_STATUS_VLAN_VALID)
                put_tag_back(slot, frame);
            return true;
        }
        socket->lost++;
        wire_done(socket);
    }
}

void wire_done(struct wire_socket *socket)
{
    __atomic_store_n(&next_slot(socket)->tp_status, TP_STATUS_KERNEL, __ATOMIC_RELEASE);
    if (++socket->next == socket->slots)
        socket->next = 0;
}

void wire_count_lost(struct wire_socket *socket)
{
    struct tpacket_stats stats;
    socklen_t size = sizeof stats;
    if (getsockopt(socket->fd, SOL_PACKET, PACKET_STATISTICS, &stats, &size) == 0)
        socket->lost += stats.tp_drops;
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

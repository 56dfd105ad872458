#ifndef WIRE_H
#define WIRE_H
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <linux/if_packet.h>

/* AF_PACKET sockets: a ring of received frames, and frames sent in batches. */

struct wire_frame {
    const uint8_t *data;
    uint32_t stored;   /* bytes at data */
    uint32_t length;   /* of the frame, without FCS */
    uint32_t ifindex;
};

struct wire_socket {
    int fd;
    uint8_t *ring;
    uint64_t ring_bytes;
    uint32_t slot_bytes;
    uint32_t slots_in_block;
    uint32_t block_bytes;
    uint32_t slots;
    uint32_t next;
    uint64_t drops;    /* frames that the kernel had no slot for */
};

/*
 * Set up a socket that was made with protocol 0: `slot_bytes` hold the largest frame, `ring_bytes`
 * all slots; of RoCEv2 frames only the first `header_bytes` are kept. 0, or -1 with errno set.
 */
int wire_open(struct wire_socket *socket, int fd, uint32_t ifindex, uint32_t slot_bytes,
              uint64_t ring_bytes, uint32_t header_bytes);
void wire_close(struct wire_socket *socket);

/* The next received frame, valid until wire_done; false if there is none. */
bool wire_next(struct wire_socket *socket, struct wire_frame *frame);
void wire_done(struct wire_socket *socket);

/* Add what the kernel lost since the last call to socket->drops. */
void wire_count_drops(struct wire_socket *socket);

enum { WIRE_BATCH = 32 };

struct wire_batch {
    int fd;
    uint32_t count;
    struct mmsghdr messages[WIRE_BATCH];
    struct iovec parts[WIRE_BATCH][2];
    struct sockaddr_ll to[WIRE_BATCH];
};

/* Add a frame to a batch that has room; its bytes beyond `stored` are zero. */
void wire_add(struct wire_batch *batch, uint32_t ifindex, const uint8_t *data, uint32_t stored,
              uint32_t length);

/* Send all frames of a batch, and call `lost` for each that the kernel refused. */
void wire_flush(struct wire_batch *batch, void (*lost)(void *context, uint32_t place),
                void *context);

#endif

#ifndef WIRE_H
#define WIRE_H
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <linux/if_packet.h>

/*
 * AF_PACKET sockets: received frames in a ring of small slots, and frames sent in batches. A frame
 * that does not fit a slot comes by way of the socket's queue, in its turn. Each socket is that of
 * one interface, so that what floods one takes no slot from another.
 */

struct wire_frame {
    const uint8_t *data;
    uint32_t stored;   /* bytes at data */
    uint32_t length;   /* of the frame, without FCS */
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
    uint64_t lost;     /* frames that there was no room for */
};

enum { WIRE_WHOLE = 1 << 18 };  /* longer than any frame */

/*
 * Bind a socket that was made with protocol 0 to an interface, with at least `slots` slots. Of
 * RoCEv2 frames only the first `roce_bytes` are kept (WIRE_WHOLE: all). 0, or -1 with errno set.
 */
int wire_open(struct wire_socket *socket, int fd, uint32_t ifindex, uint32_t slot_bytes,
              uint32_t slots, uint32_t roce_bytes);
/*
 * Prepare a socket to send from. One that nothing waits for is cheaper than one that receives as
 * well: the kernel wakes up who waits whenever a frame has left. 0, or -1 with errno set.
 */
int wire_open_sender(int fd);

void wire_close(struct wire_socket *socket);

/* The next received frame, valid until wire_done or the next wire_next; false if there is none. */
bool wire_next(struct wire_socket *socket, struct wire_frame *frame);
void wire_done(struct wire_socket *socket);

/* Add what the kernel lost since the last call to socket->lost. */
void wire_count_lost(struct wire_socket *socket);

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

#include <arpa/inet.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>

/*
 * What the benchmarks put at the ends of veth pairs. `veth blast INTERFACE BYTES SECONDS [RATE]`
 * sends the frame that it reads from standard input, padded with zeros, RATE times a second or as
 * fast as it can, and prints how many it sent. `veth forward FROM TO` is the barest forwarder there
 * is, and prints frames and nanoseconds of processor time once none comes for a second.
 * `veth burn SHARE` keeps its processor busy for that share of each millisecond.
 */

enum { FRAME_ROOM = 1 << 16, BATCH = 32 };

static uint8_t frame[FRAME_ROOM];

static void give_up(const char *what)
{
    perror(what);
    exit(1);
}

static struct sockaddr_ll address(const char *interface, int protocol)
{
    return (struct sockaddr_ll){
        .sll_family = AF_PACKET,
        .sll_protocol = htons((uint16_t)protocol),
        .sll_ifindex = (int)if_nametoindex(interface),
    };
}

static int packet_socket(const char *interface, int protocol)
{
    struct sockaddr_ll local = address(interface, protocol);
    int fd = socket(AF_PACKET, SOCK_RAW, htons((uint16_t)protocol));
    if (fd < 0 || bind(fd, (const struct sockaddr *)&local, sizeof local) != 0)
        give_up(interface);
    return fd;
}

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static double processor_ns(void)
{
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    return 1e9 * (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
           1e3 * (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
}

/* How many frames to send now; sleeps if there are none. */
static unsigned long due(double begun, double rate, unsigned long sent)
{
    struct timespec moment = { .tv_nsec = 100000 };
    double wanted = rate > 0 ? (seconds() - begun) * rate - (double)sent : BATCH;
    if (wanted < 1)
        nanosleep(&moment, NULL);
    return wanted < BATCH ? (unsigned long)(wanted > 0 ? wanted : 0) : BATCH;
}

static void blast(const char *interface, size_t bytes, double duration, double rate)
{
    int fd = packet_socket(interface, 0);
    struct iovec part = { frame, bytes };
    struct mmsghdr messages[BATCH] = { 0 };
    for (int i = 0; i < BATCH; i++)
        messages[i].msg_hdr = (struct msghdr){ .msg_iov = &part, .msg_iovlen = 1 };
    if (fread(frame, 1, FRAME_ROOM, stdin) == 0)
        give_up("standard input");
    double begun = seconds();
    unsigned long sent = 0;
    while (seconds() < begun + duration) {
        int done = sendmmsg(fd, messages, (unsigned)due(begun, rate, sent), 0);
        if (done < 0)
            give_up("sendmmsg");
        sent += (unsigned long)done;
    }
    printf("%lu\n", sent);
}

static void forward(const char *from, const char *to)
{
    int in = packet_socket(from, ETH_P_ALL);
    int out = packet_socket(to, 0);
    struct timeval patience = { .tv_sec = 1 };
    unsigned long frames = 0;
    double before = processor_ns();
    double after = before;
    setsockopt(in, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    for (;;) {
        ssize_t bytes = recv(in, frame, sizeof frame, 0);
        if (bytes <= 0 && frames > 0)
            break;
        if (bytes <= 0)
            continue;
        if (send(out, frame, (size_t)bytes, 0) < 0)
            give_up("send");
        frames++;
        after = processor_ns();
    }
    printf("%lu %.0f\n", frames, after - before);
}

/* Until it is ended. */
static void burn(double share)
{
    struct timespec rest = { .tv_nsec = (long)((1 - share) * 1e6) };
    for (;;) {
        double until = seconds() + share / 1e3;
        while (seconds() < until)
            ;
        nanosleep(&rest, NULL);
    }
}

int main(int count, char **words)
{
    if ((count == 5 || count == 6) && strcmp(words[1], "blast") == 0)
        blast(words[2], strtoul(words[3], NULL, 10), strtod(words[4], NULL),
              count == 6 ? strtod(words[5], NULL) : 0);
    else if (count == 4 && strcmp(words[1], "forward") == 0)
        forward(words[2], words[3]);
    else if (count == 3 && strcmp(words[1], "burn") == 0)
        burn(strtod(words[2], NULL));
    else
        return 2;
    return 0;
}

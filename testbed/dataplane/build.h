#ifndef BUILD_H
#define BUILD_H
#include "core.h"

/* What both kinds of links need: the place of a port, and its FIFO with its reader. */
int port_index(struct dp *dp, uint32_t node, uint32_t port, uint32_t *index);
void port_open(struct dp *dp, struct port *port, struct cursor *reader);
int build_fail(struct dp *dp, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif

#ifndef CAPTURE_H
#define CAPTURE_H
#include "core.h"

/* What leaves ports, kept as it stands on the wire where a capture is asked for. */

/* Keep the frame of `entry`, whose last bit leaves `port`. */
void capture_frame(struct worker *worker, const struct port *port, const struct entry *entry);

#endif

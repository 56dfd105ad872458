#ifndef RUNTIME_H
#define RUNTIME_H

/*
 * What generated programs include. Headers carry validity bits, and a field is read for the
 * frame only while its header is valid; the compiler cannot see that.
 */
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"

#include "packet.h"
#include "switch.h"
#include "traffic.h"
#include "wide.h"

#endif

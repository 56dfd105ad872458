#ifndef RUNTIME_H
#define RUNTIME_H

/*
 * What generated programs include. Headers carry validity bits, and a field is read for the
 * frame only while its header is valid; the compiler cannot see that. And a P4 program may
 * compare what can only be equal, or what never is.
 */
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wtautological-compare"
#pragma GCC diagnostic ignored "-Wtype-limits"
#pragma GCC diagnostic ignored "-Wsign-compare"

#include "packet.h"
#include "switch.h"
#include "traffic.h"
#include "wide.h"

#endif

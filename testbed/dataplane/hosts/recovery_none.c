#include "recovery.h"

/* No recovery: what is lost stays lost, and a run in which that happens ends stuck. */

const struct recovery recovery_none = { .name = "none" };

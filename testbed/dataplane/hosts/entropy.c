#include "entropy.h"

#include "registry.h"

#define DECLARE(way) extern const struct entropy entropy_##way;
#define LIST(way) &entropy_##way,

ENTROPIES(DECLARE)

static const struct entropy *const ALL[] = { ENTROPIES(LIST) };

const struct entropy *entropy_at(uint32_t number)
{
    return number < sizeof ALL / sizeof *ALL ? ALL[number] : NULL;
}

#ifndef MEMORY_H
#define MEMORY_H
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Allocation where running out is an answer, not the end. */

static inline void *pl_copy(const void *from, size_t bytes)
{
    void *copy = from && bytes ? malloc(bytes) : NULL;
    if (copy)
        memcpy(copy, from, bytes);
    return copy;
}

/* Resize the array that `*(void **)place` points to; it is untouched where that fails. */
static inline bool pl_resize(void *place, size_t bytes)
{
    void *array;
    memcpy(&array, place, sizeof(array));
    void *grown = realloc(array, bytes ? bytes : 1);
    if (!grown)
        return false;
    memcpy(place, &grown, sizeof(grown));
    return true;
}

#endif

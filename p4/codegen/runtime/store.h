#ifndef STORE_H
#define STORE_H
#include "table.h"

/* What the control plane's calls need of a store beyond lookups. */

struct pl_store *pl_store_own(const struct pl_table *table, struct pl_store **place);
int64_t pl_store_class_of(const struct pl_table *table, struct pl_store *store,
                          const uint64_t *mask);
int64_t pl_store_take(const struct pl_table *table, struct pl_store *store);
void pl_store_link(const struct pl_table *table, struct pl_store *store, uint32_t number);
void pl_store_unlink(const struct pl_table *table, struct pl_store *store, uint32_t number);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * operations.h: the operations of a backend as a list that a test can walk, generators among them, and how
 * one of them is replaced in a copy of a table.
 */
#ifndef TVLM_TESTS_OPERATIONS_H
#define TVLM_TESTS_OPERATIONS_H

#include <stddef.h>
#include <string.h>

#include "core/backend.h"

typedef struct test_operation {
    const char *name, *test, *row; /* core/operations.h */
    size_t at;                     /* where it stands in a table, bytes */
} test_operation;

#define TEST_OPERATION(name, test, row) {#name, test, row, offsetof(tvlm_backend, name)},
#define TEST_GENERATOR(ID, name, test)                                                                       \
    {#name, test, #name,                                                                                     \
     offsetof(tvlm_backend, generate) + TVLM_GRID_##ID * sizeof(tvlm_generate_operation *)},
static const test_operation test_operations[] = {TVLM_OPERATIONS(TEST_OPERATION)
                                                     TVLM_GENERATED_GRIDS(TEST_GENERATOR)};
#undef TEST_OPERATION
#undef TEST_GENERATOR

enum { TEST_OPERATIONS = sizeof test_operations / sizeof test_operations[0] };

/* What stands for any operation. It reads no arguments, so that a caller's own do no harm; those that return
 * nothing have their result thrown away. */
typedef tvlm_status test_substitute(void);

static inline void test_replace(tvlm_backend *table, const test_operation *operation,
                                test_substitute *substitute) {
    memcpy((char *)table + operation->at, &substitute, sizeof substitute);
}

#endif

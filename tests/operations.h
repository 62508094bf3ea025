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
#ifdef TVLM_WITH_LAB
#include "lab/operations.h"
#endif

typedef struct test_operation {
    const char *name, *test, *row; /* core/operations.h */
    size_t at;                     /* where it stands in a table, bytes */
    bool lab;                      /* that table is the lab's */
} test_operation;

#define TEST_OPERATION(name, test, row) {#name, test, row, offsetof(tvlm_backend, name), false},
#define TEST_OF_LAB(name, test, row)    {#name, test, row, offsetof(struct tvlm_lab_operations, name), true},
#define TEST_GENERATOR(ID, name, test)                                                                       \
    {#name, test, #name,                                                                                     \
     offsetof(tvlm_backend, generate) + TVLM_GRID_##ID * sizeof(tvlm_generate_operation *), false},
static const test_operation test_operations[] = {
#ifdef TVLM_WITH_LAB
    TVLM_LAB_OPERATIONS(TEST_OF_LAB)
#endif
        TVLM_OPERATIONS(TEST_OPERATION) TVLM_GENERATED_GRIDS(TEST_GENERATOR)};
#undef TEST_OPERATION
#undef TEST_OF_LAB
#undef TEST_GENERATOR

enum { TEST_OPERATIONS = sizeof test_operations / sizeof test_operations[0] };

/* What stands for any operation. It reads no arguments, so that a caller's own do no harm; those that return
 * nothing have their result thrown away. */
typedef tvlm_status test_substitute(void);

/* One operation of the lab at a time, in the whole program. */
static inline void test_replace(tvlm_backend *table, const test_operation *operation,
                                test_substitute *substitute) {
    char *in = (char *)table;
#ifdef TVLM_WITH_LAB
    static struct tvlm_lab_operations lab;
    if (operation->lab) {
        lab = *table->lab;
        table->lab = &lab;
        in = (char *)&lab;
    }
#endif
    memcpy(in + operation->at, &substitute, sizeof substitute);
}

#endif

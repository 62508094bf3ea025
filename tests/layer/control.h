/* SPDX-License-Identifier: Apache-2.0 */
/*
 * control.h: what a test that has the layer in its own process can ask of it. layer_helper.h finds it.
 */
#ifndef TVLM_TESTS_LAYER_CONTROL_H
#define TVLM_TESTS_LAYER_CONTROL_H

/* What went to all devices since the process began: commands by their kind; how often the host waited for the
 * device (clFinish, and reads and writes that block), and how often for events of commands that had not ended yet
 * (`stalls` in clWaitForEvents, which depend on how fast the device is); how much memory was made; how many programs
 * were built; and the bytes that were written to buffers and read from them. */
typedef struct layer_commands {
    long kernels, writes, reads, others, waits, stalls, memory, builds, written, read;
} layer_commands;

/* When a device began and ended a command: a kernel, or a write to a buffer; in nanoseconds of its own clock. */
typedef struct layer_command_time {
    int kernel;
    const void *queue;
    unsigned long long began, ended;
} layer_command_time;

typedef void layer_listener(const char *name, const void *handle);

typedef struct layer_control {
    /* The n-th call from now on fails, or with `lose` is the first that does; 0: none does. Gives how many calls
     * that can fail there were since this or the next was last called. */
    long (*let_fail)(long n, int lose);
    /* The same with calls of the functions in `names` alone, which commas separate, and with an error. */
    void (*let_fail_only)(long n, int lose, const char *names, int error);
    /* How many calls have failed since then. */
    long (*failed)(void);

    layer_commands (*commands)(void);
    /* How many handles the process holds: those that it made or retained and has not released. */
    long (*held)(void);
    /* Called before each call, with its function and the handle that it is about. NULL: nobody is. */
    void (*listen)(layer_listener *listener);

    /* From now on each device has the extensions cl_khr_gl_sharing and cl_khr_external_memory, or no longer. */
    void (*share)(int shares);
    /* From now on what is read from buffers is wrong, or no longer. */
    void (*spoil)(int spoils);

    /* From now on the times of commands are kept, of queues that are made from now on; or no longer. */
    void (*time)(int times);
    /* Waits for the commands since then or since the last call of this, and gives their times: how many. */
    int (*times)(layer_command_time *times, int capacity);
} layer_control;

#endif

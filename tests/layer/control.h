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

/* What drivers of the field were met to do (doc/drivers.md); 0 is what the driver below does. A test may change each at
 * any time. */
typedef struct layer_faults {
    /* The versions that the platform and its devices say to have: 30 is OpenCL 3.0. What is newer than the device is
     * refused: queries and -cl-std by an error; clCreateSamplerWithProperties, of OpenCL 2.0, ends the process. */
    int platform_version, device_version;
    /* A query, such as CL_DEVICE_NAME, that clGetDeviceInfo refuses with CL_INVALID_VALUE. */
    unsigned unknown;
    /* Devices say that they have a half of their memory. */
    int half_memory;
    /* Local memory is global memory, the least that OpenCL allows (32 KiB), and groups have at most 256 work-items. */
    int local_is_global;
    /* Groups of kernels that do not ask for a size have at most so many work-items; larger ones are refused. */
    int few_registers;
    /* A launch with a global size of zero ends the process. */
    int empty_aborts;
    /* A kernel that takes longer than so many microseconds costs the device, which is then lost. */
    long slow_us;
    /* The kernels of CLBlast's product do nothing, so that its result is what was there. */
    int no_products;
} layer_faults;

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

    layer_faults *faults;
    /* The queries of clGetDeviceInfo since the process began, each once: how many. */
    int (*queries)(unsigned *list, int capacity);
} layer_control;

#endif

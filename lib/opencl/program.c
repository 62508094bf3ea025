/* SPDX-License-Identifier: Apache-2.0 */
/*
 * program.c: kernels by file, options and name. Each program is built once for a device, or loaded from the
 * cache on disk if that has it.
 */
#include <stdio.h>
#include <string.h>

#include "core/try.h"
#include "opencl/backend.h"

/* How many kernels of one file can be in use. */
#define KERNELS_MAX 16

/* The names of kernels are literals of the callers. */
struct opencl_program {
    opencl_program *next;
    char *file, *options;
    cl_program program;
    int count;
    struct {
        const char *name;
        cl_kernel kernel;
        size_t most;
    } kernels[KERNELS_MAX];
};

/* The whole build log, since drivers give nothing where not all of it fits. The caller frees it. NULL: there
 * is none. */
static char *build_log(const opencl_device *device, cl_program program) {
    size_t size = 0;
    if (clGetProgramBuildInfo(program, device->id, CL_PROGRAM_BUILD_LOG, 0, NULL, &size) != CL_SUCCESS)
        return NULL;
    char *text = tvlm_allocate(size + 1, 1);
    if (text != NULL &&
        clGetProgramBuildInfo(program, device->id, CL_PROGRAM_BUILD_LOG, size, text, NULL) == CL_SUCCESS)
        return text;
    free(text);
    return NULL;
}

/* NVIDIA's compiler does not look at #line: it names lines of the one text that it got. */
static const char *place_in_files(const char *line, const char *source, char *place, size_t size) {
    static const char whole[] = "<kernel>:";
    const char *number = strstr(line, whole);
    char *rest = NULL;
    if (number == NULL) return line;
    const long at = strtol(number + sizeof whole - 1, &rest, 10);
    char file[80];
    tvlm_opencl_kernel_place(source, at, file, sizeof file);
    snprintf(place, size, "%.*s%s%s", (int)(number - line), line, file, rest);
    return place;
}

/* Logs why a build of `source` failed. The whole build log is logged as information. The error is one line.
 * It quotes the first line of the build log that names an error, or else the first line. */
static tvlm_status fail_build(const opencl_device *device, cl_program program, const char *file,
                              const char *source, cl_int error) {
    char place[512];
    cl_int finish;
    if (tvlm_opencl_is_lost(&device->base, &finish)) return tvlm_opencl_fail(&device->base, error, file);
    char *text = build_log(device, program), *line = NULL;
    if (text != NULL) {
        tvlm_log_message(&device->base.log, TVLM_LOG_INFO, "%s: %s", file, text);
        line = strstr(text, "error:");
        while (line != NULL && line > text && line[-1] != '\n') --line;
        if (line == NULL) line = text;
        line[strcspn(line, "\n")] = '\0';
    }
    const tvlm_status status =
        tvlm_fail(&device->base.log, TVLM_ERROR_DEVICE, "kernel file %s does not build on %s: %s%s%s", file,
                  device->base.info.name, tvlm_opencl_error_name(error), line != NULL ? ": " : "",
                  line != NULL ? place_in_files(line, source, place, sizeof place) : "");
    free(text);
    return status;
}

static void store_binary(const opencl_device *device, cl_program program, const char *key) {
    size_t size = 0;
    if (device->cache_dir == NULL) return;
    if (clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof size, &size, NULL) != CL_SUCCESS ||
        size == 0)
        return;
    unsigned char *binary = tvlm_allocate(size, 1);
    if (binary == NULL) return;
    unsigned char *binaries[1] = {binary};
    if (clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof binaries, binaries, NULL) == CL_SUCCESS)
        tvlm_opencl_cache_store(device, key, binary, size);
    free(binary);
}

/* The program from the cache; NULL when the cache has none, or one that this driver does not take. */
static cl_program load_binary(opencl_device *device, const char *key, const char *options) {
    unsigned char *binary = NULL;
    size_t size = 0;
    cl_int error = CL_SUCCESS, binary_status = CL_SUCCESS;
    if (tvlm_opencl_cache_load(device, key, &binary, &size) != TVLM_OK) return NULL;
    const unsigned char *binaries[1] = {binary};
    cl_program program =
        clCreateProgramWithBinary(device->context, 1, &device->id, &size, binaries, &binary_status, &error);
    free(binary);
    if (error == CL_SUCCESS && clBuildProgram(program, 1, &device->id, options, NULL, NULL) != CL_SUCCESS) {
        clReleaseProgram(program);
        return NULL;
    }
    if (error != CL_SUCCESS) return NULL;
    device->cache_used = true;
    return program;
}

static tvlm_status build_source(const opencl_device *device, const char *file, const char *text,
                                const char *options, cl_program *program) {
    cl_int error = CL_SUCCESS;
    *program = clCreateProgramWithSource(device->context, 1, &text, NULL, &error);
    if (error != CL_SUCCESS) return tvlm_opencl_fail(&device->base, error, "clCreateProgramWithSource");
    error = clBuildProgram(*program, 1, &device->id, options, NULL, NULL);
    if (error == CL_SUCCESS) return TVLM_OK;
    const tvlm_status status = fail_build(device, *program, file, text, error);
    clReleaseProgram(*program);
    return status;
}

static tvlm_status build(opencl_device *device, const char *file, const char *options, cl_program *program) {
    char *text = NULL, key[65];
    TVLM_TRY(tvlm_opencl_kernel_source(device, file, &text));
    tvlm_status status = tvlm_opencl_cache_key(device, text, options, key);
    if (status == TVLM_OK) {
        *program = load_binary(device, key, options);
        if (*program == NULL) {
            status = build_source(device, file, text, options, program);
            if (status == TVLM_OK) store_binary(device, *program, key);
        }
    }
    free(text);
    return status;
}

static opencl_program *find_program(opencl_device *device, const char *file, const char *options) {
    opencl_program *program = device->programs;
    while (program != NULL && (strcmp(program->file, file) != 0 || strcmp(program->options, options) != 0))
        program = program->next;
    return program;
}

/*
 * Options for a single driver. Oclgrind 21.10 refuses or misinterprets what its own optimiser makes of
 * kernels (llvm.usub.sat), and refuses functions that are inlined by force (noalias scopes). It also refuses
 * clang's function that fetches memory ahead (cl/block.clh). PoCL has that one, while OpenCL's own prefetch() does nothing there.
 * PoCL 3.1 computes wrong results with static helpers (cl/helper.clh). On processors without AVX-512 it also warns of each
 * vector of 16 floats, and prints on the program's own stderr how many warnings there were; ci/check-kernels sees ours.
 */
static const char *driver_options(const opencl_device *device) {
    const char *platform = device->base.info.platform;
    if (strcmp(platform, "Oclgrind") == 0) return "-cl-opt-disable -DINLINED=HELPER ";
    return strcmp(platform, "Portable Computing Language") == 0
               ? "-w -DHELPER=inline -DFETCH_AHEAD=__builtin_prefetch "
               : "";
}

static tvlm_status add_program(opencl_device *device, const char *file, const char *options,
                               opencl_program **added) {
    char all[512];
    opencl_program *program = tvlm_allocate(1, sizeof *program);
    if (program != NULL) {
        program->file = strdup(file);
        program->options = strdup(options);
    }
    if (program == NULL || program->file == NULL || program->options == NULL) {
        if (program != NULL) {
            free(program->file);
            free(program->options);
        }
        free(program);
        return tvlm_fail(&device->base.log, TVLM_ERROR_MEMORY, "out of memory for a program");
    }
    snprintf(all, sizeof all, "-cl-std=%s %s-DTVLM_STORAGE=%d %s", device->cl_std, driver_options(device),
             (int)device->base.info.storage - (int)TVLM_STORAGE_IMAGE, options);
    const tvlm_status status = build(device, file, all, &program->program);
    if (status != TVLM_OK) {
        free(program->file);
        free(program->options);
        free(program);
        return status;
    }
    program->next = device->programs;
    device->programs = program;
    *added = program;
    return TVLM_OK;
}

/* How many work-items a group of a kernel may have, which on GPUs depends on the registers that it takes. A kernel that asks for a
 * size has it, whatever is told: Mesa 22.3 tells less, and runs it. A driver that does not say refuses the launch. */
static size_t largest_group(const opencl_device *device, cl_kernel kernel) {
    size_t most = 0, required[3] = {0, 0, 0};
    if (clGetKernelWorkGroupInfo(kernel, device->id, CL_KERNEL_COMPILE_WORK_GROUP_SIZE, sizeof required,
                                 required, NULL) == CL_SUCCESS &&
        required[0] > 0)
        return SIZE_MAX;
    const cl_int error =
        clGetKernelWorkGroupInfo(kernel, device->id, CL_KERNEL_WORK_GROUP_SIZE, sizeof most, &most, NULL);
    return error == CL_SUCCESS && most > 0 ? most : SIZE_MAX;
}

tvlm_status tvlm_opencl_kernel(opencl_device *device, const char *file, const char *options, const char *name,
                               cl_kernel *kernel, size_t *most) {
    cl_int error = CL_SUCCESS;
    opencl_program *program = find_program(device, file, options);
    if (program == NULL) TVLM_TRY(add_program(device, file, options, &program));
    for (int i = 0; i < program->count; ++i)
        if (strcmp(program->kernels[i].name, name) == 0) {
            *kernel = program->kernels[i].kernel;
            *most = program->kernels[i].most;
            return TVLM_OK;
        }
    if (program->count == KERNELS_MAX)
        return tvlm_fail(&device->base.log, TVLM_ERROR_DEVICE, "more than %d kernels in %s", KERNELS_MAX,
                         file);
    *kernel = clCreateKernel(program->program, name, &error);
    if (error != CL_SUCCESS) return tvlm_opencl_fail(&device->base, error, name);
    *most = largest_group(device, *kernel);
    program->kernels[program->count].name = name;
    program->kernels[program->count].most = *most;
    program->kernels[program->count++].kernel = *kernel;
    return TVLM_OK;
}

static void release(opencl_program *gone) {
    for (int i = 0; i < gone->count; ++i) clReleaseKernel(gone->kernels[i].kernel);
    clReleaseProgram(gone->program);
    free(gone->file);
    free(gone->options);
    free(gone);
}

void tvlm_opencl_programs_destroy(opencl_device *device) {
    while (device->programs != NULL) {
        opencl_program *gone = device->programs;
        device->programs = gone->next;
        release(gone);
    }
}

void tvlm_opencl_program_forget(opencl_device *device, const char *file) {
    for (opencl_program **at = &device->programs; *at != NULL;) {
        opencl_program *const program = *at;
        if (strcmp(program->file, file) != 0) {
            at = &program->next;
            continue;
        }
        *at = program->next;
        release(program);
    }
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * device.c: opening an OpenCL device, by name or from an application's context.
 */
#include <stdio.h>
#include <string.h>

#include "core/check.h"
#include "core/try.h"
#include "opencl/backend.h"
#include "opencl/open.h"
#include "platform/environment.h"
#include "platform/file.h"
#include "texturevlm/opencl.h"

/*
 * PoCL itself keeps what it compiled, kernel by kernel as they are launched. If it is asked for a program's
 * binary, it first compiles every kernel in the program once more, for groups of any size. With this
 * library's cache the first `tvlm select` took 8.5 s of CPU time instead of 3.6 s. Each later one took only
 * 0.15 s less.
 */
static bool caches_itself(const opencl_device *device) {
    return strcmp(device->base.info.platform, "Portable Computing Language") == 0;
}

/* Seen with Mesa 22.3: clFinish does not wait for what clFlush has sent, and memory that work in flight uses
 * is gone when it is released. */
static bool is_rusticl(const opencl_device *device) {
    return strcmp(device->base.info.platform, "rusticl") == 0;
}

/* The folder for what is kept: the one that was asked for, else the user's, such as ~/.cache/texturevlm. NULL means none. */
static const char *cache_folder(const char *asked, char *path, size_t size) {
    if (asked != NULL) return asked[0] != '\0' ? asked : NULL;
    if (!tvlm_cache_home(path, size)) return NULL;
    const size_t length = strlen(path);
    const int more = snprintf(path + length, size - length, "/texturevlm");
    return more > 0 && (size_t)more < size - length ? path : NULL;
}

static tvlm_status copy_text(const tvlm_log *log, const char *text, char **copy) {
    if (text == NULL || text[0] == '\0') return TVLM_OK;
    *copy = strdup(text);
    return *copy != NULL ? TVLM_OK
                         : tvlm_fail(log, TVLM_ERROR_MEMORY, "out of memory for the name of a folder");
}

/* Whether a program from the cache could be one that another driver, or another version of it, has compiled. */
static bool is_anonymous(const tvlm_device_info *info) {
    return strcmp(info->name, TVLM_OPENCL_UNKNOWN) == 0 || strcmp(info->driver, TVLM_OPENCL_UNKNOWN) == 0 ||
           strcmp(info->version, TVLM_OPENCL_UNKNOWN) == 0;
}

static tvlm_status take_folders(opencl_device *device, const struct tvlm_device_params *params) {
    char path[4096];
    TVLM_TRY(copy_text(params->log,
                       params->kernel_dir != NULL ? params->kernel_dir : tvlm_variable("TVLM_CL_DIR"),
                       &device->kernel_dir));
    const char *folder = cache_folder(params->cache_dir, path, sizeof path);
    TVLM_TRY(copy_text(params->log, folder, &device->tuning_dir));
    if ((params->cache_dir == NULL && caches_itself(device)) || is_anonymous(&device->base.info))
        return TVLM_OK;
    return copy_text(params->log, folder, &device->cache_dir);
}

/* Whether the file of what was tuned is ignored. Somebody who names a folder means the file that is there,
 * whatever the environment says. */
static bool is_untuned(const struct tvlm_device_params *params) {
    const char *const text = params->cache_dir == NULL ? getenv("TVLM_UNTUNED") : NULL;
    return params->untuned || (text != NULL && text[0] != '\0');
}

static opencl_tuning tuning_for(const opencl_device *device) {
    return tvlm_opencl_tuning_default(device->base.info.type == TVLM_DEVICE_GPU || device->short_loops);
}

/* The work-items of the largest groups that kernels ask for, but for those that ask what there is. */
enum { GROUP_MAX_LEAST = 256 };

/* A driver that does not say how large groups may be has what is needed, or refuses a kernel. */
static tvlm_status check_limits(opencl_device *device) {
    const cl_int error = clGetDeviceInfo(device->id, CL_DEVICE_MAX_WORK_GROUP_SIZE, sizeof device->group_max,
                                         &device->group_max, NULL);
    if (error == CL_INVALID_VALUE)
        device->group_max = GROUP_MAX_LEAST;
    else if (error != CL_SUCCESS)
        return tvlm_opencl_fail(&device->base, error, "clGetDeviceInfo");
    if (device->group_max < GROUP_MAX_LEAST || device->base.info.local_bytes < LOCAL_BYTES_LEAST)
        return tvlm_fail(&device->base.log, TVLM_ERROR_UNSUPPORTED,
                         "%s: work-groups of %zu and %llu bytes of local memory; 256 and 32768 are needed",
                         device->base.info.name, device->group_max,
                         (unsigned long long)device->base.info.local_bytes);
    return TVLM_OK;
}

/* Makes the sampler that mip-mapped reads need. They alone need a sampler made with properties, and OpenCL C
 * 2 or 3. */
static void prepare_mipmaps(opencl_device *device) {
    const cl_sampler_properties properties[] = {CL_SAMPLER_NORMALIZED_COORDS,
                                                CL_TRUE,
                                                CL_SAMPLER_ADDRESSING_MODE,
                                                CL_ADDRESS_CLAMP_TO_EDGE,
                                                CL_SAMPLER_FILTER_MODE,
                                                CL_FILTER_LINEAR,
                                                CL_SAMPLER_MIP_FILTER_MODE_KHR,
                                                CL_FILTER_LINEAR,
                                                0};
    cl_int error = CL_SUCCESS;
    if (!device->base.info.images || !device->base.info.mipmap_extension) return;
    /* The loader may be newer than the driver, and call what that does not have. */
    if (clCreateSamplerWithProperties == NULL || tvlm_opencl_version(&device->base.info) < 20) return;
    device->mip_sampler = clCreateSamplerWithProperties(device->context, properties, &error);
    if (error != CL_SUCCESS) device->mip_sampler = NULL;
}

/* Images that would not be chosen are tested only when somebody asks for them, since their kernels take
 * seconds to compile on PoCL. */
static tvlm_status prepare(opencl_device *device, const struct tvlm_device_params *params) {
    const tvlm_storage asked = params->storage,
                       tuned = is_untuned(params) || asked != TVLM_STORAGE_AUTO
                                   ? TVLM_STORAGE_AUTO
                                   : tvlm_opencl_tuning_storage(&device->base),
                       likely = asked != TVLM_STORAGE_AUTO ? asked : tuned;
    const bool gpu = device->base.info.type == TVLM_DEVICE_GPU;
    const bool named = likely == TVLM_STORAGE_IMAGE || likely == TVLM_STORAGE_MIPMAPPED;
    opencl_ability able[TVLM_STORAGE_MIPMAPPED + 1];
    TVLM_TRY(check_limits(device));
    device->tuning = tuning_for(device);
    prepare_mipmaps(device);
    TVLM_TRY(tvlm_opencl_self_test(device, gpu || named || params->test_all,
                                   params->test_all || params->format == TVLM_FORMAT_U8, able));
    device->tuning = tuning_for(device); /* again: the self-test may have set short_loops */
    TVLM_TRY(tvlm_opencl_choose_storage(device, params, tuned, able));
    device->cl_std = tvlm_opencl_language(device, device->base.info.storage);
    device->round_stores =
        device->base.info.storage != TVLM_STORAGE_BUFFER && !able[TVLM_STORAGE_IMAGE].rounds;
    tvlm_opencl_take_bytes(device, &able[device->base.info.storage]);
    return is_untuned(params) ? TVLM_OK : tvlm_opencl_tuning_load(&device->base);
}

tvlm_status tvlm_opencl_device_create(cl_device_id id, int32_t index, cl_context context,
                                      cl_command_queue queue, const struct tvlm_device_params *params,
                                      tvlm_device **device) {
    opencl_device *made = tvlm_allocate(1, sizeof *made);
    if (made == NULL) {
        clReleaseCommandQueue(queue);
        clReleaseContext(context);
        return tvlm_fail(params->log, TVLM_ERROR_MEMORY, "out of memory for a device");
    }
    made->base.backend = &tvlm_opencl_backend;
    if (params->log != NULL) made->base.log = *params->log;
    made->id = id;
    made->context = context;
    made->queue = queue;
    made->cl_std = "CL1.2";
    cl_int error = tvlm_opencl_describe(id, index, &made->base.info);
    if (error == CL_SUCCESS)
        error = clGetDeviceInfo(id, CL_DEVICE_PLATFORM, sizeof made->platform, &made->platform, NULL);
    tvlm_status status = TVLM_OK;
    if (error != CL_SUCCESS) status = tvlm_opencl_fail(&made->base, error, "clGetDeviceInfo");
    made->finishes_early = made->releases_early = is_rusticl(made);
    if (status == TVLM_OK) status = take_folders(made, params);
    if (status == TVLM_OK) status = prepare(made, params);
    if (status != TVLM_OK) {
        (void)tvlm_opencl_wait(made, queue);
        tvlm_opencl_close(made);
        return status;
    }
    made->spares.kept = params->keep_memory; /* from now on, so that no memory of the self-test is kept */
    *device = &made->base;
    return TVLM_OK;
}

static tvlm_status open_locked(const char *choice, const struct tvlm_device_params *params,
                               tvlm_device **device) {
    cl_device_id id = NULL;
    cl_platform_id platform = NULL;
    int32_t index = -1;
    cl_int error = CL_SUCCESS;
    TVLM_TRY(tvlm_opencl_find(choice, params->log, &id, &index));
    error = clGetDeviceInfo(id, CL_DEVICE_PLATFORM, sizeof platform, &platform, NULL);
    if (error != CL_SUCCESS)
        return tvlm_opencl_fail_early(params->log, error, "clGetDeviceInfo of CL_DEVICE_PLATFORM");
    const cl_context_properties properties[] = {CL_CONTEXT_PLATFORM, (cl_context_properties)platform, 0};
    cl_context context = clCreateContext(properties, 1, &id, NULL, NULL, &error);
    if (error != CL_SUCCESS) return tvlm_opencl_fail_early(params->log, error, "clCreateContext");
        /* The 1.2 function: every driver has it, and an in-order queue is all that is needed. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
    cl_command_queue queue = clCreateCommandQueue(context, id, 0, &error);
#pragma GCC diagnostic pop
    if (error != CL_SUCCESS) {
        clReleaseContext(context);
        return tvlm_opencl_fail_early(params->log, error, "clCreateCommandQueue");
    }
    return tvlm_opencl_device_create(id, index, context, queue, params, device);
}

tvlm_status tvlm_opencl_open(const char *choice, const struct tvlm_device_params *params,
                             tvlm_device **device) {
    tvlm_opencl_lock();
    const tvlm_status status = open_locked(choice, params, device);
    tvlm_opencl_unlock();
    return status;
}

static tvlm_status check_queue(cl_context context, cl_device_id id, cl_command_queue queue,
                               const tvlm_log *log) {
    cl_context queue_context = NULL;
    cl_device_id queue_device = NULL;
    cl_command_queue_properties properties = 0;
    if (context == NULL || id == NULL || queue == NULL)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "a context, a device and a queue are needed");
    cl_int error = clGetCommandQueueInfo(queue, CL_QUEUE_CONTEXT, sizeof(cl_context), &queue_context, NULL);
    if (error == CL_SUCCESS)
        error = clGetCommandQueueInfo(queue, CL_QUEUE_DEVICE, sizeof(cl_device_id), &queue_device, NULL);
    if (error == CL_SUCCESS)
        error = clGetCommandQueueInfo(queue, CL_QUEUE_PROPERTIES, sizeof properties, &properties, NULL);
    if (error != CL_SUCCESS) return tvlm_opencl_fail_early(log, error, "clGetCommandQueueInfo");
    if (queue_context != context || queue_device != id)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "the queue belongs to another context or device");
    if (properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT,
                         "the queue runs out of order; an in-order queue is needed");
    return TVLM_OK;
}

tvlm_status tvlm_device_open_opencl(cl_context context, cl_device_id id, cl_command_queue queue,
                                    const struct tvlm_device_params *params, tvlm_device **device) {
    static const struct tvlm_device_params defaults;
    if (params == NULL) params = &defaults;
    TVLM_NEED(params->log, device);
    TVLM_TRY(tvlm_device_check_params(params));
    tvlm_opencl_lock();
    const bool loaded = tvlm_opencl_load();
    tvlm_opencl_unlock();
    if (!loaded) return tvlm_fail(params->log, TVLM_ERROR_NO_DEVICE, "OpenCL's functions cannot be found");
    TVLM_TRY(check_queue(context, id, queue, params->log));
    clRetainContext(context);
    clRetainCommandQueue(queue);
    tvlm_opencl_lock();
    const tvlm_status status = tvlm_opencl_device_create(id, -1, context, queue, params, device);
    tvlm_opencl_unlock();
    return status;
}

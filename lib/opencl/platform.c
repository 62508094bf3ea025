/* SPDX-License-Identifier: Apache-2.0 */
/*
 * platform.c: the OpenCL devices of this machine.
 */
#include <ctype.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "opencl/backend.h"
#include "opencl/open.h"
#include "platform/driver_cache.h"
#include "platform/file.h"
#include "platform/library.h"
#include "platform/temporary.h"

#define DEVICES_MAX   64
#define PLATFORMS_MAX 16

static pthread_mutex_t drivers_mutex = PTHREAD_MUTEX_INITIALIZER;

void tvlm_opencl_lock(void) {
    pthread_mutex_lock(&drivers_mutex);
}

void tvlm_opencl_unlock(void) {
    pthread_mutex_unlock(&drivers_mutex);
}

/* A driver that fails is passed over: others may work. */
static int32_t devices_of(cl_platform_id platform, int32_t room, cl_device_id *ids, cl_int *error) {
    cl_uint found = 0;
    const cl_int failed = clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, (cl_uint)room, ids, &found);
    if (failed != CL_SUCCESS && failed != CL_DEVICE_NOT_FOUND) *error = failed;
    if (failed != CL_SUCCESS) return 0;
    return (int32_t)found < room ? (int32_t)found : room;
}

/* All devices of all platforms, in the order of the loader. If there are none, *error is the error of a
 * driver that failed, or CL_SUCCESS if none failed. */
static int32_t all_devices(cl_device_id ids[DEVICES_MAX], cl_int *error) {
    const cl_int no_platform = -1001; /* CL_PLATFORM_NOT_FOUND_KHR */
    cl_platform_id platforms[PLATFORMS_MAX];
    cl_uint platform_count = 0;
    int32_t count = 0;
    *error = CL_SUCCESS;
    if (!tvlm_opencl_load()) return 0;
    *error = clGetPlatformIDs(PLATFORMS_MAX, platforms, &platform_count);
    if (*error == no_platform) *error = CL_SUCCESS;
    if (platform_count > PLATFORMS_MAX) platform_count = PLATFORMS_MAX;
    if (*error != CL_SUCCESS) return 0;
    for (cl_uint p = 0; p < platform_count && count < DEVICES_MAX; ++p)
        count += devices_of(platforms[p], DEVICES_MAX - count, ids + count, error);
    if (count > 0) *error = CL_SUCCESS;
    return count;
}

/* Asks one thing of a device; *error keeps the first error. A driver that does not know the question is no error: the
 * value stays as it is. Drivers were met that do not know what they should (doc/drivers.md). */
static void ask(cl_device_id id, cl_device_info what, size_t size, void *value, cl_int *error) {
    const cl_int failed = clGetDeviceInfo(id, what, size, value, NULL);
    if (*error == CL_SUCCESS && failed != CL_INVALID_VALUE) *error = failed;
}

static tvlm_device_type type_of(cl_device_id id, cl_int *error) {
    cl_device_type type = 0;
    ask(id, CL_DEVICE_TYPE, sizeof type, &type, error);
    if (type & CL_DEVICE_TYPE_GPU) return TVLM_DEVICE_GPU;
    if (type & CL_DEVICE_TYPE_CPU) return TVLM_DEVICE_CPU;
    return TVLM_DEVICE_OTHER;
}

/* OpenCL does not limit the length of names. Those of more bytes than this are refused by the driver, and are as
 * unknown as those that it does not tell. */
enum { NAME_MAX_BYTES = 1024 };

/* Copies a name, as much of it as there is room for, without the spaces before it. */
static void copy_name(const char *name, char *text, size_t size) {
    while (isspace((unsigned char)*name)) ++name;
    snprintf(text, size, "%.*s", (int)(size - 1), name);
}

static void device_text(cl_device_id id, cl_device_info what, char *text, size_t size, cl_int *error) {
    char name[NAME_MAX_BYTES + 1] = TVLM_OPENCL_UNKNOWN;
    ask(id, what, NAME_MAX_BYTES, name, error);
    copy_name(name, text, size);
}

static void platform_text(cl_platform_id id, char *text, size_t size, cl_int *error) {
    char name[NAME_MAX_BYTES + 1] = TVLM_OPENCL_UNKNOWN;
    if (*error == CL_SUCCESS && id != NULL)
        *error = clGetPlatformInfo(id, CL_PLATFORM_NAME, NAME_MAX_BYTES, name, NULL);
    copy_name(name, text, size);
}

static int32_t limit(cl_device_id id, cl_device_info what, cl_int *error) {
    size_t value = 0;
    ask(id, what, sizeof value, &value, error);
    return value > INT32_MAX ? INT32_MAX : (int32_t)value;
}

/* Whether a list that spaces separate has a word. */
static bool has_word(const char *list, const char *word) {
    const size_t length = strlen(word);
    for (const char *at = strstr(list, word); at != NULL; at = strstr(at + 1, word))
        if ((at == list || at[-1] == ' ') && (at[length] == ' ' || at[length] == '\0')) return true;
    return false;
}

cl_int tvlm_opencl_device_has(cl_device_id id, const char *extension, bool *has) {
    size_t size = 0;
    *has = false;
    cl_int error = clGetDeviceInfo(id, CL_DEVICE_EXTENSIONS, 0, NULL, &size);
    if (error == CL_INVALID_VALUE) return CL_SUCCESS; /* a driver that has no such list */
    if (error != CL_SUCCESS || size == 0) return error;
    char *list = tvlm_allocate(size + 1, 1);
    if (list == NULL) return CL_OUT_OF_HOST_MEMORY;
    error = clGetDeviceInfo(id, CL_DEVICE_EXTENSIONS, size, list, NULL);
    if (error == CL_SUCCESS) *has = has_word(list, extension);
    free(list);
    return error;
}

static void describe_images(cl_device_id id, tvlm_device_info *info, cl_int *error) {
    cl_bool images = CL_FALSE;
    ask(id, CL_DEVICE_IMAGE_SUPPORT, sizeof images, &images, error);
    info->images = images == CL_TRUE;
    const cl_int failed = tvlm_opencl_device_has(id, "cl_khr_mipmap_image", &info->mipmap_extension);
    if (*error == CL_SUCCESS) *error = failed;
    if (!info->images) return;
    info->image_width_max = limit(id, CL_DEVICE_IMAGE2D_MAX_WIDTH, error);
    info->image_height_max = limit(id, CL_DEVICE_IMAGE2D_MAX_HEIGHT, error);
    info->image_slices_max = limit(id, CL_DEVICE_IMAGE_MAX_ARRAY_SIZE, error);
    info->images = info->image_width_max > 0 && info->image_height_max > 0 && info->image_slices_max > 0;
}

cl_int tvlm_opencl_describe(cl_device_id id, int32_t index, tvlm_device_info *info) {
    cl_platform_id platform = NULL;
    cl_ulong memory = 0, allocation = 0, local = LOCAL_BYTES_LEAST;
    cl_uint units = 0;
    cl_int error = CL_SUCCESS;
    memset(info, 0, sizeof *info);
    info->index = index;
    info->type = type_of(id, &error);
    device_text(id, CL_DEVICE_NAME, info->name, sizeof info->name, &error);
    device_text(id, CL_DRIVER_VERSION, info->driver, sizeof info->driver, &error);
    device_text(id, CL_DEVICE_VERSION, info->version, sizeof info->version, &error);
    ask(id, CL_DEVICE_PLATFORM, sizeof platform, &platform, &error);
    platform_text(platform, info->platform, sizeof info->platform, &error);
    ask(id, CL_DEVICE_GLOBAL_MEM_SIZE, sizeof memory, &memory, &error);
    ask(id, CL_DEVICE_MAX_MEM_ALLOC_SIZE, sizeof allocation, &allocation, &error);
    ask(id, CL_DEVICE_LOCAL_MEM_SIZE, sizeof local, &local, &error);
    ask(id, CL_DEVICE_MAX_COMPUTE_UNITS, sizeof units, &units, &error);
    info->memory_bytes = memory;
    info->allocation_max = allocation;
    info->local_bytes = local;
    info->compute_units = (int32_t)units;
    describe_images(id, info, &error);
    return error;
}

int32_t tvlm_opencl_list(int32_t capacity, tvlm_device_info *infos) {
    cl_device_id ids[DEVICES_MAX];
    cl_int error;
    tvlm_opencl_lock();
    const int32_t count = all_devices(ids, &error);
    for (int32_t i = 0; i < count && i < capacity; ++i) (void)tvlm_opencl_describe(ids[i], i, &infos[i]);
    tvlm_opencl_unlock();
    return error == CL_SUCCESS ? count : -1;
}

static bool contains(const char *text, const char *part) {
    const size_t length = strlen(part);
    for (; *text != '\0'; ++text)
        if (strncasecmp(text, part, length) == 0) return true;
    return length == 0;
}

/* Joins the names of all devices into one line, for the message that none of them fits. */
static void join_names(const cl_device_id *ids, int32_t count, char *line, size_t size) {
    size_t used = 0;
    line[0] = '\0';
    for (int32_t i = 0; i < count && used < size - 1; ++i) {
        char name[128];
        cl_int error = CL_SUCCESS; /* after an error the name is unknown */
        device_text(ids[i], CL_DEVICE_NAME, name, sizeof name, &error);
        const int more = snprintf(line + used, size - used, "%s%d '%s'", i > 0 ? ", " : "", (int)i, name);
        used += more > 0 ? (size_t)more : 0;
    }
}

/* The first GPU, else the first CPU, else the first device. */
static int32_t default_device(const cl_device_id *ids, int32_t count) {
    cl_int error = CL_SUCCESS; /* not read: a device that does not say its type is neither */
    for (int32_t i = 0; i < count; ++i)
        if (type_of(ids[i], &error) == TVLM_DEVICE_GPU) return i;
    for (int32_t i = 0; i < count; ++i)
        if (type_of(ids[i], &error) == TVLM_DEVICE_CPU) return i;
    return 0;
}

/* The texts of a device that a choice may be a part of, in the order in which they are tried. */
enum { TEXT_NAME, TEXT_PLATFORM, TEXT_VERSION, TEXT_COUNT };

/* In the version only what the driver says counts, because each version begins with "OpenCL", a space, a
 * number and a space. PoCL has its own name only there. */
static const char *text_of(const tvlm_device_info *info, int which) {
    if (which == TEXT_NAME) return info->name;
    if (which == TEXT_PLATFORM) return info->platform;
    const char *number = strchr(info->version, ' ');
    const char *said = number != NULL ? strchr(number + 1, ' ') : NULL;
    return said != NULL ? said + 1 : "";
}

/* Returns the device with that number, else the first one whose name contains the choice, else the first one
 * whose platform's name does, else the first one whose version does; -1 if there is none. */
static int32_t named_device(const char *choice, const cl_device_id *ids, int32_t count) {
    char *end;
    const long index = strtol(choice, &end, 10);
    if (end != choice && *end == '\0') return index >= 0 && index < count ? (int32_t)index : -1;
    for (int which = 0; which < TEXT_COUNT; ++which)
        for (int32_t i = 0; i < count; ++i) {
            tvlm_device_info info;
            (void)tvlm_opencl_describe(ids[i], i, &info);
            if (contains(text_of(&info, which), choice)) return i;
        }
    return -1;
}

/* Whether files can be made in a folder, or, where that does not exist, in the nearest folder above it that
 * does. */
static bool can_write(const char *folder) {
    char path[512], *name;
    tvlm_file_facts facts;
    size_t length = strlen(folder);
    if (length + sizeof "/any" > sizeof path) return true; /* not known */
    memcpy(path, folder, length + 1);
    while (length > 1 && !tvlm_path_facts(path, &facts)) {
        while (length > 1 && path[length - 1] != '/') --length;
        if (length > 1) --length;
        path[length] = '\0';
    }
    memcpy(path + length, "/any", sizeof "/any");
    const int file = tvlm_temporary_make(path, 0, &name);
    if (file < 0) return false;
    (void)tvlm_file_close(file);
    (void)tvlm_path_remove(name);
    tvlm_temporary_forget(name);
    free(name);
    return true;
}

/* Returns the folder in which PoCL keeps what it compiled if nothing can be written there, otherwise NULL. If
 * nothing can, PoCL has no device, and does not say why. */
static const char *unwritable_pocl_cache(char *path, size_t size) {
    if (!tvlm_driver_cache_folder(path, size)) return NULL;
    return can_write(path) ? NULL : path;
}

static tvlm_status fail_without_device(const tvlm_log *log) {
    char path[512];
    if (!tvlm_opencl_load() && tvlm_opencl_named() != NULL)
        return tvlm_fail(
            log, TVLM_ERROR_NO_DEVICE,
            "no OpenCL device: $TVLM_OPENCL is %s, which cannot be loaded or is no OpenCL library "
            "(or choose the device 'reference')",
            tvlm_opencl_named());
    if (!tvlm_opencl_load())
        return tvlm_fail(
            log, TVLM_ERROR_NO_DEVICE,
            "no OpenCL device: %s cannot be loaded; install it (Debian: ocl-icd-libopencl1), and "
            "your GPU's OpenCL driver, or pocl-opencl-icd to run on the CPU (or choose the device "
            "'reference')",
            tvlm_library_opencl[0]);
    if (unwritable_pocl_cache(path, sizeof path) != NULL)
        return tvlm_fail(log, TVLM_ERROR_NO_DEVICE,
                         "no OpenCL device: PoCL has none where it cannot write its cache, and %s cannot be "
                         "written (set POCL_CACHE_DIR to a folder that can); else install your GPU's OpenCL "
                         "driver, or pocl-opencl-icd to run on the CPU, or choose the device 'reference'",
                         path);
    return tvlm_fail(log, TVLM_ERROR_NO_DEVICE,
                     "no OpenCL device: install your GPU's OpenCL driver, or pocl-opencl-icd to run on the "
                     "CPU (or choose the device 'reference')");
}

tvlm_status tvlm_opencl_find(const char *choice, const tvlm_log *log, cl_device_id *id, int32_t *index) {
    cl_device_id ids[DEVICES_MAX];
    cl_int error;
    const int32_t count = all_devices(ids, &error);
    if (error != CL_SUCCESS) return tvlm_opencl_fail_early(log, error, "the devices cannot be listed");
    if (count == 0) return fail_without_device(log);
    *index =
        choice == NULL || choice[0] == '\0' ? default_device(ids, count) : named_device(choice, ids, count);
    if (*index < 0) {
        char names[768];
        join_names(ids, count, names, sizeof names);
        return tvlm_fail(log, TVLM_ERROR_NO_DEVICE, "no device '%s'; there are %s, and 'reference'", choice,
                         names);
    }
    *id = ids[*index];
    return TVLM_OK;
}

int32_t tvlm_opencl_index(const char *choice) {
    cl_device_id id;
    int32_t index = -1;
    tvlm_opencl_lock();
    const tvlm_status status = tvlm_opencl_find(choice, NULL, &id, &index);
    tvlm_opencl_unlock();
    return status == TVLM_OK ? index : -1;
}

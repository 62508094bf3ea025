/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mipmaps.c: a driver with cl_khr_mipmap_image, over PoCL, which has only images (TVLM_LAYER_MIPMAPS=1).
 *
 * An array of images with levels becomes one array, an *atlas*: level 0 in its corner, where kernels that know
 * nothing of levels find it, the others in a column to its right, and a last row in which kernels read how large
 * it all is. Transfers to and from a level go to its place. Each program begins with a read_imagef that takes a
 * lod (mipmaps_cl.h): it filters within two levels and between them.
 *
 * With TVLM_LAYER_MIPMAPS=flat the driver errs: read_imagef ignores the lod.
 *
 * What this cannot show: the precision of a GPU's filters, the sampler's own settings, which are not looked at,
 * and speed.
 */
#include "layer.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <CL/cl_ext.h>

#include "mipmaps_cl.h"

static const cl_icd_dispatch *next;
static bool flat;

/* ---- Atlases ---- */

typedef struct atlas {
    struct atlas *other;
    cl_mem image;
    size_t width, height, levels;
} atlas;

static atlas *atlases;

static atlas *find(cl_mem image) {
    atlas *found = atlases;
    while (found != NULL && found->image != image) found = found->other;
    return found;
}

/* Memory may be made where an atlas was that is gone. */
static void forget(cl_mem image) {
    for (atlas **at = &atlases; *at != NULL; at = &(*at)->other)
        if ((*at)->image == image) {
            atlas *const gone = *at;
            *at = gone->other;
            free(gone);
            return;
        }
}

static size_t side(size_t of_level_0, size_t level) {
    return of_level_0 >> level > 0 ? of_level_0 >> level : 1;
}

/* Moves an origin, whose last element is the level, to where that level stands. */
static void place(const atlas *a, const size_t *origin, size_t placed[3]) {
    memcpy(placed, origin, 3 * sizeof *placed);
    if (a == NULL || origin[3] == 0) return;
    placed[0] += a->width;
    for (size_t n = 1; n < origin[3]; ++n) placed[1] += side(a->height, n);
}

/* The last row: which kernels know as that of an atlas, and its size in digits that a half holds. */
static void write_header(void *texels, bool half, const atlas *a, size_t width, size_t height) {
    const float header[3][4] = {{(float)(a->width % 1024), (float)(a->width / 1024),
                                 (float)(a->height % 1024), (float)(a->height / 1024)},
                                {(float)a->levels, 0.0f, 0.0f, 0.0f},
                                MIPMAPS_MARK};
    const size_t first = ((height - 1) * width + width - 3) * 4;
    for (size_t i = 0; i < 12; ++i) {
        const float value = header[i / 4][i % 4];
        if (half) {
            /* Whole numbers up to 2048 are exact: the sign, the exponent, and ten of the float's digits. */
            uint32_t bits;
            memcpy(&bits, &value, sizeof bits);
            const uint32_t rebiased = (bits >> 13 & 0x3ffffu) - (112u << 10);
            ((uint16_t *)texels)[first + i] =
                (uint16_t)(value == 0.0f ? 0u : (bits >> 16 & 0x8000u) | (rebiased & 0x7fffu));
        } else {
            ((float *)texels)[first + i] = value;
        }
    }
}

static cl_mem make_atlas(cl_context context, cl_mem_flags flags, const cl_image_format *format,
                         const cl_image_desc *shape, cl_int *error) {
    const bool half = format->image_channel_data_type == CL_HALF_FLOAT;
    atlas *const made = calloc(1, sizeof *made);
    cl_image_desc desc = *shape;
    size_t column = 0;
    if (made == NULL) return NULL;
    *made = (atlas){NULL, NULL, shape->image_width, shape->image_height, shape->num_mip_levels};
    for (size_t n = 1; n < made->levels; ++n) column += side(made->height, n);
    desc.num_mip_levels = 0;
    desc.image_width += side(made->width, 1) + 3;
    desc.image_height = (column > made->height ? column : made->height) + 1;
    char *const texels = calloc(desc.image_width * desc.image_height * desc.image_array_size, half ? 8 : 16);
    if (texels != NULL) {
        write_header(texels, half, made, desc.image_width, desc.image_height);
        made->image =
            next->clCreateImage(context, flags | CL_MEM_COPY_HOST_PTR, format, &desc, texels, error);
    }
    free(texels);
    if (made->image == NULL) {
        free(made);
        return NULL;
    }
    cl_mem const image = made->image;
    forget(image);
    made->other = atlases;
    atlases = made;
    return image;
}

static cl_mem CL_API_CALL create_image(cl_context context, cl_mem_flags flags, const cl_image_format *format,
                                       const cl_image_desc *shape, void *host, cl_int *error) {
    if (error != NULL) *error = CL_OUT_OF_HOST_MEMORY;
    if (shape->num_mip_levels > 0) {
        /* What the extension asks for, as far as the library uses it. */
        if (host == NULL && shape->image_type == CL_MEM_OBJECT_IMAGE2D_ARRAY &&
            format->image_channel_order == CL_RGBA)
            return make_atlas(context, flags, format, shape, error);
        if (error != NULL) *error = CL_INVALID_IMAGE_DESCRIPTOR;
        return NULL;
    }
    cl_mem const image = next->clCreateImage(context, flags, format, shape, host, error);
    if (image != NULL) forget(image);
    return image;
}

static cl_int CL_API_CALL image_info(cl_mem image, cl_image_info what, size_t size, void *value,
                                     size_t *needed) {
    const cl_int error = next->clGetImageInfo(image, what, size, value, needed);
    const atlas *const a = find(image);
    if (a == NULL || error != CL_SUCCESS || value == NULL) return error;
    if (what == CL_IMAGE_WIDTH) memcpy(value, &a->width, sizeof a->width);
    if (what == CL_IMAGE_HEIGHT) memcpy(value, &a->height, sizeof a->height);
    if (what == CL_IMAGE_NUM_MIP_LEVELS) memcpy(value, &(cl_uint){(cl_uint)a->levels}, sizeof(cl_uint));
    return error;
}

/* ---- Transfers ---- */

static cl_int CL_API_CALL buffer_to_image(cl_command_queue queue, cl_mem from, cl_mem to, size_t offset,
                                          const size_t *origin, const size_t *region, cl_uint waits,
                                          const cl_event *list, cl_event *event) {
    const atlas *const a = find(to);
    size_t placed[3];
    if (a == NULL)
        return next->clEnqueueCopyBufferToImage(queue, from, to, offset, origin, region, waits, list, event);
    place(a, origin, placed);
    return next->clEnqueueCopyBufferToImage(queue, from, to, offset, placed, region, waits, list, event);
}

static cl_int CL_API_CALL copy_image(cl_command_queue queue, cl_mem from, cl_mem to,
                                     const size_t *from_origin, const size_t *to_origin, const size_t *region,
                                     cl_uint waits, const cl_event *list, cl_event *event) {
    size_t source[3], target[3];
    const atlas *const a = find(from), *const b = find(to);
    if (a == NULL && b == NULL)
        return next->clEnqueueCopyImage(queue, from, to, from_origin, to_origin, region, waits, list, event);
    place(a, from_origin, source);
    place(b, to_origin, target);
    return next->clEnqueueCopyImage(queue, from, to, source, target, region, waits, list, event);
}

static cl_int CL_API_CALL read_image(cl_command_queue queue, cl_mem image, cl_bool blocking,
                                     const size_t *origin, const size_t *region, size_t row_pitch,
                                     size_t slice_pitch, void *host, cl_uint waits, const cl_event *list,
                                     cl_event *event) {
    size_t placed[3];
    const atlas *const a = find(image);
    if (a != NULL) place(a, origin, placed);
    return next->clEnqueueReadImage(queue, image, blocking, a != NULL ? placed : origin, region, row_pitch,
                                    slice_pitch, host, waits, list, event);
}

static cl_int CL_API_CALL write_image(cl_command_queue queue, cl_mem image, cl_bool blocking,
                                      const size_t *origin, const size_t *region, size_t row_pitch,
                                      size_t slice_pitch, const void *host, cl_uint waits,
                                      const cl_event *list, cl_event *event) {
    size_t placed[3];
    const atlas *const a = find(image);
    if (a != NULL) place(a, origin, placed);
    return next->clEnqueueWriteImage(queue, image, blocking, a != NULL ? placed : origin, region, row_pitch,
                                     slice_pitch, host, waits, list, event);
}

/* ---- Kernels, samplers, and what the device says ---- */

static cl_program CL_API_CALL create_program(cl_context context, cl_uint count, const char **strings,
                                             const size_t *lengths, cl_int *error) {
    const char *texts[17] = {flat ? "#define FLAT 1\n" : "", MIPMAPS_TEXT};
    size_t sizes[17] = {strlen(texts[0]), strlen(texts[1])};
    if (count > 15) {
        if (error != NULL) *error = CL_INVALID_VALUE;
        return NULL;
    }
    for (cl_uint i = 0; i < count; ++i) {
        texts[i + 2] = strings[i];
        sizes[i + 2] = lengths != NULL && lengths[i] > 0 ? lengths[i] : strlen(strings[i]);
    }
    return next->clCreateProgramWithSource(context, count + 2, texts, sizes, error);
}

/* The drivers below know no filter between levels. */
static cl_sampler CL_API_CALL create_sampler(cl_context context, const cl_sampler_properties *properties,
                                             cl_int *error) {
    cl_sampler_properties known[16] = {0};
    size_t used = 0;
    for (size_t i = 0; properties != NULL && properties[i] != 0 && used < 14; i += 2) {
        if (properties[i] == CL_SAMPLER_MIP_FILTER_MODE_KHR) continue;
        known[used++] = properties[i];
        known[used++] = properties[i + 1];
    }
    return next->clCreateSamplerWithProperties(context, known, error);
}

static bool is_pocl(cl_device_id id) {
    char version[256] = "";
    return next->clGetDeviceInfo(id, CL_DEVICE_VERSION, sizeof version - 1, version, NULL) == CL_SUCCESS &&
           strstr(version, "PoCL") != NULL;
}

static cl_int CL_API_CALL device_info(cl_device_id id, cl_device_info what, size_t size, void *value,
                                      size_t *needed) {
    static const char extension[] = " cl_khr_mipmap_image";
    size_t own = 0;
    if (what != CL_DEVICE_EXTENSIONS || !is_pocl(id))
        return next->clGetDeviceInfo(id, what, size, value, needed);
    cl_int error = next->clGetDeviceInfo(id, what, 0, NULL, &own);
    const size_t all = own + sizeof extension - 1;
    if (error == CL_SUCCESS && needed != NULL) *needed = all;
    if (error != CL_SUCCESS || value == NULL) return error;
    if (size < all) return CL_INVALID_VALUE;
    error = next->clGetDeviceInfo(id, what, size, value, NULL);
    if (error == CL_SUCCESS) memcpy((char *)value + own - 1, extension, sizeof extension);
    return error;
}

void layer_wrap_mipmaps(const cl_icd_dispatch *below, cl_icd_dispatch *table) {
    const char *const wanted = getenv("TVLM_LAYER_MIPMAPS");
    next = below;
    if (wanted == NULL || wanted[0] == '\0') return;
    flat = strcmp(wanted, "flat") == 0;
    table->clCreateImage = create_image;
    table->clGetImageInfo = image_info;
    table->clEnqueueCopyBufferToImage = buffer_to_image;
    table->clEnqueueCopyImage = copy_image;
    table->clEnqueueReadImage = read_image;
    table->clEnqueueWriteImage = write_image;
    table->clCreateProgramWithSource = create_program;
    table->clCreateSamplerWithProperties = create_sampler;
    table->clGetDeviceInfo = device_info;
}

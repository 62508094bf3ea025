/* SPDX-License-Identifier: Apache-2.0 */
/*
 * texture.c: texture arrays in the three storages. The kernels' side of them is cl/texture.clh and
 * cl/levels.clh.
 *
 * Where levels lie is written twice, once for the host and once for kernels: tvlm_opencl_level_offset is
 * level_offset of cl/texture.clh, tvlm_opencl_level_corner its level_corner, and rest_size fits the latter.
 * Whoever changes one changes both; tests/kernels/mips.c reads with the one what was written with the other, level by
 * level in every storage.
 */
#include <stdint.h>
#include <string.h>

#include "core/ragged.h"
#include "core/texel.h"
#include "core/try.h"
#include "opencl/backend.h"

/* Whether an image has mip levels of its own. */
#define MIP_LEVELS_ARE_NATIVE(device) ((device)->base.info.storage == TVLM_STORAGE_MIPMAPPED)

/* What OpenCL calls a format. */
static cl_channel_type channel_type(tvlm_format format) {
    switch (format) {
    case TVLM_FORMAT_F16: return CL_HALF_FLOAT;
    case TVLM_FORMAT_U8: return CL_UNORM_INT8;
    case TVLM_FORMAT_S8: return CL_SNORM_INT8;
    case TVLM_FORMAT_F32:
    case TVLM_FORMAT_AUTO: break;
    }
    return CL_FLOAT;
}

tvlm_status tvlm_opencl_image_formats(opencl_device *device) {
    enum { FORMATS = 256 };
    cl_image_format *const formats = tvlm_allocate(FORMATS, sizeof *formats);
    cl_uint count = 0;
    int bytes = 0;
    if (formats == NULL) return tvlm_fail(&device->base.log, TVLM_ERROR_MEMORY, "out of memory for formats");
    const cl_int error = clGetSupportedImageFormats(device->context, CL_MEM_READ_WRITE,
                                                    CL_MEM_OBJECT_IMAGE2D_ARRAY, FORMATS, formats, &count);
    memset(device->scalar_images, 0, sizeof device->scalar_images);
    for (cl_uint i = 0; error == CL_SUCCESS && i < count && i < FORMATS; ++i) {
        const cl_channel_type type = formats[i].image_channel_data_type;
        if (formats[i].image_channel_order == CL_RGBA)
            bytes += type == CL_UNORM_INT8 || type == CL_SNORM_INT8;
        if (formats[i].image_channel_order != CL_R) continue;
        for (int format = TVLM_FORMAT_F16; format <= TVLM_FORMAT_S8; ++format)
            if (type == channel_type((tvlm_format)format)) device->scalar_images[format] = true;
    }
    device->byte_images = bytes == 2;
    free(formats);
    return error == CL_SUCCESS ? TVLM_OK
                               : tvlm_opencl_fail(&device->base, error, "clGetSupportedImageFormats");
}

/* In mipmapped storage texels always have four components, since OpenCL cannot be asked whether an image of
 * one component may have levels. */
bool tvlm_opencl_stores_scalar(const opencl_device *device, tvlm_format format) {
    const tvlm_storage storage = device->base.info.storage;
    return storage == TVLM_STORAGE_BUFFER || (storage == TVLM_STORAGE_IMAGE && device->scalar_images[format]);
}

static size_t component_bytes(const tvlm_texture *texture) {
    return tvlm_component_bytes(tvlm_texture_format(texture));
}

size_t tvlm_opencl_texel_bytes(const tvlm_texture *texture) {
    return component_bytes(texture) * (size_t)((const opencl_texture *)texture)->components;
}

size_t tvlm_opencl_level_offset(const tvlm_texture *texture, int32_t level) {
    size_t texels = 0;
    for (int32_t n = 0; n < level; ++n)
        texels += (size_t)tvlm_level_side(texture->width, n) * (size_t)tvlm_level_side(texture->height, n);
    return texels;
}

void tvlm_opencl_level_corner(const tvlm_texture *texture, int32_t level, size_t corner[2]) {
    corner[0] = level > 1 ? (size_t)tvlm_level_side(texture->width, 1) : 0;
    corner[1] = 0;
    for (int32_t n = 2; n < level; ++n) corner[1] += (size_t)tvlm_level_side(texture->height, n);
}

/* Sets the size of the array that holds levels 1 and up: level 1, and the others in a column to its right. */
static void rest_size(opencl_texture *texture) {
    int32_t column = 0;
    for (int32_t n = 2; n < texture->base.levels; ++n) column += tvlm_level_side(texture->base.height, n);
    const int32_t first = tvlm_level_side(texture->base.height, 1);
    texture->rest_height = first > column ? first : column;
    texture->rest_width = tvlm_level_side(texture->base.width, 1) +
                          (texture->base.levels > 2 ? tvlm_level_side(texture->base.width, 2) : 0);
}

static cl_mem new_memory(opencl_device *device, const opencl_memory_kind *kind, cl_int *error) {
    const cl_image_format format = {kind->order, kind->type};
    cl_image_desc desc;
    if (kind->width == 0) return clCreateBuffer(device->context, CL_MEM_READ_WRITE, kind->bytes, NULL, error);
    memset(&desc, 0, sizeof desc);
    desc.image_type = CL_MEM_OBJECT_IMAGE2D_ARRAY;
    desc.image_width = (size_t)kind->width;
    desc.image_height = (size_t)kind->height;
    desc.image_array_size = kind->slices;
    desc.num_mip_levels = kind->levels > 1 ? kind->levels : 0;
    return clCreateImage(device->context, CL_MEM_READ_WRITE, &format, &desc, NULL, error);
}

/* Gives memory of a kind, spare or new. Where the device has no more memory, spare memory of other kinds is
 * released first. */
static tvlm_status memory_of_kind(opencl_device *device, opencl_memory_kind *kind, cl_mem *memory) {
    const char *const call = kind->width == 0 ? "clCreateBuffer (texture)" : "clCreateImage";
    cl_int error = CL_SUCCESS;
    *memory = tvlm_opencl_spare_take(device, kind);
    if (*memory != NULL) return TVLM_OK;
    *memory = new_memory(device, kind, &error);
    if (error != CL_SUCCESS && tvlm_opencl_spares_release(device)) *memory = new_memory(device, kind, &error);
    return error == CL_SUCCESS ? TVLM_OK : tvlm_opencl_fail(&device->base, error, call);
}

static tvlm_status image_create(opencl_device *device, const opencl_texture *texture, int32_t width,
                                int32_t height, cl_uint levels, opencl_memory_kind *kind, cl_mem *image) {
    const size_t slices = tvlm_opencl_slices(&texture->base);
    *kind = (opencl_memory_kind){.bytes = (size_t)width * (size_t)height * slices *
                                          tvlm_opencl_texel_bytes(&texture->base),
                                 .slices = slices,
                                 .width = width,
                                 .height = height,
                                 .levels = levels,
                                 .order = texture->components == 1 ? CL_R : CL_RGBA,
                                 .type = channel_type(tvlm_texture_format(&texture->base))};
    return memory_of_kind(device, kind, image);
}

/*
 * Clears an array: that of levels 1 and up, and for ragged textures also that of level 0. At the edge of a
 * level the linear filter reads the texel beyond it with weight 0. That texel may belong to no level, or to
 * no image. It must not be NaN, since 0 * NaN is NaN.
 */
static tvlm_status clear(opencl_device *device, const opencl_texture *texture, cl_mem image, int32_t width,
                         int32_t height) {
    const float zero[4] = {0.0f, 0.0f, 0.0f, 0.0f};
    const size_t origin[3] = {0, 0, 0};
    const size_t region[3] = {(size_t)width, (size_t)height, tvlm_opencl_slices(&texture->base)};
    const cl_int error = clEnqueueFillImage(device->queue, image, zero, origin, region, 0, NULL, NULL);
    return error == CL_SUCCESS ? TVLM_OK : tvlm_opencl_fail(&device->base, error, "clEnqueueFillImage");
}

/* Refuses what is larger than the device's limits. Otherwise drivers answer with whatever error they like
 * (PoCL 3.1 with CL_INVALID_OPERATION). */
static tvlm_status check_limits(const opencl_device *device, const tvlm_texture *shape) {
    const tvlm_device_info *info = &device->base.info;
    if (shape->width <= info->image_width_max && shape->height <= info->image_height_max &&
        tvlm_opencl_slices(shape) <= (size_t)info->image_slices_max)
        return TVLM_OK;
    return tvlm_fail(&device->base.log, TVLM_ERROR_DEVICE_MEMORY,
                     "an image of %dx%d with %zu slices; %s has at most %dx%d with %d", (int)shape->width,
                     (int)shape->height, tvlm_opencl_slices(shape), info->name, (int)info->image_width_max,
                     (int)info->image_height_max, (int)info->image_slices_max);
}

static tvlm_status images_create(opencl_device *device, opencl_texture *texture) {
    const tvlm_texture *shape = &texture->base;
    const bool native = MIP_LEVELS_ARE_NATIVE(device);
    TVLM_TRY(check_limits(device, shape));
    TVLM_TRY(image_create(device, texture, shape->width, shape->height, native ? (cl_uint)shape->levels : 1,
                          &texture->level0_kind, &texture->level0));
    tvlm_status status = TVLM_OK;
    if (shape->parts != NULL) status = clear(device, texture, texture->level0, shape->width, shape->height);
    if (status == TVLM_OK && shape->levels > 1 && !native) {
        rest_size(texture);
        status = image_create(device, texture, texture->rest_width, texture->rest_height, 1,
                              &texture->rest_kind, &texture->rest);
        if (status == TVLM_OK) {
            status = clear(device, texture, texture->rest, texture->rest_width, texture->rest_height);
            if (status != TVLM_OK) clReleaseMemObject(texture->rest);
        }
    }
    if (status != TVLM_OK) clReleaseMemObject(texture->level0);
    return status;
}

/* How many texels a texture has in plain memory. */
static size_t all_texels(const tvlm_texture *texture) {
    size_t texels = 0;
    if (texture->parts == NULL)
        return tvlm_opencl_level_offset(texture, texture->levels) * tvlm_opencl_slices(texture);
    return tvlm_texture_before(texture, texture->images, &texels) ? texels : SIZE_MAX;
}

static tvlm_status memory_create(opencl_device *device, opencl_texture *texture) {
    const size_t texels = all_texels(&texture->base);
    if (texels > INT32_MAX)
        return tvlm_fail(&device->base.log, TVLM_ERROR_DEVICE_MEMORY,
                         "a texture of %zu texels is more than %d", texels, INT32_MAX);
    texture->level0_kind = (opencl_memory_kind){.bytes = texture->base.bytes};
    TVLM_TRY(memory_of_kind(device, &texture->level0_kind, &texture->level0));
    texture->base.bytes = texture->level0_kind.bytes;
    return TVLM_OK;
}

tvlm_status tvlm_opencl_texture_create(tvlm_device *base, const tvlm_texture *shape, tvlm_texture **texture) {
    opencl_device *device = (opencl_device *)base;
    opencl_texture *made = tvlm_allocate(1, sizeof *made);
    if (made == NULL) return tvlm_fail(&base->log, TVLM_ERROR_MEMORY, "out of memory for a texture");
    made->base = *shape;
    made->components = shape->scalar && tvlm_opencl_stores_scalar(device, tvlm_texture_format(shape)) ? 1 : 4;
    tvlm_status status = tvlm_opencl_ragged_create(device, made);
    if (status == TVLM_OK) {
        made->base.bytes = all_texels(&made->base) * tvlm_opencl_texel_bytes(&made->base);
        status = base->info.storage == TVLM_STORAGE_BUFFER ? memory_create(device, made)
                                                           : images_create(device, made);
        if (status != TVLM_OK) tvlm_opencl_ragged_release(device, made);
    }
    if (status != TVLM_OK) {
        free(made);
        return status;
    }
    if (made->rest != NULL)
        made->base.bytes = ((size_t)shape->width * (size_t)shape->height +
                            (size_t)made->rest_width * (size_t)made->rest_height) *
                           tvlm_opencl_slices(shape) * tvlm_opencl_texel_bytes(&made->base);
    tvlm_device_takes(base, made->base.bytes);
    *texture = &made->base;
    return TVLM_OK;
}

static void let_go(opencl_device *device, cl_mem memory, const opencl_memory_kind *kind, bool handed_out) {
    if (handed_out)
        tvlm_opencl_release(device, memory);
    else
        tvlm_opencl_spare_give(device, memory, kind);
}

void tvlm_opencl_texture_destroy(tvlm_device *device, tvlm_texture **texture) {
    opencl_texture *gone = (opencl_texture *)*texture;
    if (gone == NULL) return;
    tvlm_device_gives(device, gone->base.bytes);
    tvlm_opencl_ragged_release((opencl_device *)device, gone);
    tvlm_device_gives(device, gone->carry_bytes);
    let_go((opencl_device *)device, gone->level0, &gone->level0_kind, gone->handed_out);
    let_go((opencl_device *)device, gone->rest, &gone->rest_kind, gone->handed_out);
    tvlm_opencl_release((opencl_device *)device, gone->carry);
    free(gone);
    *texture = NULL;
}

/* Where one slice of one level lies: an image region, or an offset into the buffer. */
typedef struct slice_place {
    cl_mem memory;
    size_t origin[4], region[3];
    size_t offset, bytes;
} slice_place;

static slice_place place_of(const opencl_device *device, const opencl_texture *texture, int32_t level,
                            int32_t slice) {
    const bool ragged = texture->base.parts != NULL;
    const int32_t image = slice / texture->base.layers;
    const tvlm_texture alone = ragged ? tvlm_texture_image(&texture->base, image) : texture->base;
    const tvlm_texture *const shape = &alone;
    const size_t texel_bytes = tvlm_opencl_texel_bytes(&texture->base);
    const size_t w = (size_t)tvlm_level_side(shape->width, level),
                 h = (size_t)tvlm_level_side(shape->height, level);
    slice_place place = {texture->level0, {0, 0, (size_t)slice, 0}, {w, h, 1}, 0, w * h * texel_bytes};
    if (device->base.info.storage == TVLM_STORAGE_BUFFER) {
        size_t before = 0;
        if (ragged) (void)tvlm_texture_before(&texture->base, image, &before); /* cannot fail */
        before += tvlm_opencl_level_offset(shape, level) * tvlm_opencl_slices(shape);
        const int32_t behind = ragged ? slice % shape->layers : slice;
        place.offset = (before + (size_t)behind * w * h) * texel_bytes;
    } else if (MIP_LEVELS_ARE_NATIVE(device)) {
        place.origin[3] = (size_t)level;
    } else if (level > 0) {
        place.memory = texture->rest;
        tvlm_opencl_level_corner(shape, level, place.origin);
    }
    return place;
}

static cl_int transfer_in(const opencl_device *device, const slice_place *place, void *texels) {
    if (device->base.info.storage == TVLM_STORAGE_BUFFER)
        return clEnqueueReadBuffer(device->queue, place->memory, CL_TRUE, place->offset, place->bytes, texels,
                                   0, NULL, NULL);
    return clEnqueueReadImage(device->queue, place->memory, CL_TRUE, place->origin, place->region, 0, 0,
                              texels, 0, NULL, NULL);
}

static cl_int transfer_out(const opencl_device *device, const slice_place *place, const void *texels) {
    if (device->base.info.storage == TVLM_STORAGE_BUFFER)
        return clEnqueueWriteBuffer(device->queue, place->memory, CL_TRUE, place->offset, place->bytes,
                                    texels, 0, NULL, NULL);
    return clEnqueueWriteImage(device->queue, place->memory, CL_TRUE, place->origin, place->region, 0, 0,
                               texels, 0, NULL, NULL);
}

/* Whether texels are stored in the form in which the caller has them. */
static bool is_plain(const opencl_texture *texture) {
    return texture->base.format == TVLM_FORMAT_F32 && !texture->base.scalar;
}

/* Turns `count` stored components into texels of four floats. Components that a scalar texture does not keep
 * become 0. Texels of one component are spread from the last one on, since both forms begin at the same
 * place. */
static void to_rgba(const opencl_texture *texture, const void *stored, size_t count, float *rgba) {
    const size_t components = (size_t)texture->components;
    tvlm_components_load(tvlm_texture_format(&texture->base), stored, count, rgba);
    if (!texture->base.scalar) return;
    for (size_t i = count / components; i-- > 0;) {
        rgba[4 * i] = rgba[components * i];
        rgba[4 * i + 1] = rgba[4 * i + 2] = rgba[4 * i + 3] = 0.0f;
    }
}

/* Turns texels of four floats into `count` components as they are stored. */
static void from_rgba(const opencl_texture *texture, const float *rgba, size_t count, void *stored) {
    tvlm_components_store(tvlm_texture_format(&texture->base), rgba, texture->components == 1 ? 4 : 1, count,
                          stored);
}

tvlm_status tvlm_opencl_texture_read(tvlm_device *base, tvlm_texture *texture, int32_t level, int32_t slice,
                                     float *rgba) {
    opencl_device *device = (opencl_device *)base;
    const opencl_texture *from = (const opencl_texture *)texture;
    const slice_place place = place_of(device, from, level, slice);
    const bool plain = is_plain(from);
    void *texels = plain ? rgba : tvlm_allocate(place.bytes, 1);
    if (texels == NULL) return tvlm_fail(&base->log, TVLM_ERROR_MEMORY, "out of memory to read a texture");
    const cl_int error = transfer_in(device, &place, texels);
    if (!plain) {
        if (error == CL_SUCCESS) to_rgba(from, texels, place.bytes / component_bytes(texture), rgba);
        free(texels);
    }
    return error == CL_SUCCESS ? TVLM_OK : tvlm_opencl_fail(base, error, "reading a texture");
}

tvlm_status tvlm_opencl_texture_write(tvlm_device *base, tvlm_texture *texture, int32_t slice,
                                      const float *rgba) {
    opencl_device *device = (opencl_device *)base;
    opencl_texture *to = (opencl_texture *)texture;
    const slice_place place = place_of(device, to, 0, slice);
    to->levels_there = 0;
    if (is_plain(to)) {
        const cl_int error = transfer_out(device, &place, rgba);
        return error == CL_SUCCESS ? TVLM_OK : tvlm_opencl_fail(base, error, "writing a texture");
    }
    void *texels = tvlm_allocate(place.bytes, 1);
    if (texels == NULL) return tvlm_fail(&base->log, TVLM_ERROR_MEMORY, "out of memory to write a texture");
    from_rgba(to, rgba, place.bytes / component_bytes(texture), texels);
    const cl_int error = transfer_out(device, &place, texels);
    free(texels);
    return error == CL_SUCCESS ? TVLM_OK : tvlm_opencl_fail(base, error, "writing a texture");
}

tvlm_status tvlm_opencl_texture_native(tvlm_device *device, tvlm_texture *texture, void *handles[2]) {
    (void)device;
    ((opencl_texture *)texture)->handed_out = true;
    handles[0] = ((opencl_texture *)texture)->level0;
    handles[1] = ((opencl_texture *)texture)->rest;
    return TVLM_OK;
}

/* Copies all slices of an image, or one level of them if it has levels: cl_khr_mipmap_image takes the level
 * as the last element of the origin. */
static cl_int copy_image(opencl_device *device, cl_mem from, cl_mem to, int32_t width, int32_t height,
                         size_t slices, int32_t level) {
    const size_t origin[4] = {0, 0, 0, (size_t)level}, region[3] = {(size_t)width, (size_t)height, slices};
    return clEnqueueCopyImage(device->queue, from, to, origin, origin, region, 0, NULL, NULL);
}

tvlm_status tvlm_opencl_texture_copy(tvlm_device *base, const tvlm_texture *from, tvlm_texture *to) {
    opencl_device *device = (opencl_device *)base;
    const opencl_texture *source = (const opencl_texture *)from, *result = (const opencl_texture *)to;
    const size_t slices = tvlm_opencl_slices(from);
    const int32_t levels = MIP_LEVELS_ARE_NATIVE(device) ? from->levels : 1;
    cl_int error = CL_SUCCESS;
    device->unsent = true;
    ((opencl_texture *)to)->levels_there = 0;
    if (base->info.storage == TVLM_STORAGE_BUFFER) {
        const size_t bytes =
            tvlm_opencl_level_offset(from, from->levels) * slices * tvlm_opencl_texel_bytes(from);
        error =
            clEnqueueCopyBuffer(device->queue, source->level0, result->level0, 0, 0, bytes, 0, NULL, NULL);
    }
    for (int32_t n = 0; base->info.storage != TVLM_STORAGE_BUFFER && error == CL_SUCCESS && n < levels; ++n)
        error = copy_image(device, source->level0, result->level0, tvlm_level_side(from->width, n),
                           tvlm_level_side(from->height, n), slices, n);
    if (error == CL_SUCCESS && source->rest != NULL)
        error = copy_image(device, source->rest, result->rest, source->rest_width, source->rest_height,
                           slices, 0);
    return error == CL_SUCCESS ? TVLM_OK : tvlm_opencl_fail(base, error, "a copy of a texture");
}

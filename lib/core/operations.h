/* SPDX-License-Identifier: Apache-2.0 */
/*
 * operations.h: what a backend can do. Each operation has a function type, tvlm_NAME_operation, whose comment
 * is its manual, and an entry in the list at the end, from which struct tvlm_backend, the tables of both
 * backends and the prototypes of their functions are made: tvlm_opencl_NAME and tvlm_reference_NAME.
 *
 * Conventions:
 * - Work is enqueued in order. Only what ends in _read, what says so below, and finish wait for it.
 * - Arguments were checked above. An operation reports what only it can know (device memory, errors of a
 *   driver): it logs that through device->log and leaves nothing half made.
 * - An operation works on all images of the textures that it is given, where it takes no image.
 */
#ifndef TVLM_CORE_OPERATIONS_H
#define TVLM_CORE_OPERATIONS_H

#include "core/operands.h"

/* ---- The device ---- */

/* Waits for what is enqueued and frees all that belongs to the device, and the device. */
typedef void tvlm_destroy_operation(tvlm_device *device);

/* Finds whether textures may be bytes, and which of those are one component, where nobody knows yet: sets stores_bytes of the
 * device, and stores_scalar. Who wants bytes asks before he looks at these. Nothing is known where it fails. */
typedef tvlm_status tvlm_ask_bytes_operation(tvlm_device *device);

/* Waits until everything that was enqueued is done. */
typedef tvlm_status tvlm_finish_operation(tvlm_device *device);

/* Sends to the device what was enqueued and is waited for by nobody: a driver may keep it until it is asked.
 * Each public function ends with it. That the device cannot take it is found where its results are read. */
typedef void tvlm_flush_operation(tvlm_device *device);

/* ---- Buffers ---- */

/* The content of a new buffer is undefined. */
typedef tvlm_status tvlm_buffer_create_operation(tvlm_device *device, size_t bytes, tvlm_buffer **buffer);

/* Sets *buffer to NULL. Work that was enqueued may still use the buffer. */
typedef void tvlm_buffer_destroy_operation(tvlm_device *device, tvlm_buffer **buffer);

/* The host memory may be reused when this returns. */
typedef tvlm_status tvlm_buffer_write_operation(tvlm_device *device, tvlm_buffer *buffer, size_t offset,
                                                size_t bytes, const void *host);

typedef tvlm_status tvlm_buffer_read_operation(tvlm_device *device, tvlm_buffer *buffer, size_t offset,
                                               size_t bytes, void *host);

/* `from` and `to` are different buffers. */
typedef tvlm_status tvlm_buffer_copy_operation(tvlm_device *device, tvlm_buffer *from, size_t from_offset,
                                               tvlm_buffer *to, size_t to_offset, size_t bytes);

/*
 * A write that waits for no work, and that no work waits for: it goes through a queue of its own where there
 * is one. Nothing that was enqueued may still use the buffer. Until buffer_arrive, which waits for this write
 * and for nothing else, the host memory must stay as it is and nobody uses the buffer.
 */
typedef tvlm_status tvlm_buffer_send_operation(tvlm_device *device, tvlm_buffer *buffer, size_t bytes,
                                               const void *host);
typedef tvlm_status tvlm_buffer_arrive_operation(tvlm_device *device, tvlm_buffer *buffer);

/* What the backend itself works with (cl_mem), which the caller does not own. */
typedef tvlm_status tvlm_buffer_native_operation(tvlm_device *device, tvlm_buffer *buffer, void **handle);

/* Makes a buffer of the application's own memory, which is retained until buffer_destroy. `written`: the
 * buffer is only written, else only read. ARGUMENT where the memory is no buffer, or may not be used so. */
typedef tvlm_status tvlm_buffer_wrap_operation(tvlm_device *device, void *handle, bool written,
                                               tvlm_buffer **buffer);

/*
 * Makes a plane of the application's own memory, buffer or image, which is retained until buffer_destroy and
 * only read. `sharing` is NULL, or the name of the extension by which the memory is shared with another
 * interface: then it is acquired now, and released by buffer_destroy. ARGUMENT where the memory is neither, or
 * may not be read, or an image of a kind or format that is not read; UNSUPPORTED without that extension.
 */
typedef tvlm_status tvlm_plane_wrap_operation(tvlm_device *device, void *handle, const char *sharing,
                                              tvlm_plane *plane);

/* ---- Textures ---- */

/*
 * Ragged textures (struct tvlm_texture) are for creation, reading, writing, levels, source, sample, pack, and those families
 * that the registry says so of (tvlm_grid_info.ragged): each makes all images in one launch. Of storages, mipmapped has none.
 */

/*
 * Makes a texture as `shape` says, whose `bytes` is not looked at. Its content is undefined. The status is
 * DEVICE_MEMORY, with a line in the log, where it is too large.
 */
typedef tvlm_status tvlm_texture_create_operation(tvlm_device *device, const tvlm_texture *shape,
                                                  tvlm_texture **texture);

/* Sets *texture to NULL. Work that was enqueued may still use the texture. */
typedef void tvlm_texture_destroy_operation(tvlm_device *device, tvlm_texture **texture);

/* Reads one slice of one level as width * height RGBA floats. */
typedef tvlm_status tvlm_texture_read_operation(tvlm_device *device, tvlm_texture *texture, int32_t level,
                                                int32_t slice, float *rgba);

/* Writes one slice of level 0. */
typedef tvlm_status tvlm_texture_write_operation(tvlm_device *device, tvlm_texture *texture, int32_t slice,
                                                 const float *rgba);

/* Copies all levels; `to` has the shape of `from`. */
typedef tvlm_status tvlm_texture_copy_operation(tvlm_device *device, const tvlm_texture *from,
                                                tvlm_texture *to);

/* What the backend itself works with: one or two cl_mem, which the caller does not own. */
typedef tvlm_status tvlm_texture_native_operation(tvlm_device *device, tvlm_texture *texture,
                                                  void *handles[2]);

/* Makes levels 1 and up of all slices of `count` different textures from their level 0. */
typedef tvlm_status tvlm_mips_operation(tvlm_device *device, tvlm_texture *const *textures, int32_t count);

/* Makes what lies above the tiles, grown by their reach; the rest of the levels is up to date. */
typedef tvlm_status tvlm_mips_tiles_operation(tvlm_device *device, tvlm_texture *texture,
                                              const tvlm_tiles *tiles);

/* ---- What is handed in ---- */

/* Turns pixels into r, g, b and luma in level 0 of one image: clamped to [0, 1], NaN to 0, composited on
 * white. */
typedef tvlm_status tvlm_source_operation(tvlm_device *device, tvlm_buffer *pixels, const tvlm_pixels *layout,
                                          int32_t image, tvlm_texture *out);

/*
 * Makes width x height pixels of a frame: red, green and blue as floats in [0, 1] without gaps, composited on
 * white, NaN as 0. Along each axis it takes the average over area where the frame shrinks, and interpolates
 * linearly where it grows (stack/resample.h), between the colours of pixels; chroma is that of the 2 x 2
 * pixels, not interpolated.
 */
typedef tvlm_status tvlm_planes_operation(tvlm_device *device, const tvlm_planes *planes, int32_t width,
                                          int32_t height, tvlm_buffer *out);

/*
 * Does the same as source with the pixels of the tiles alone. `packed`: layout->offset is where the first of them
 * begins, and each has side x side pixels without gaps, in the order of the tiles (row-major), also where the
 * image ends before.
 */
typedef tvlm_status tvlm_source_tiles_operation(tvlm_device *device, tvlm_buffer *pixels,
                                                const tvlm_pixels *layout, bool packed,
                                                const tvlm_tiles *tiles, tvlm_texture *out);

/* Finds which tiles of `side` pixels (of one image, row-major) would differ from the source by more than
 * `threshold` in r, g, b or luma: changed[tile] is 1 for those, else 0. Waits. */
typedef tvlm_status tvlm_source_changed_operation(tvlm_device *device, tvlm_buffer *pixels,
                                                  const tvlm_pixels *layout, int32_t image,
                                                  const tvlm_texture *source, int32_t side, float threshold,
                                                  int32_t *changed);

/* Puts a grid that was handed in into level 0 of one image of `out`, all layers: what is not finite becomes
 * 0, vectors become unit vectors, and all else is clamped. */
typedef tvlm_status tvlm_input_operation(tvlm_device *device, tvlm_buffer *data, const tvlm_input *input,
                                         int32_t image, tvlm_texture *out);

/* Finds the first value that is not finite: its number is (row * columns + column) * channels + channel; -1:
 * all are finite. Waits. */
typedef tvlm_status tvlm_input_check_operation(tvlm_device *device, tvlm_buffer *data,
                                               const tvlm_input *input, int64_t *first);

/* Finds whether any cell has a direction as a vector (tvlm_input_directions of core/input.h). Waits. */
typedef tvlm_status tvlm_input_directions_operation(tvlm_device *device, tvlm_buffer *data,
                                                    const tvlm_input *input, bool *any);

/* ---- Families ---- */

/* Makes level 0 of args->out for all its images, and of args->beside. Each generated grid has an operation of its own,
 * named in TVLM_GENERATED_GRIDS (registry.h). */
typedef tvlm_status tvlm_generate_operation(tvlm_device *device, const tvlm_generate_args *args);

/* Keeps what the next frame needs of one image: tvlm_remember_args. Scores are clamped to [0, 1], NaN to 0. */
typedef tvlm_status tvlm_remember_operation(tvlm_device *device, const tvlm_remember_args *args);

/* Puts out->width * out->height floats into level 0 of the only slice of `out`: clamped to [0, 1], NaN to
 * 0. */
typedef tvlm_status tvlm_relevance_operation(tvlm_device *device, tvlm_buffer *scores, tvlm_texture *out);

/* Finds the flow between two sources: core/flow.h. Asked again for the same size it allocates nothing. */
typedef tvlm_status tvlm_flow_operation(tvlm_device *device, const tvlm_flow_args *args);

/* ---- Reading channels ---- */

/* Reads count4 groups of four channels each (refs[4 * count4]) at `count` points (tvlm_point) into
 * out[point * 4 * count4 + channel], floats. */
typedef tvlm_status tvlm_sample_operation(tvlm_device *device, const tvlm_bundle *bundle, const int32_t *refs,
                                          int32_t count4, tvlm_buffer *points, int32_t count,
                                          tvlm_buffer *out);

/* Finds the gradients of samples: tvlm_backward. The same bits come out of the same input on every run. */
typedef tvlm_status tvlm_sample_backward_operation(tvlm_device *device, const tvlm_backward *backward);

/* Averages the probes at each tvlm_footprint_place; `out` is laid out as for sample. */
typedef tvlm_status tvlm_footprint_operation(tvlm_device *device, const tvlm_bundle *bundle,
                                             const int32_t *refs, int32_t count4, tvlm_buffer *places,
                                             int32_t count, tvlm_buffer *out);

/* Cuts a patch at each tvlm_patch_place: out[place.number][channel][side][side] of plan->format. */
typedef tvlm_status tvlm_patches_operation(tvlm_device *device, const tvlm_bundle *bundle,
                                           const tvlm_patch_plan *plan, tvlm_buffer *places, int32_t count,
                                           tvlm_buffer *out);

/* Samples in the middle of what the bundle's image leaves of every texel of level 0 of `out`, for all its images;
 * refs[4 * out->layers]. */
typedef tvlm_status tvlm_pack_operation(tvlm_device *device, const tvlm_bundle *bundle, const int32_t *refs,
                                        float level, tvlm_texture *out);

/* Does the same with image `from` of the bundle, into image `to` of `out` alone. */
typedef tvlm_status tvlm_pack_slot_operation(tvlm_device *device, const tvlm_bundle *bundle,
                                             const int32_t *refs, float level, int32_t from, int32_t to,
                                             tvlm_texture *out);

/* Copies level 0 of one component of a slice, exactly, to component 0 of slice 0 of `out`, which has its
 * size; the other components become 0. */
typedef tvlm_status tvlm_pick_operation(tvlm_device *device, const tvlm_texture *from, int32_t slice,
                                        int32_t component, tvlm_texture *out);

/* ---- Scores ---- */

/* Scores all candidates: scores[columns * rows], floats. With a ranking, which may be NULL, the best of them are found
 * as topk finds them: a device may do both at once. */
typedef tvlm_status tvlm_score_operation(tvlm_device *device, const tvlm_bundle *bundle,
                                         const tvlm_score_group *groups, int32_t group_count,
                                         const tvlm_score_combination *combination,
                                         const tvlm_candidates *candidates, const tvlm_ranking *ranking,
                                         tvlm_buffer *scores);

/* scores[i] += bonus[i], floats. */
typedef tvlm_status tvlm_score_add_operation(tvlm_device *device, tvlm_buffer *scores, tvlm_buffer *bonus,
                                             int32_t count);

/* Finds the k best of n scores: k pairs (index, bits of the score), best first, ties by the lower index, NaN
 * last. 1 <= k <= n < 2^28. */
typedef tvlm_status tvlm_topk_operation(tvlm_device *device, tvlm_buffer *scores, int32_t n, int32_t k,
                                        tvlm_buffer *result);

/* Makes positions of a ranking, as topk leaves it: tvlm_placing says where they go. */
typedef tvlm_status tvlm_place_operation(tvlm_device *device, const tvlm_placing *placing,
                                         tvlm_buffer *ranking, int32_t count);

/*
 * Makes places to cut patches out of (patches) from positions: places[count]. *bad becomes the first position
 * whose numbers are not finite, whose size is not above 0, or whose height is below 0, or -1, which waits; with `bad` NULL it does not
 * wait. Such a position is cut out where the image begins, with a step of one pixel.
 */
typedef tvlm_status tvlm_patch_places_operation(tvlm_device *device, const tvlm_position_list *positions,
                                                tvlm_buffer *places, int32_t *bad);

/* Keeps out->width * out->height scores in component 0 of one image of `out`, brought to [0, 1] by the
 * smallest and the largest of those that are numbers (0 where all are equal, or none is). */
typedef tvlm_status tvlm_keep_pass_operation(tvlm_device *device, tvlm_buffer *scores, int32_t image,
                                             tvlm_texture *out);

/*
 * Finds what each picture of the plan loses of each tile's luma: floats, losses[((picture * rows + row) *
 * columns + column) * 2], from float `offset` on. The first is the sum of the squared error over the tile's
 * pixels. The second is how much of its detail cannot be read: from 0 to the number of these. With the variances v of
 * the image and v' of the picture and their covariance k over a window, F = TVLM_BUDGET_FLOOR, and sums over the windows,
 *     c = sum of (v + F) (k + F) / sqrt((v + F) (v' + F)) over sum of v + F
 * is the correlation of detail, and with m, the mean of v, and S(x) = 1 / (1 + e^-x) the loss is
 *     pixels * m / (m + TVLM_BUDGET_SEEN) * (S((plan->legible - c) / TVLM_BUDGET_SOFT) - S((plan->legible - 1) /
 *     TVLM_BUDGET_SOFT)).
 * What of a window or a tile lies beyond the image does not count.
 */
typedef tvlm_status tvlm_losses_operation(tvlm_device *device, const tvlm_texture *source,
                                          const tvlm_budget_plan *plan, tvlm_buffer *losses, size_t offset);

/* Makes the first picture of the plan, of all components of the source and not enlarged: level 0 of image plan->image
 * of `out`, which has the picture's size, and a layer and the format of the source. */
typedef tvlm_status tvlm_thumbnail_operation(tvlm_device *device, const tvlm_texture *source,
                                             const tvlm_budget_plan *plan, tvlm_texture *out);

/*
 * Writes what is seen of an image at a quarter of its size: from byte `offset` on, TVLM_INK_BYTES of each texel of level
 * TVLM_INK_LEVEL, or of the last level of a source with fewer, row after row: r, g, b, and what is finer: the largest range, of r, g or b, of the texels of the level before
 * that this one lies over (0 of level 0). They are the bytes nearest to 255
 * times what is in [0, 1], ties away from zero; devices may differ by one. Of W pixels of a side texel i of W_n covers
 * those from i W / W_n to (i + 1) W / W_n, which are four where 4 divides W.
 */
typedef tvlm_status tvlm_ink_operation(tvlm_device *device, const tvlm_texture *source, int32_t image,
                                       tvlm_buffer *colours, size_t offset);

/* Runs a network on the only image of a texture, whose channels it reads in order: planes[output][row][column], floats, of
 * the size of the last layer (core/network.h). */
typedef tvlm_status tvlm_network_operation(tvlm_device *device, const tvlm_network *network,
                                           const tvlm_texture *inputs, tvlm_buffer *planes);

/* ---- The encoder's vectors ---- */

/* The product of two matrices: tvlm_gemm says which. */
typedef tvlm_status tvlm_gemm_operation(tvlm_device *device, const tvlm_gemm *gemm);

/*
 * Brings vectors to length 1. *bad becomes the first of them that has a value which is not finite, or is
 * shorter than TVLM_FEATURE_FLOOR, or -1, which waits; with `bad` NULL it does not wait. Such a vector
 * becomes 0.
 */
typedef tvlm_status tvlm_unit_vectors_operation(tvlm_device *device, const tvlm_units *units, int32_t *bad);

/* Fills in features->inverse for that image. */
typedef tvlm_status tvlm_feature_lengths_operation(tvlm_device *device, const tvlm_features *features);

/* Copies the image's vectors of a level as a matrix: matrix[offset + cell * dimension + i], floats. */
typedef tvlm_status tvlm_feature_matrix_operation(tvlm_device *device, const tvlm_features *features,
                                                  int32_t level, tvlm_buffer *matrix, size_t offset);

/*
 * Puts the cosine of each cell with a unit vector (4 * layers floats) into component 0 of level 0 of image
 * features->image of `out`, which has the features' size; the other components become 0.
 */
typedef tvlm_status tvlm_similarity_operation(tvlm_device *device, const tvlm_features *features,
                                              tvlm_buffer *query, tvlm_texture *out);

/* Does the same for `count` cells (row * width + column) only, summed alike: that of cells[n] goes to
 * cosines[n]. */
typedef tvlm_status tvlm_similarity_cells_operation(tvlm_device *device, const tvlm_features *features,
                                                    tvlm_buffer *query, tvlm_buffer *cells, int32_t count,
                                                    tvlm_buffer *cosines);

/* Turns the products of `count` unit vectors with each cell, products[query * cells + cell], into cosines in
 * [-1, 1]. */
typedef tvlm_status tvlm_cosines_operation(tvlm_device *device, const tvlm_features *features,
                                           tvlm_buffer *products, int32_t count);

/* Puts cosines, as they lie there, into level 0 of one image of `out`: each as a channel, or their largest or
 * mean in component 0 (TVLM_MAPS_*); the other components become 0. */
typedef tvlm_status tvlm_maps_operation(tvlm_device *device, tvlm_buffer *cosines, int32_t count, int32_t how,
                                        int32_t image, tvlm_texture *out);

/* Attention over the vectors of grids: tvlm_attention says what of, and where to. */
typedef tvlm_status tvlm_attend_operation(tvlm_device *device, const tvlm_attention *attention);

/* ---- From frame to frame ---- */

/* Moves vectors: tvlm_warp. Cells that no vector comes from become 0, and their paths are not known. */
typedef tvlm_status tvlm_warp_operation(tvlm_device *device, const tvlm_warp *warp, tvlm_texture *out);

/* out = old + weights[cell] (fresh - old), for level 0 of textures of one image and one size. */
typedef tvlm_status tvlm_blend_operation(tvlm_device *device, const tvlm_texture *old,
                                         const tvlm_texture *fresh, tvlm_buffer *weights, tvlm_texture *out);

/* Moves points: tvlm_follow. */
typedef tvlm_status tvlm_follow_operation(tvlm_device *device, const tvlm_follow *follow);

/* ---- What models take ---- */

/*
 * Resizes pixels (TVLM_PIXEL_U8; alpha is not read) to plan->y.size rows of plan->x.size RGB bytes without
 * gaps, from byte `offset` of `out` on: along rows, rounded to bytes, then along columns, rounded again.
 * `table` holds the weights of both axes.
 */
typedef tvlm_status tvlm_resize_operation(tvlm_device *device, tvlm_buffer *pixels, const tvlm_pixels *layout,
                                          tvlm_buffer *table, const tvlm_resize *plan, tvlm_buffer *out,
                                          size_t offset);

/*
 * Makes out[count * merge^2][3 * temporal * patch^2] floats: values[channel * 256 + byte] of the frames'
 * bytes, for tokens 0 .. count - 1; and chosen[listed * merge^2][...] for those that tokens[listed] names.
 * Where there are 0 of either, its buffers are NULL.
 */
typedef tvlm_status tvlm_patchify_operation(tvlm_device *device, tvlm_buffer *pixels,
                                            const tvlm_patchify *layout, tvlm_buffer *values,
                                            tvlm_buffer *tokens, tvlm_buffer *chosen, tvlm_buffer *out);

/* ---- The list ---- */

/*
 * X(name, test, row): the test program in tests/ that fails where the operation does nothing, and the row of
 * `tvlm bench` that runs it. tests/test_operations.c holds every entry to both.
 *
 * These a backend must have. Closing a device has no row: it is done once.
 */
#define TVLM_NEEDED_OPERATIONS(X)                                                                            \
    X(destroy, "test_device_context", "")                                                                    \
    X(finish, "test_interop", "wait")                                                                        \
    X(flush, "test_flush", "select, again")                                                                  \
    X(buffer_create, "test_texture", "buffer")                                                               \
    X(buffer_destroy, "test_texture", "buffer")                                                              \
    X(buffer_write, "test_texture", "upload")                                                                \
    X(buffer_read, "test_texture", "download")                                                               \
    X(buffer_copy, "test_texture", "copy")                                                                   \
    X(texture_create, "test_texture", "texture")                                                             \
    X(texture_destroy, "test_texture", "texture")                                                            \
    X(texture_read, "test_texture", "texture read")                                                          \
    X(texture_write, "test_texture", "texture write")                                                        \
    X(texture_copy, "test_stream", "texture copy")                                                           \
    X(mips, "test_mips", "source levels")                                                                    \
    X(source, "test_source", "source")                                                                       \
    X(planes, "test_planes", "planes")                                                                       \
    X(source_tiles, "test_delta_upload", "delta frame, 10 %")                                                \
    X(source_changed, "test_delta", "changed tiles")                                                         \
    X(input, "test_input", "features upload")                                                                \
    X(input_check, "test_input", "check")                                                                    \
    X(input_directions, "test_input", "check")                                                               \
    X(remember, "test_temporal", "advance")                                                                  \
    X(relevance, "test_temporal", "advance, given")                                                          \
    X(flow, "test_flow", "flow")                                                                             \
    X(sample, "test_sample", "sample 273")                                                                   \
    X(sample_backward, "test_backward", "sample backward")                                                   \
    X(footprint, "test_footprint", "footprint 273")                                                          \
    X(patches, "test_patches", "patches 273, device")                                                        \
    X(pack, "test_sample", "pack")                                                                           \
    X(pack_slot, "test_stream", "pack, one image")                                                           \
    X(pick, "test_pick", "pick")                                                                             \
    X(score, "test_score", "score of cells")                                                                 \
    X(score_add, "test_stream", "score add")                                                                 \
    X(topk, "test_topk", "top 273 of 4096")                                                                  \
    X(place, "test_positions", "place 273")                                                                  \
    X(patch_places, "test_positions", "patch places 273")                                                    \
    X(keep_pass, "test_similarity", "keep pass")                                                             \
    X(network, "test_learned", "score by a network")                                                         \
    X(losses, "test_losses", "losses of pictures")                                                           \
    X(thumbnail, "test_thumbnail", "a thumbnail")                                                            \
    X(ink, "test_ink", "ink")                                                                                \
    X(gemm, "test_gemm", "100 queries")                                                                      \
    X(unit_vectors, "test_similarity", "unit vectors")                                                       \
    X(feature_lengths, "test_similarity", "features lengths")                                                \
    X(feature_matrix, "test_similarity", "features matrix")                                                  \
    X(similarity, "test_similarity", "similarity")                                                           \
    X(similarity_cells, "test_cascade", "a query by cascade")                                                \
    X(cosines, "test_similarity", "100 queries")                                                             \
    X(maps, "test_similarity", "maps")                                                                       \
    X(attend, "test_attend", "attention")                                                                    \
    X(warp, "test_warp", "warp")                                                                             \
    X(blend, "test_warp", "blend")                                                                           \
    X(follow, "test_follow", "follow 273")                                                                   \
    X(resize, "test_resize", "export resize")                                                                \
    X(patchify, "test_patchify", "export patchify")

/* These a backend need not have: the table of one without them names tvlm_plain_NAME (plain.c), which does
 * with the operations above what can be done so, and refuses the rest with a line. */
#define TVLM_OPTIONAL_OPERATIONS(X)                                                                          \
    X(ask_bytes, "test_bytes", "texture")                                                                    \
    X(buffer_send, "test_texture", "send")                                                                   \
    X(buffer_arrive, "test_texture", "send")                                                                 \
    X(buffer_native, "test_export", "handles")                                                               \
    X(buffer_wrap, "test_interop", "handles")                                                                \
    X(plane_wrap, "test_interop_images", "handles")                                                          \
    X(texture_native, "test_interop", "handles")                                                             \
    X(mips_tiles, "test_delta", "delta frame, 10 %")

#define TVLM_OPERATIONS(X) TVLM_NEEDED_OPERATIONS(X) TVLM_OPTIONAL_OPERATIONS(X)

#define TVLM_PLAIN(operation, ...) tvlm_##operation##_operation tvlm_plain_##operation;
TVLM_OPTIONAL_OPERATIONS(TVLM_PLAIN)
#undef TVLM_PLAIN

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * operations.h: what a backend can do. Each operation has a function type, tvlm_NAME_operation, whose comment
 * is its manual. It also has an entry in the list at the end of this file. From that list struct
 * tvlm_backend, the tables of both backends, and the prototypes of their functions are made: tvlm_opencl_NAME
 * and tvlm_reference_NAME. What the lab asks of a backend beside these is in lab/operations.h.
 *
 * Conventions:
 *   - Work is enqueued in order. Only three kinds of operations wait for it: those whose names end in _read,
 *     those whose comment says so, and finish.
 *   - Arguments were checked above. An operation reports only what it alone can know (device memory, errors
 *     of a driver): it logs that through device->log, and leaves nothing half made.
 *   - An operation that takes no image works on all images of the textures that it is given.
 */
#ifndef TVLM_CORE_OPERATIONS_H
#define TVLM_CORE_OPERATIONS_H

#include "core/operands.h"

/* ---- The device ---- */

/* Waits for what is enqueued, and frees the device and all that belongs to it. */
typedef void tvlm_destroy_operation(tvlm_device *device);

/* Finds whether textures may be of bytes, and which scalar textures of bytes have one component, unless that
 * is known already. It sets stores_bytes and stores_scalar of the device. It must have been called before
 * either of them is read for bytes. If it fails, both stay unknown. */
typedef tvlm_status tvlm_ask_bytes_operation(tvlm_device *device);

/* Waits until everything that was enqueued is done. */
typedef tvlm_status tvlm_finish_operation(tvlm_device *device);

/* Sends enqueued work that nobody waits for to the device, since a driver may hold it back until it is asked.
 * Each public function ends with this. If the device cannot take the work, that is found only where the results
 * are read. */
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

/* Gives what the backend itself works with (a cl_mem). The caller does not own it. */
typedef tvlm_status tvlm_buffer_native_operation(tvlm_device *device, tvlm_buffer *buffer, void **handle);

/* Makes a buffer of the application's own memory, which is retained until buffer_destroy. With `written` the
 * buffer is only written, otherwise only read. Fails with ARGUMENT where the memory is no buffer, or may not
 * be used in this way. */
typedef tvlm_status tvlm_buffer_wrap_operation(tvlm_device *device, void *handle, bool written,
                                               tvlm_buffer **buffer);

/*
 * Makes a plane of the application's own memory, a buffer or an image, which is retained until buffer_destroy
 * and only read. `sharing` is NULL, or the name of the extension by which the memory is shared with another
 * interface. Then the memory is acquired now, and released by buffer_destroy. Fails with
 *
 *   - ARGUMENT where the memory is neither a buffer nor an image, where it may not be read, or where it is an
 *     image of a kind or format that is not read;
 *   - UNSUPPORTED without that extension.
 */
typedef tvlm_status tvlm_plane_wrap_operation(tvlm_device *device, void *handle, const char *sharing,
                                              tvlm_plane *plane);

/* ---- Textures ---- */

/*
 * Ragged textures (struct tvlm_texture) are for creation, reading, writing, levels, source, sample, pack, and
 * those families whose grids the registry marks as ragged (tvlm_grid_info). Each of these makes all images in
 * one launch. Mipmapped storage has no ragged textures.
 */

/*
 * Makes a texture of the given shape, whose `bytes` is not looked at. Its content is undefined. Fails with
 * DEVICE_MEMORY, and a line in the log, where the texture is too large.
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

/* Gives what the backend itself works with: one or two cl_mem. The caller does not own them. */
typedef tvlm_status tvlm_texture_native_operation(tvlm_device *device, tvlm_texture *texture,
                                                  void *handles[2]);

/* Makes levels 1 and up of all slices of `count` different textures from their level 0. */
typedef tvlm_status tvlm_mips_operation(tvlm_device *device, tvlm_texture *const *textures, int32_t count);

/* Makes those texels of levels 1 and up that lie above the tiles, grown by their reach. The rest of the
 * levels is up to date already. */
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
 * linearly where it grows (stack/resample.h). Both work on the red, green and blue of the frame's pixels. In
 * NV12 all four pixels of a block of 2 x 2 have the chroma of that block, which is not interpolated.
 */
typedef tvlm_status tvlm_planes_operation(tvlm_device *device, const tvlm_planes *planes, int32_t width,
                                          int32_t height, tvlm_buffer *out);

/*
 * Does the same as source, but with the pixels of the tiles alone. With `packed` the tiles lie one behind the
 * other, row-major, from layout->offset on. Each has side x side pixels without gaps, also where the image ends
 * within the tile.
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

/* Puts a grid that was handed in into level 0 of one image of `out`, into all its layers. Values that are not
 * finite become 0, vectors become unit vectors, and all else is clamped. */
typedef tvlm_status tvlm_input_operation(tvlm_device *device, tvlm_buffer *data, const tvlm_input *input,
                                         int32_t image, tvlm_texture *out);

/* Finds the first value that is not finite. *first becomes its number, (row * columns + column) * channels +
 * channel, or -1 where all are finite. Waits. */
typedef tvlm_status tvlm_input_check_operation(tvlm_device *device, tvlm_buffer *data,
                                               const tvlm_input *input, int64_t *first);

/* Finds whether any cell has a direction as a vector (tvlm_input_directions of core/input.h). Waits. */
typedef tvlm_status tvlm_input_directions_operation(tvlm_device *device, tvlm_buffer *data,
                                                    const tvlm_input *input, bool *any);

/* ---- Families ---- */

/* Makes level 0 of args->out for all its images, and of args->beside. Each generated grid has an operation of
 * its own, which TVLM_GENERATED_GRIDS (registry.h) names. */
typedef tvlm_status tvlm_generate_operation(tvlm_device *device, const tvlm_generate_args *args);

/* Keeps what the next frame needs of one image: tvlm_remember_args. Scores are clamped to [0, 1], and NaN
 * becomes 0. */
typedef tvlm_status tvlm_remember_operation(tvlm_device *device, const tvlm_remember_args *args);

/* Puts out->width * out->height floats into level 0 of the only slice of `out`: clamped to [0, 1], NaN to
 * 0. */
typedef tvlm_status tvlm_relevance_operation(tvlm_device *device, tvlm_buffer *scores, tvlm_texture *out);

/* Finds the flow between two sources: core/flow.h. Another call for the same size allocates nothing. */
typedef tvlm_status tvlm_flow_operation(tvlm_device *device, const tvlm_flow_args *args);

/* ---- Reading channels ---- */

/* Reads count4 groups of four channels each (refs[4 * count4]) at `count` points (tvlm_point) into
 * out[point * 4 * count4 + channel], floats. */
typedef tvlm_status tvlm_sample_operation(tvlm_device *device, const tvlm_bundle *bundle, const int32_t *refs,
                                          int32_t count4, tvlm_buffer *points, int32_t count,
                                          tvlm_buffer *out);

/* Cuts a patch at each tvlm_patch_place: out[place.number][channel][side][side] of plan->format. */
typedef tvlm_status tvlm_patches_operation(tvlm_device *device, const tvlm_bundle *bundle,
                                           const tvlm_patch_plan *plan, tvlm_buffer *places, int32_t count,
                                           tvlm_buffer *out);

/* Samples refs[4 * out->layers] at every texel of level 0 of `out`, for all its images: in the middle of that
 * part of the texel which lies in the bundle's image. */
typedef tvlm_status tvlm_pack_operation(tvlm_device *device, const tvlm_bundle *bundle, const int32_t *refs,
                                        float level, tvlm_texture *out);

/* Does the same as pack for image `from` of the bundle alone, into image `to` of `out`. */
typedef tvlm_status tvlm_pack_slot_operation(tvlm_device *device, const tvlm_bundle *bundle,
                                             const int32_t *refs, float level, int32_t from, int32_t to,
                                             tvlm_texture *out);

/* Copies level 0 of one component of a slice, exactly, to component 0 of slice 0 of `out`, which has its
 * size; the other components become 0. */
typedef tvlm_status tvlm_pick_operation(tvlm_device *device, const tvlm_texture *from, int32_t slice,
                                        int32_t component, tvlm_texture *out);

/* ---- Scores ---- */

/* Scores all candidates: scores[columns * rows], floats. With a ranking, which may be NULL, the best scores
 * are found as topk finds them. A device may do both at once. */
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

/* Makes positions of a ranking that topk left: tvlm_placing says where they go. */
typedef tvlm_status tvlm_place_operation(tvlm_device *device, const tvlm_placing *placing,
                                         tvlm_buffer *ranking, int32_t count);

/*
 * Makes places for the operation patches from positions: places[count]. A position is bad if its numbers are
 * not finite, if its size is not above 0, or if its height is below 0. Its patch is cut out where the image
 * begins, with a step of one pixel. *bad becomes the number of the first bad position, or -1; that waits.
 * With `bad` NULL it does not wait.
 */
typedef tvlm_status tvlm_patch_places_operation(tvlm_device *device, const tvlm_position_list *positions,
                                                tvlm_buffer *places, int32_t *bad);

/* Keeps out->width * out->height scores in component 0 of one image of `out`, brought to [0, 1] by the
 * smallest and the largest of those that are numbers (0 where all are equal, or none is). */
typedef tvlm_status tvlm_keep_pass_operation(tvlm_device *device, tvlm_buffer *scores, int32_t image,
                                             tvlm_texture *out);

/*
 * Finds how much of each tile's luma is lost in each picture of the plan. The results are two floats for each
 * tile, at losses[((picture * rows + row) * columns + column) * 2], from float `offset` on, and with plan->kept after
 * each other for each image that is seen. The first is the
 * sum of the squared error over the tile's pixels. The second says how much of the tile's detail cannot be
 * read, from 0 to the number of its pixels. For each window v is the variance of the image, v' that of the
 * picture, and k their covariance. With F = TVLM_BUDGET_FLOOR and sums over the windows the correlation of
 * detail is
 *
 *     c = sum of (v + F) (k + F) / sqrt((v + F) (v' + F)) over sum of v + F
 *
 * With m, the mean of v, and S(x) = 1 / (1 + e^-x), the loss is
 *
 *     pixels * m / (m + TVLM_BUDGET_SEEN)
 *         * (S((plan->legible - c) / TVLM_BUDGET_SOFT) - S((plan->legible - 1) / TVLM_BUDGET_SOFT))
 *
 * The part of a window or a tile that lies beyond the image does not count.
 */
typedef tvlm_status tvlm_losses_operation(tvlm_device *device, const tvlm_texture *source,
                                          const tvlm_budget_plan *plan, tvlm_buffer *losses, size_t offset);

/* Keeps the luma of an image at a place of `kept`, for plans with tiles of `patch` pixels. */
typedef tvlm_status tvlm_losses_keep_operation(tvlm_device *device, const tvlm_texture *source, int32_t image,
                                               int32_t patch, const tvlm_budget_kept *kept, int32_t place);

/* Moves luma from a place of `kept` to a place of `moved`, both of frames of the source's size and of plans with tiles of `patch`
 * pixels. */
typedef tvlm_status tvlm_losses_move_operation(tvlm_device *device, const tvlm_texture *source, int32_t patch,
                                               const tvlm_budget_kept *kept, const tvlm_budget_move *move,
                                               const tvlm_budget_kept *moved);

/* Makes the first picture of the plan, reduced but not enlarged, with all components of the source. It goes
 * to level 0 of image plan->image of `out`, which has the picture's size, one layer, and the format of the
 * source. */
typedef tvlm_status tvlm_thumbnail_operation(tvlm_device *device, const tvlm_texture *source,
                                             const tvlm_budget_plan *plan, tvlm_texture *out);

/*
 * Writes what is seen of an image at a quarter of its size, from byte `offset` on: TVLM_INK_BYTES bytes for
 * each texel of level TVLM_INK_LEVEL, or of the last level where a source has fewer, row after row. The bytes
 * of a texel are
 *
 *   - r, g and b;
 *   - how much finer detail there is. This is the largest range of r, g or b among the texels of the level
 *     before that lie under this texel. It is 0 for texels of level 0.
 *
 * Each is the byte nearest to 255 times a value in [0, 1], ties away from zero; devices may differ by one.
 * Along a side of W pixels with W_n texels, texel i covers the pixels from i W / W_n to (i + 1) W / W_n,
 * which are four where 4 divides W.
 */
typedef tvlm_status tvlm_ink_operation(tvlm_device *device, const tvlm_texture *source, int32_t image,
                                       tvlm_buffer *colours, size_t offset);

/* ---- The encoder's vectors ---- */

/* The product of two matrices: tvlm_gemm says which. */
typedef tvlm_status tvlm_gemm_operation(tvlm_device *device, const tvlm_gemm *gemm);

/*
 * Brings vectors to length 1. A vector is bad if a value of it is not finite, or if it is shorter than
 * TVLM_FEATURE_FLOOR; it becomes 0. *bad becomes the number of the first bad vector, or -1; that waits. With
 * `bad` NULL it does not wait.
 */
typedef tvlm_status tvlm_unit_vectors_operation(tvlm_device *device, const tvlm_units *units, int32_t *bad);

/* Fills in features->inverse for the image features->image. */
typedef tvlm_status tvlm_feature_lengths_operation(tvlm_device *device, const tvlm_features *features);

/* Copies the vectors of one level of the image as a matrix: matrix[offset + cell * dimension + i], floats. */
typedef tvlm_status tvlm_feature_matrix_operation(tvlm_device *device, const tvlm_features *features,
                                                  int32_t level, tvlm_buffer *matrix, size_t offset);

/*
 * Puts the cosine of each cell with a unit vector (4 * layers floats) into component 0 of level 0 of image
 * features->image of `out`, which has the features' size; the other components become 0.
 */
typedef tvlm_status tvlm_similarity_operation(tvlm_device *device, const tvlm_features *features,
                                              tvlm_buffer *query, tvlm_texture *out);

/* Does the same for `count` cells only, which are given as row * width + column. Their cosines are summed in
 * the same way, and that of cells[n] goes to cosines[n]. */
typedef tvlm_status tvlm_similarity_cells_operation(tvlm_device *device, const tvlm_features *features,
                                                    tvlm_buffer *query, tvlm_buffer *cells, int32_t count,
                                                    tvlm_buffer *cosines);

/* Turns the products of `count` unit vectors with each cell, products[query * cells + cell], into cosines in
 * [-1, 1]. */
typedef tvlm_status tvlm_cosines_operation(tvlm_device *device, const tvlm_features *features,
                                           tvlm_buffer *products, int32_t count);

/* Puts cosines, laid out as the operation `cosines` leaves them, into level 0 of one image of `out`: each as
 * a channel, or their largest or mean in component 0 (TVLM_MAPS_*). The other components become 0. */
typedef tvlm_status tvlm_maps_operation(tvlm_device *device, tvlm_buffer *cosines, int32_t count, int32_t how,
                                        int32_t image, tvlm_texture *out);

/* ---- From frame to frame ---- */

/* Moves vectors: tvlm_warp. Cells to which no vector comes become 0, and their paths are not known. */
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
 * A backend must have these operations. Closing a device has no row, because it is done once.
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
    X(losses, "test_losses", "losses of pictures")                                                           \
    X(losses_keep, "test_losses", "a slot of a video")                                                       \
    X(losses_move, "test_losses", "a slot of a stream that moves along")                                     \
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
    X(warp, "test_warp", "warp")                                                                             \
    X(blend, "test_warp", "blend")                                                                           \
    X(follow, "test_follow", "follow 273")                                                                   \
    X(resize, "test_resize", "export resize")                                                                \
    X(patchify, "test_patchify", "export patchify")

/* A backend need not have these operations. Without one of them its table names tvlm_plain_NAME (plain.c).
 * That function uses the operations above where they can do the work, and otherwise refuses with a line. */
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

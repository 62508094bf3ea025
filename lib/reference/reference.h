/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reference.h: the reference backend: plain C that follows the definitions, obviously right before anything
 * else.
 *
 * Everything is computed in double and synchronously; a value is rounded only where it is stored, to float
 * and to its texture's format. The functions are those of struct tvlm_backend (core/backend.h), one file per
 * family and stage, under the names that lib/opencl and cl/ use too.
 */
#ifndef TVLM_REFERENCE_REFERENCE_H
#define TVLM_REFERENCE_REFERENCE_H

#include "core/backend.h"

/* device.c: buffers are host memory. */
typedef struct reference_buffer {
    tvlm_buffer base;
    unsigned char *data;
} reference_buffer;

static inline void *reference_data(tvlm_buffer *buffer) {
    return ((reference_buffer *)buffer)->data;
}

/* texture.c */
tvlm_status tvlm_reference_texture_create(tvlm_device *device, const tvlm_texture *shape,
                                          tvlm_texture **texture);
void tvlm_reference_texture_destroy(tvlm_device *device, tvlm_texture **texture);
tvlm_status tvlm_reference_texture_read(tvlm_device *device, tvlm_texture *texture, int32_t level,
                                        int32_t slice, float *rgba);
tvlm_status tvlm_reference_texture_write(tvlm_device *device, tvlm_texture *texture, int32_t slice,
                                         const float *rgba);

/* source.c, input.c, mips.c, sample.c, score.c, topk.c */
tvlm_status tvlm_reference_source(tvlm_device *device, tvlm_buffer *pixels, const tvlm_pixels *layout,
                                  int32_t image, tvlm_texture *out);
tvlm_status tvlm_reference_input(tvlm_device *device, tvlm_buffer *data, const tvlm_input *input,
                                 int32_t image, tvlm_texture *out);
tvlm_status tvlm_reference_input_check(tvlm_device *device, tvlm_buffer *data, const tvlm_input *input,
                                       int64_t *first);
tvlm_status tvlm_reference_source_tiles(tvlm_device *device, tvlm_buffer *pixels, const tvlm_pixels *layout,
                                        bool packed, const tvlm_tiles *tiles, tvlm_texture *out);
tvlm_status tvlm_reference_source_changed(tvlm_device *device, tvlm_buffer *pixels, const tvlm_pixels *layout,
                                          int32_t image, const tvlm_texture *source, int32_t side,
                                          float threshold, int32_t *changed);
tvlm_status tvlm_reference_mips(tvlm_device *device, tvlm_texture *texture);
tvlm_status tvlm_reference_sample(tvlm_device *device, const tvlm_bundle *bundle, const int32_t *refs,
                                  int32_t count4, tvlm_buffer *points, int32_t count, tvlm_buffer *out);
tvlm_status tvlm_reference_footprint(tvlm_device *device, const tvlm_bundle *bundle, const int32_t *refs,
                                     int32_t count4, tvlm_buffer *places, int32_t count, tvlm_buffer *out);
tvlm_status tvlm_reference_patches(tvlm_device *device, const tvlm_bundle *bundle,
                                   const tvlm_patch_plan *plan, tvlm_buffer *places, int32_t count,
                                   tvlm_buffer *out);
tvlm_status tvlm_reference_pack(tvlm_device *device, const tvlm_bundle *bundle, const int32_t *refs,
                                float level, tvlm_texture *out);
tvlm_status tvlm_reference_score(tvlm_device *device, const tvlm_bundle *bundle,
                                 const tvlm_score_group *groups, int32_t group_count,
                                 const tvlm_score_combination *combination, const tvlm_candidates *candidates,
                                 tvlm_buffer *scores);
tvlm_status tvlm_reference_topk(tvlm_device *device, tvlm_buffer *scores, int32_t n, int32_t k,
                                tvlm_buffer *result);
tvlm_status tvlm_reference_gemm(tvlm_device *device, const tvlm_gemm *gemm);

/* resize.c, patchify.c */
tvlm_status tvlm_reference_resize(tvlm_device *device, tvlm_buffer *pixels, const tvlm_pixels *layout,
                                  tvlm_buffer *table, const tvlm_resize *plan, tvlm_buffer *out,
                                  size_t offset);
tvlm_status tvlm_reference_patchify(tvlm_device *device, tvlm_buffer *pixels, const tvlm_patchify *layout,
                                    tvlm_buffer *values, tvlm_buffer *tokens, tvlm_buffer *out);

/* motion.c, temporal.c */
tvlm_status tvlm_reference_remember_luma(tvlm_device *device, const tvlm_texture *source, int32_t image,
                                         tvlm_texture *out);
tvlm_status tvlm_reference_remember(tvlm_device *device, const tvlm_remember_args *args, tvlm_texture *out);
tvlm_status tvlm_reference_relevance(tvlm_device *device, tvlm_buffer *scores, tvlm_texture *out);

/* similarity.c; keep_pass: score.c */
tvlm_status tvlm_reference_feature_lengths(tvlm_device *device, const tvlm_features *features);
tvlm_status tvlm_reference_feature_matrix(tvlm_device *device, const tvlm_features *features,
                                          tvlm_buffer *matrix);
tvlm_status tvlm_reference_similarity_cells(tvlm_device *device, const tvlm_features *features,
                                            tvlm_buffer *query, tvlm_buffer *cells, int32_t count,
                                            tvlm_buffer *cosines);
tvlm_status tvlm_reference_similarity(tvlm_device *device, const tvlm_features *features, tvlm_buffer *query,
                                      tvlm_texture *out);
tvlm_status tvlm_reference_cosines(tvlm_device *device, const tvlm_features *features, tvlm_buffer *products,
                                   int32_t count);
tvlm_status tvlm_reference_maps(tvlm_device *device, tvlm_buffer *cosines, int32_t count, int32_t how,
                                int32_t image, tvlm_texture *out);
tvlm_status tvlm_reference_keep_pass(tvlm_device *device, tvlm_buffer *scores, int32_t image,
                                     tvlm_texture *out);

tvlm_status tvlm_reference_texture_copy(tvlm_device *device, const tvlm_texture *from, tvlm_texture *to);

/* warp.c, follow.c, pick.c, score.c, sample.c */
tvlm_status tvlm_reference_warp(tvlm_device *device, const tvlm_warp *warp, tvlm_texture *out);
tvlm_status tvlm_reference_follow(tvlm_device *device, const tvlm_follow *follow);
tvlm_status tvlm_reference_pick(tvlm_device *device, const tvlm_texture *from, int32_t slice,
                                int32_t component, tvlm_texture *out);
tvlm_status tvlm_reference_blend(tvlm_device *device, const tvlm_texture *old, const tvlm_texture *fresh,
                                 tvlm_buffer *weights, tvlm_texture *out);
tvlm_status tvlm_reference_score_add(tvlm_device *device, tvlm_buffer *scores, tvlm_buffer *bonus,
                                     int32_t count);
tvlm_status tvlm_reference_pack_slot(tvlm_device *device, const tvlm_bundle *bundle, const int32_t *refs,
                                     float level, int32_t slot, tvlm_texture *out);

/* flow.c */
tvlm_status tvlm_reference_flow(tvlm_device *device, const tvlm_flow_args *args);

/* The generators: tvlm_reference_visual and so on. */
#define REFERENCE_GENERATOR(ID, name) tvlm_generate_function tvlm_reference_##name;
TVLM_GENERATED_GRIDS(REFERENCE_GENERATOR)
#undef REFERENCE_GENERATOR

/* saliency.c: CIE L*a*b* (D65) of encoded sRGB in [0, 1]. */
typedef struct reference_lab {
    double l, a, b;
} reference_lab;
reference_lab tvlm_reference_lab(const float rgb[3]);

#endif

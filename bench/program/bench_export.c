/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The stages of `tvlm tensors --for qwen2-vl`, without files.
 */
#include "bench_stages.h"

#include <stdio.h>

#include "core/try.h"
#include "export/inside.h"

#define MODEL TVLM_EXPORT_QWEN2_VL

/* If the model refuses the picture, there are no rows. */
tvlm_status bench_export_prepare(struct bench *bench) {
    tvlm_export_processor processor;
    int32_t width, height;
    TVLM_TRY(tvlm_export_processor_get(MODEL, &processor));
    if (tvlm_smart_resize(&processor, bench->image->width, bench->image->height, NULL, &width, &height) !=
        TVLM_OK)
        return TVLM_OK;
    TVLM_TRY(tvlm_export_create(bench->device, tvlm_export_params(.model = MODEL), &bench->export));
    return tvlm_export_run(bench->export, bench->image, 1, NULL, NULL);
}

/* Resizes the picture. It was brought to the device when the benchmark was prepared. */
static tvlm_status run_resize(struct bench *bench, int32_t unused) {
    const tvlm_image *image = bench->image;
    const size_t row = (size_t)image->width * (size_t)image->channels;
    const tvlm_pixels layout = {image->width, image->height, image->channels, TVLM_PIXEL_U8, 0, row};
    tvlm_export *export = bench->export;
    (void)unused;
    return bench->device->backend->resize(bench->device, export->upload, &layout, export->table,
                                          &export->plan, export->pictures[0].bytes, 0);
}

static tvlm_status run_patchify(struct bench *bench, int32_t unused) {
    (void)unused;
    return tvlm_export_patches(bench->export, &bench->export->pictures[0]);
}

/* Exports, from pixels on the host to tensors on the device. */
static tvlm_status run_export(struct bench *bench, int32_t unused) {
    (void)unused;
    return tvlm_export_run(bench->export, bench->image, 1, NULL, NULL);
}

void bench_export_list(const struct bench *bench, bench_stage *stages, int32_t *count) {
    if (bench->export == NULL) return;
    const tvlm_export_picture *info = &bench->export->pictures[0].info;
    const tvlm_export_processor *p = &bench->export->processor;
    const double source = (double)bench->image->width * bench->image->height * bench->image->channels;
    const double bytes = 3.0 * info->width * info->height;
    const double token = 4.0 * 3.0 * p->temporal * p->patch * p->patch * p->merge * p->merge;
    const double values = token * info->tokens, chosen = token * info->selected;
    bench_add(stages, count, "export resize", "", run_resize, 0, source + bytes);
    bench_add(stages, count, "export patchify", "", run_patchify, 0, bytes + values + chosen);
    bench_add(stages, count, "export qwen", "", run_export, 0, source + 2.0 * bytes + values + chosen);
}

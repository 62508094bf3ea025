/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jobs_files.h: a job that reads and writes files of every kind, which needs no device. Only allocations fail in it.
 */
#ifndef TVLM_TESTS_JOBS_FILES_H
#define TVLM_TESTS_JOBS_FILES_H

#include <unistd.h>

#include "io_samples.h"
#include "jobs_common.h"
#include "texturevlm/io.h"
#include "texturevlm/io_basis.h"
#include "texturevlm/io_flow.h"
#include "texturevlm/io_scorer.h"
#include "texturevlm/lab/io_codec.h"
#include "texturevlm/lab/io_network.h"
#include "texturevlm/lab/io_projection.h"
#include "texturevlm/lab/io_vocab.h"

static char job_path[300]; /* of the file that the job writes and reads */

/* A picture in memory. Its first bytes are kept. */
static tvlm_status read_picture(const void *bytes, size_t size, uint8_t *kept) {
    tvlm_image *image = NULL;
    const tvlm_status status =
        tvlm_image_load_bytes(bytes, size, "picture", tvlm_image_load_params(.log = &job_log), &image);
    if (status == TVLM_ERROR_UNSUPPORTED) { /* by this build */
        errors = 0;
        return TVLM_OK;
    }
    if (status == TVLM_OK) memcpy(kept, image->pixels, 2);
    tvlm_image_destroy(&image);
    return status;
}

static tvlm_status read_pictures(results *r) {
    static const char gray[] = "P5 2 1 255\nAB", text[] = "P2 2 1 999\n1 2";
    uint8_t *to = r->kept;
    TVLM_TRY(read_picture(png_rgb, sizeof png_rgb, to));
    TVLM_TRY(read_picture(png_interlaced, sizeof png_interlaced, to += 2));
    TVLM_TRY(read_picture(png_exif, sizeof png_exif, to += 2));
    TVLM_TRY(read_picture(jpeg_rgb, sizeof jpeg_rgb, to += 2));
    TVLM_TRY(read_picture(jpeg_progressive, sizeof jpeg_progressive, to += 2));
    TVLM_TRY(read_picture(bmp_palette, sizeof bmp_palette, to += 2));
    to = r->shown;
    TVLM_TRY(read_picture(webp_alpha, sizeof webp_alpha, to));
    TVLM_TRY(read_picture(gray, sizeof gray - 1, to += 2));
    return read_picture(text, sizeof text - 1, to + 2);
}

static tvlm_status write_picture(results *r) {
    tvlm_image *image = NULL;
    TVLM_TRY(tvlm_png_write(job_path, WIDTH, HEIGHT, 3, pixels, &job_log));
    TVLM_TRY(tvlm_image_load(job_path, &job_log, &image));
    memcpy(r->shown + 6, image->pixels, 3);
    tvlm_image_destroy(&image);
    return TVLM_OK;
}

static tvlm_status write_arrays(results *r) {
    static const int64_t shape[2] = {2, 3};
    static const float numbers[6] = {1, 2, 3, 4, 5, 6};
    tvlm_npy *array = NULL, about;
    tvlm_npy_reader *reader = NULL;
    tvlm_flo *flow = NULL;
    TVLM_TRY(tvlm_npy_write(job_path, TVLM_ELEMENT_F32, 2, shape, numbers, &job_log));
    TVLM_TRY(tvlm_npy_read(job_path, &job_log, &array));
    memcpy(r->weights, array->data, sizeof r->weights);
    tvlm_npy_destroy(&array);
    TVLM_TRY(tvlm_npy_reader_open(job_path, &job_log, &about, &reader));
    const tvlm_status status = tvlm_npy_reader_read(reader, r->answers, 3);
    tvlm_npy_reader_destroy(&reader);
    if (status != TVLM_OK) return status;
    TVLM_TRY(tvlm_flo_write(job_path, 3, 1, numbers, &job_log));
    TVLM_TRY(tvlm_flo_read(job_path, &job_log, &flow));
    memcpy(r->lost, flow->vectors, sizeof r->lost);
    tvlm_flo_destroy(&flow);
    return TVLM_OK;
}

static tvlm_status write_tensors(results *r) {
    static const float numbers[6] = {6, 5, 4, 3, 2, 1};
    static const uint8_t bytes[3] = {7, 8, 9};
    static const tvlm_tensor tensors[2] = {
        {.name = "bytes", .type = TVLM_ELEMENT_U8, .rank = 1, .shape = {3}, .data = bytes},
        {.name = "numbers", .type = TVLM_ELEMENT_F32, .rank = 2, .shape = {3, 2}, .data = numbers}};
    static const tvlm_metadata metadata[2] = {{"one", "first \"value\""}, {"two", "second"}};
    tvlm_safetensors *file = NULL;
    TVLM_TRY(tvlm_safetensors_write(job_path, tensors, 2, metadata, 2, &job_log));
    TVLM_TRY(tvlm_safetensors_read(job_path, &job_log, &file));
    memcpy(r->residuals, tvlm_safetensors_find(file, "numbers")->data, sizeof numbers);
    assert_string_equal(tvlm_safetensors_metadata(file, "one"), "first \"value\"");
    tvlm_safetensors_destroy(&file);
    return TVLM_OK;
}

static tvlm_status write_scorer(results *r) {
    static const int32_t channels[2] = {TVLM_CHANNEL_EDGES, TVLM_CHANNEL_ENTROPY};
    static const float weights[2] = {0.5f, -1.0f}, levels[2] = {1.0f, 2.0f};
    const tvlm_scorer scorer = {
        .channel_count = 2, .channels = channels, .taps = 1, .weights = weights, .levels = levels};
    tvlm_scorer *loaded = NULL;
    TVLM_TRY(tvlm_scorer_save(job_path, &scorer, &job_log));
    TVLM_TRY(tvlm_scorer_load(job_path, &job_log, &loaded));
    memcpy(r->best, loaded->weights, sizeof r->best);
    tvlm_scorer_destroy(&loaded);
    return TVLM_OK;
}

/* What is learnt, with numbers that are each on an axis of their own. */
static tvlm_status write_learnt(results *r) {
    static const float unit[4] = {1, 0, 0, 1};
    static const int32_t channels[2] = {TVLM_CHANNEL_R, TVLM_CHANNEL_EDGES};
    tvlm_basis *basis = NULL, *loaded_basis = NULL;
    tvlm_vocab *vocab = NULL, *loaded_vocab = NULL;
    tvlm_codec *codec = NULL, *loaded_codec = NULL;
    tvlm_projection *projection = NULL, *loaded_projection = NULL;
    tvlm_network *network = NULL;
    tvlm_status status =
        tvlm_basis_create(tvlm_basis_params(.dimension = 2, .k = 2, .components = unit), &job_log, &basis);
    if (status == TVLM_OK) status = tvlm_basis_save(job_path, basis, &job_log);
    if (status == TVLM_OK) status = tvlm_basis_load(job_path, &job_log, &loaded_basis);
    if (status == TVLM_OK)
        status = tvlm_vocab_create(tvlm_vocab_params(.dimension = 2, .count = 2, .centres = unit), &job_log,
                                   &vocab);
    if (status == TVLM_OK) status = tvlm_vocab_save(job_path, vocab, &job_log);
    if (status == TVLM_OK) status = tvlm_vocab_load(job_path, &job_log, &loaded_vocab);
    if (status == TVLM_OK)
        status = tvlm_codec_create(tvlm_codec_params(.channels = channels, .channel_count = 2, .k = 2,
                                                     .encode = unit, .decode = unit),
                                   &job_log, &codec);
    if (status == TVLM_OK) status = tvlm_codec_save(job_path, codec, &job_log);
    if (status == TVLM_OK) status = tvlm_codec_load(job_path, &job_log, &loaded_codec);
    if (status == TVLM_OK) status = tvlm_network_save(job_path, tvlm_codec_network(codec), &job_log);
    if (status == TVLM_OK) status = tvlm_network_load(job_path, &job_log, &network);
    if (status == TVLM_OK)
        status = tvlm_projection_create(tvlm_projection_params(.channels = channels, .channel_count = 2,
                                                               .outputs = 2, .weights = unit, .basis = basis),
                                        &job_log, &projection);
    if (status == TVLM_OK) status = tvlm_projection_save(job_path, projection, &job_log);
    if (status == TVLM_OK) status = tvlm_projection_load(job_path, &job_log, &loaded_projection);
    if (status == TVLM_OK) tvlm_basis_project(loaded_basis, unit + 2, 1, r->moved);
    tvlm_basis_destroy(&basis);
    tvlm_basis_destroy(&loaded_basis);
    tvlm_vocab_destroy(&vocab);
    tvlm_vocab_destroy(&loaded_vocab);
    tvlm_codec_destroy(&codec);
    tvlm_codec_destroy(&loaded_codec);
    tvlm_network_destroy(&network);
    tvlm_projection_destroy(&projection);
    tvlm_projection_destroy(&loaded_projection);
    return status;
}

static tvlm_status keep_files(objects *o, results *r) {
    (void)o;
    TVLM_TRY(read_pictures(r));
    TVLM_TRY(write_picture(r));
    TVLM_TRY(write_arrays(r));
    TVLM_TRY(write_tensors(r));
    TVLM_TRY(write_scorer(r));
    return write_learnt(r);
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jobs_common.h: what the jobs of jobs.h keep from one try to the next, what they find, and what is logged.
 */
#ifndef TVLM_TESTS_JOBS_COMMON_H
#define TVLM_TESTS_JOBS_COMMON_H

#include "core/try.h"
#include "support_stage.h"
#include "texturevlm/lab/attend.h"
#include "texturevlm/lab/explain.h"
#include "texturevlm/lab/merge.h"

#include <stdio.h>
#include <string.h>

/* ---- The log ---- */

static int errors;
static char last_error[1024];

static void count_errors(void *user, tvlm_log_level level, const char *message) {
    (void)user;
    if (level != TVLM_LOG_ERROR) return;
    ++errors;
    snprintf(last_error, sizeof last_error, "%s", message);
}

/* ---- What jobs keep, and what they find ---- */

static const tvlm_log job_log = {count_errors, NULL};

enum { WIDTH = 37, HEIGHT = 23, STACK_WIDTH = 33, STACK_HEIGHT = 21, K = 3, CHANNELS = 5 };
enum { REASONS = 5 }; /* four channels of the default score, and the question */
enum { FRAMES = 3, STREAM_WIDTH = 32, STREAM_HEIGHT = 20 };
enum { TOKENS = 6, ROW_FLOATS = 4 * 1176, SQUARES = 8 }; /* of the export: 84 x 56 pixels */

enum { SHARED = 4 }; /* images of a pool */
/* A batch of different sizes: its images, what is packed of the second one, and points. */
enum { RAGGED = 3, RAGGED_FLOATS = 3 * 5 * 17, RAGGED_POINTS = 6 };
enum { BYTES_FLOATS = 9 * 7 * 5 };            /* what is packed of a stack of bytes */
enum { FRAME_KINDS = 10, SCORES_THERE = 54 }; /* frames on the device; cells of 4 pixels of 33 x 21 */
enum { COLUMNS = 6, ROWS = 4, CELLS = COLUMNS * ROWS, DIMENSION = 8 };

enum { CLIP_TOKENS = 9 };
enum { PICTURE_TOKENS = 12 }; /* of the larger picture of a prediction */

static uint8_t pixels[WIDTH * HEIGHT * 3];

typedef struct objects {
    tvlm_device *device;
    tvlm_stack *stack;
    tvlm_selection *selection;
    tvlm_packed *packed;
    tvlm_export *export;
    tvlm_session *session;
} objects;

typedef struct results {
    tvlm_position positions[K];
    tvlm_reason reasons[K * REASONS];
    float texels[STACK_WIDTH * STACK_HEIGHT], samples[2 * 2], packed[9 * 7 * CHANNELS], best[2];
    int32_t indices[2];
    float scores[TOKENS], values[TOKENS * ROW_FLOATS], chosen[2 * ROW_FLOATS];
    int64_t tokens[2];
    tvlm_position squares[SQUARES];
    float patches[SQUARES * 4 * 4];
    tvlm_position found[2][K];
    tvlm_position seen[FRAMES][K];
    tvlm_clip_token clip[CLIP_TOKENS];
    float past;
    float similarity[CELLS], vectors[2 * DIMENSION], weights[2], attended[DIMENSION], networked[CELLS],
        asked[2 * CELLS];
    int32_t assigned[CELLS];
    float residuals[CELLS], answers[3];
    tvlm_attend_info attention;
    float texel_gradients[CELLS], point_gradients[6];
    float tokens_merged[K * DIMENSION];
    tvlm_merged_token merged[K];
    float learned[36 * 24], coded[CELLS];
    float ridge[3], ridge_bias[1], projected[2];
    float all[5 * 4 * 40], moved[2], axes[2];
    float ragged[RAGGED_FLOATS], ragged_samples[RAGGED_POINTS][2];
    float ragged_edges[STACK_WIDTH * STACK_HEIGHT / 4];
    float bytes[BYTES_FLOATS], bytes_samples[2 * 3], bytes_edges[STACK_WIDTH * STACK_HEIGHT];
    float frames[FRAME_KINDS][STACK_WIDTH * STACK_HEIGHT];
    tvlm_position chosen_there[K];
    float patches_there[K * 4 * 4], scores_there[SCORES_THERE], user[4];
    float ranking[2 * K], values_there[ROW_FLOATS];
    tvlm_position shared[SHARED][K];
    uint8_t kept[PICTURE_TOKENS], shown[PICTURE_TOKENS];
    float lost[2];
} results;

/* Keeps the K positions of a selection. */
static void keep_positions(const tvlm_selection *selection, tvlm_position kept[K]) {
    int32_t count;
    const tvlm_position *const positions = tvlm_selection_positions(selection, &count);
    assert_int_equal(count, K);
    memcpy(kept, positions, K * sizeof *kept);
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_select.c: a whole selection (tvlm_select) on a tiny image with any parameters, on the reference
 * device. The bytes are the parameters one after the other, and then pixels; what is missing is 0. A budget's
 * parameters are the last bytes once more, in place of those that it does not read.
 */
#include <math.h>
#include <stdlib.h>

#include "fuzz.h"
#include "input.h"
#include "texturevlm/texturevlm.h"

enum { SIDE_MAX = 40, PIXELS_MAX = SIDE_MAX * SIDE_MAX * 4 * 4 };

static int32_t next_int(input *from) {
    const int32_t low = next_byte(from), high = (int8_t)next_byte(from);
    return high * 256 + low;
}

static tvlm_device *open_device(void) {
    static tvlm_device *device;
    if (device == NULL) {
        setenv("OCL_ICD_VENDORS", "/nonexistent", 0); /* no driver is needed, and each would take a second */
        const tvlm_status status =
            tvlm_device_open(tvlm_device_params(.name = "reference", .log = &fuzz_log), &device);
        fuzz_check(status == TVLM_OK);
    }
    return device;
}

static tvlm_stack *make_stack(input *from) {
    static const char *const layouts[] = {"full40", "visual12", "cluster15", "patch13", "mvp13"};
    static uint8_t pixels[PIXELS_MAX];
    const struct tvlm_stack_params params = {.layout = layouts[next_byte(from) % 5],
                                             .clusters = next_byte(from) % 64,
                                             .compactness = next_float(from)};
    const tvlm_image image = {.pixels = pixels,
                              .width = 1 + next_byte(from) % SIDE_MAX,
                              .height = 1 + next_byte(from) % SIDE_MAX,
                              .channels = 1 + next_byte(from) % 4,
                              .type = (tvlm_pixel_type)(next_byte(from) % 3)};
    tvlm_stack *stack = NULL;
    fill(from, pixels, sizeof pixels);
    fuzz_check_status(tvlm_stack_create_for_image(open_device(), &image, &params, &stack));
    return stack;
}

static void check_positions(const tvlm_selection *selection, const struct tvlm_select_params *params) {
    tvlm_selection_info info;
    int32_t count = -1;
    const tvlm_position *const at = tvlm_selection_positions(selection, &count);
    tvlm_selection_get_info(selection, &info);
    const bool open =
        params->budget.share != 0.0f || params->budget.tolerance != 0.0f; /* as many as that takes */
    fuzz_check(count >= 0 && (open || count <= (params->k > 0 ? params->k : 273)));
    fuzz_check(!(info.loss > info.loss_downsampled) || info.loss_downsampled == 0.0f);
    for (int32_t i = 0; i < count; ++i) {
        fuzz_check(at[i].x >= 0.0f && at[i].x <= (float)info.width);
        fuzz_check(at[i].y >= 0.0f && at[i].y <= (float)info.height);
        fuzz_check(at[i].size > 0.0f && isfinite(at[i].size) && at[i].level >= 0.0f);
    }
}

enum { BUDGET_BYTES = 16 };

/* Of a budget, all parameters that it reads; `k` stands for a share or a tolerance where these are given. */
static void spend(const uint8_t *data, size_t size, struct tvlm_select_params *params) {
    const size_t last = size < BUDGET_BYTES ? size : BUDGET_BYTES;
    input from = {data + size - last, last};
    const struct tvlm_select_params given = *params;
    *params = (struct tvlm_select_params){
        .k = given.k, .strategy = given.strategy, .patch = given.patch, .keep_scores = given.keep_scores};
    const uint8_t amount = next_byte(&from) % 4;
    if (amount > 1) params->k = 0;
    if (amount == 2) params->budget.share = next_float(&from);
    if (amount == 3) params->budget.tolerance = next_float(&from);
    params->budget.emphasis = next_float(&from);
    params->budget.emphasis_channel = next_byte(&from) % 64;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    input from = {data, size};
    float fixations[4], weights[3], similarity[4];
    struct tvlm_select_params params = {0};
    struct tvlm_query query = {.similarity = similarity, .columns = 2, .rows = 2};
    tvlm_selection *selection = NULL;
    const uint8_t flags = next_byte(&from);
    for (int i = 0; i < 4; ++i) fixations[i] = next_float(&from);
    for (int i = 0; i < 3; ++i) weights[i] = next_float(&from);
    for (int i = 0; i < 4; ++i) similarity[i] = next_float(&from);
    params.strategy = (tvlm_strategy)(next_byte(&from) % 8);
    params.k = next_int(&from);
    params.patch = next_float(&from);
    params.keep_scores = (flags & 1) != 0;
    params.best.min_distance = next_float(&from);
    params.best.overview = next_float(&from);
    params.foveated.e0 = next_float(&from);
    params.foveated.arrangement = (tvlm_arrangement)(next_byte(&from) % 3);
    params.cascade.keep_regions = next_int(&from);
    params.cascade.cull_distance = next_float(&from);
    params.cascade.cover = (flags & 2) != 0;
    params.score.stride = next_float(&from);
    params.score.level = next_int(&from);
    params.score.dense = (flags & 4) != 0;
    params.score.keep_pass = (flags & 8) != 0;
    params.score.weights = (flags & 16) != 0 ? weights : NULL;
    params.foveated.fixation_count = (flags >> 5 & 3) % 3;
    params.foveated.fixations = params.foveated.fixation_count > 0 ? fixations : NULL;
    if (params.strategy == TVLM_STRATEGY_BUDGET) spend(data, size, &params);
    tvlm_stack *stack = make_stack(&from);
    if (stack != NULL) {
        const tvlm_status status = tvlm_select(stack, flags >= 128 ? &query : NULL, &params, &selection);
        fuzz_check_status(status);
        fuzz_check((status == TVLM_OK) == (selection != NULL));
        if (selection != NULL) check_positions(selection, &params);
    }
    tvlm_selection_destroy(&selection);
    tvlm_stack_destroy(&stack);
    return 0;
}

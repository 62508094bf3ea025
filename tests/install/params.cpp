/* SPDX-License-Identifier: Apache-2.0 */
/* params.cpp: parameters in C++, in place and as variables, through headers that a C++ compiler accepts. */
#include <cstdio>
#include <texturevlm/io.h>
#include <texturevlm/texturevlm.h>

int main() {
    const float weights[3] = {1.0f, 0.0f, 0.0f};
    unsigned char pixels[64 * 48 * 3] = {};
    for (unsigned i = 0; i < sizeof pixels; ++i) pixels[i] = static_cast<unsigned char>(i * i >> 5);
    tvlm_image image{};
    image.pixels = pixels;
    image.width = 64;
    image.height = 48;
    image.channels = 3;
    tvlm_device *device = nullptr;
    tvlm_stack *stack = nullptr;
    tvlm_selection *selection = nullptr, *same = nullptr;
    tvlm_stream *stream = nullptr;
    bool failed =
        tvlm_device_open(tvlm_device_params(.name = "reference", .log = tvlm_log_stderr()), &device) !=
            TVLM_OK ||
        tvlm_stack_create_for_image(device, &image, tvlm_stack_params(.layout = "full40", .clusters = 12),
                                    &stack) != TVLM_OK ||
        tvlm_select(stack, nullptr,
                    tvlm_select_params(.k = 5, .strategy = TVLM_STRATEGY_GRID, .score = {.weights = weights}),
                    &selection) != TVLM_OK ||
        tvlm_stream_create(device, 64, 48, tvlm_stream_params(.cut = TVLM_EXPLICIT_ZERO), &stream) != TVLM_OK;
    tvlm_select_params params{};
    params.k = 5;
    params.strategy = TVLM_STRATEGY_GRID;
    params.score.weights = weights;
    failed = failed || tvlm_select(stack, nullptr, &params, &same) != TVLM_OK ||
             tvlm_select(stack, nullptr, tvlm_select_params(), nullptr) != TVLM_ERROR_ARGUMENT;
    int32_t count = 0, again = 0;
    const tvlm_position *const one = failed ? nullptr : tvlm_selection_positions(selection, &count);
    const tvlm_position *const other = failed ? nullptr : tvlm_selection_positions(same, &again);
    failed = failed || count != 5 || again != 5;
    for (int32_t i = 0; !failed && i < count; ++i) failed = one[i].x != other[i].x || one[i].y != other[i].y;
    tvlm_stream_destroy(&stream);
    tvlm_selection_destroy(&same);
    tvlm_selection_destroy(&selection);
    tvlm_stack_destroy(&stack);
    tvlm_device_destroy(&device);
    if (failed) std::puts("failed");
    return failed;
}

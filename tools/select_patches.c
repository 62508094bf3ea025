/* SPDX-License-Identifier: Apache-2.0 */
#include "select.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab.h"
#include "select_layout.h"

static const char *const norms[] = {"none", "clip", "siglip", NULL};
static const char *const formats[] = {"f32", "f16", NULL};
static const char *const borders[] = {"clamp", "reflect", NULL};

static const option_spec specs[] = {
    {0, OPTION_PATTERN, "patches", offsetof(patch_options, output), "FILE.npy",
     "each position's square as an array [K,3,P,P]; r, g, b from 0 to 1, best first", NO_RANGE, NULL},
    {0, OPTION_CHOICE, "patch-norm", offsetof(patch_options, norm), "NAME",
     "none (default), clip or siglip: r, g, b less that encoder's mean, by its deviation", NO_RANGE, norms},
};
const option_specs patch_specs = OPTION_SPECS("What comes out", specs);

static const option_spec further[] = {
    {0, OPTION_INTEGER, "patch-size", offsetof(patch_options, side), "P",
     "side of those, in texels (default: that of --patch)", 1, 1024, NULL},
    {0, OPTION_TEXT, "patch-channels", offsetof(patch_options, channels), "A,B,...",
     "channels of them, or a layout (default: r,g,b)", NO_RANGE, NULL},
    {0, OPTION_TEXT, "patch-mean", offsetof(patch_options, mean), "M,...",
     "taken off, one number for each channel", NO_RANGE, NULL},
    {0, OPTION_TEXT, "patch-std", offsetof(patch_options, deviation), "S,...",
     "divided by then, one number for each channel, not 0", NO_RANGE, NULL},
    {0, OPTION_CHOICE, "patch-format", offsetof(patch_options, format), "FORMAT", "f32 (default) or f16", 0,
     0, formats},
    {0, OPTION_CHOICE, "patch-border", offsetof(patch_options, border), "HOW",
     "beyond the image: clamp (default), its edge, or reflect, its mirror", NO_RANGE, borders},
};
const option_specs patch_settings = OPTION_SETTINGS("What comes out", further);

void select_array_release(select_array *array) {
    free(array->data);
    *array = (select_array){0};
}

/* ---- Options ---- */

/* Reads exactly `count` numbers: "0.5,0.4,...". */
static int read_numbers(struct tool *tool, const char *option, const char *text, int32_t count, bool zero,
                        float *values) {
    for (int32_t i = 0; i < count; ++i) {
        char number[64];
        double value;
        const size_t length = strcspn(text, ",");
        const bool last = text[length] == '\0';
        if (last != (i == count - 1))
            return tool_usage(tool, "%s takes a number for each of the %d channels", option, (int)count);
        snprintf(number, sizeof number, "%.*s", length < sizeof number ? (int)length : 0, text);
        if (!options_number(number, &value) || !(fabs(value) <= 1e30) || (!zero && fabs(value) < 1e-30))
            return tool_usage(tool, "%s: '%.*s' is no number for it", option, (int)length, text);
        values[i] = (float)value;
        text += length + !last;
    }
    return TOOL_DONE;
}

static int read_norm(struct tool *tool, const patch_options *options, patch_plan *plan) {
    tvlm_export_processor processor;
    if (options->channels != NULL || options->mean != NULL || options->deviation != NULL)
        return tool_usage(tool,
                          "--patch-norm excludes patch-channels, patch-mean and patch-std: it is of r, g, b");
    const tvlm_export_model model =
        strcmp(norms[options->norm.value], "clip") == 0 ? TVLM_EXPORT_CLIP : TVLM_EXPORT_SIGLIP;
    TOOL_TRY(tool_status(tool, tvlm_export_processor_get(model, &processor)));
    memcpy(plan->mean, processor.mean, sizeof processor.mean);
    memcpy(plan->deviation, processor.std, sizeof processor.std);
    return TOOL_DONE;
}

int patches_read(struct tool *tool, const patch_options *options, patch_plan *plan) {
    const char *const given = tool_given(
        tool, "patch-size patch-channels patch-mean patch-std patch-norm patch-format patch-border");
    int code = TOOL_DONE;
    if (options->output == NULL && given != NULL)
        return tool_usage(
            tool,
            "--patch-norm, and --set of patch-size, patch-channels, patch-mean, patch-std, patch-format and patch-border, are for --patches");
    const char *const channels = options->channels != NULL ? options->channels : "r,g,b";
    code = tool_usage_status(
        tool, tvlm_layout_parse(channels, &tool->log, PATCH_CHANNELS_MAX, plan->channels, &plan->count));
    if (code == TOOL_DONE && plan->count > PATCH_CHANNELS_MAX)
        code = tool_usage(tool, "--set patch-channels: %d; at most %d", (int)plan->count, PATCH_CHANNELS_MAX);
    if (code != TOOL_DONE) return code;
    for (int32_t i = 0; i < plan->count; ++i) {
        plan->mean[i] = 0.0f;
        plan->deviation[i] = 1.0f;
    }
    plan->format = options->format.value != 0 ? TVLM_FORMAT_F16 : TVLM_FORMAT_F32;
    plan->border = options->border.value != 0 ? TVLM_BORDER_REFLECT : TVLM_BORDER_CLAMP;
    if (options->norm.value != 0) return read_norm(tool, options, plan);
    if (options->mean != NULL)
        code = read_numbers(tool, "--set patch-mean", options->mean, plan->count, true, plan->mean);
    if (code == TOOL_DONE && options->deviation != NULL)
        code = read_numbers(tool, "--set patch-std", options->deviation, plan->count, false, plan->deviation);
    return code;
}

int patches_layout(struct tool *tool, const patch_options *options, const patch_plan *plan, char *layout,
                   size_t size) {
    if (options->channels == NULL) return TOOL_DONE; /* r, g and b are always there: they are the image */
    return layout_add(tool, "--set patch-channels", plan->channels, plan->count, layout, size);
}

/* ---- Arrays ---- */

int select_make_patches(struct tool *tool, tvlm_stack *stack, const tvlm_position *positions, int32_t count,
                        int32_t side, const patch_plan *plan, select_array *patches) {
    const struct tvlm_patches_params params = {.side = side,
                                               .channels = plan->channels,
                                               .channel_count = plan->count,
                                               .mean = plan->mean,
                                               .deviation = plan->deviation,
                                               .format = plan->format,
                                               .border = plan->border};
    const tvlm_element type = plan->format == TVLM_FORMAT_F16 ? TVLM_ELEMENT_F16 : TVLM_ELEMENT_F32;
    size_t bytes;
    if (tvlm_patches_size(&params, count, &bytes) != TVLM_OK)
        return tool_fail(tool, "%d patches of side %d are too many", (int)count, (int)side);
    *patches = (select_array){malloc(bytes > 0 ? bytes : 1), type, 4, {count, plan->count, side, side}};
    if (patches->data == NULL) return tool_fail(tool, "no memory for %d patches", (int)count);
    return tool_status(tool, tvlm_patches_extract(stack, positions, count, &params, bytes, patches->data));
}

int select_copy_scores(struct tool *tool, const tvlm_selection *selection, select_array *scores) {
    int32_t columns, rows;
    const float *const kept = tvlm_selection_scores(selection, &columns, &rows);
    const size_t count = (size_t)columns * (size_t)rows;
    *scores = (select_array){malloc(count * sizeof *kept), TVLM_ELEMENT_F32, 1, {(int64_t)count}};
    if (scores->data == NULL) return tool_fail(tool, "no memory for %zu scores", count);
    memcpy(scores->data, kept, count * sizeof *kept);
    return TOOL_DONE;
}

int select_make_axes(struct tool *tool, tvlm_stack *stack, const tvlm_selection *selection,
                     tvlm_footprint **axes) {
    tvlm_selection_info info;
    tvlm_stack_info working;
    int32_t count;
    const tvlm_position *const positions = tvlm_selection_positions(selection, &count);
    (void)tvlm_selection_get_info(selection, &info);
    int code = tool_status(tool, tvlm_stack_get_info(stack, &working));
    if (code != TOOL_DONE) return code;
    const float scale_x = (float)info.width / (float)working.width;
    const float scale_y = (float)info.height / (float)working.height;
    const size_t room = count > 0 ? (size_t)count : 1;
    tvlm_sample_point *const points = malloc(room * sizeof *points);
    float *const sizes = malloc(room * sizeof *sizes);
    *axes = malloc(room * sizeof **axes);
    if (points == NULL || sizes == NULL || *axes == NULL) {
        code = tool_fail(tool, "no memory for the axes of %d positions", (int)count);
    } else {
        for (int32_t i = 0; i < count; ++i) {
            points[i] = (tvlm_sample_point){positions[i].x / scale_x, positions[i].y / scale_y, 0.0f, 0};
            sizes[i] = positions[i].size / scale_x;
        }
        code = lab_structure(tool, stack, points, sizes, count, *axes);
    }
    for (int32_t i = 0; code == TOOL_DONE && i < count; ++i) {
        tvlm_footprint *const f = &(*axes)[i];
        f->u[0] *= scale_x, f->v[0] *= scale_x;
        f->u[1] *= scale_y, f->v[1] *= scale_y;
    }
    free(points);
    free(sizes);
    return code;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "tensors.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "positions.h"

bool export_is_cut(tvlm_export_model model) {
    tvlm_export_processor processor;
    return tvlm_export_processor_get(model, &processor) == TVLM_OK && processor.crops > 0;
}

/* ---- The tensors ---- */

/* Reads the next tensor, if it is wanted. */
static int read_tensor(export_results *results, bool selected_only, int32_t index) {
    tvlm_export_tensor found;
    TOOL_TRY(tool_status(results->tool, tvlm_export_get_tensor(results->export, index, &found)));
    if (selected_only && strncmp(found.name, "pixel_values", strlen("pixel_values")) == 0) return TOOL_DONE;
    tvlm_tensor *const tensor = &results->tensors[results->count];
    void *const data = malloc(found.bytes);
    if (data == NULL) return tool_fail(results->tool, "no memory for %s", found.name);
    results->data[results->count++] = data;
    *tensor = (tvlm_tensor){.name = found.name,
                            .type = found.integer ? TVLM_ELEMENT_I64 : TVLM_ELEMENT_F32,
                            .rank = found.rank,
                            .data = data};
    memcpy(tensor->shape, found.shape, sizeof found.shape);
    TOOL_TRY(tool_status(results->tool, tvlm_export_read(results->export, index, found.bytes, data)));
    if (strcmp(found.name, "scores") == 0)
        TOOL_TRY(scores_check(results->tool, data, found.bytes / sizeof(float)));
    return TOOL_DONE;
}

int export_results_read(export_results *results, bool selected_only) {
    int code = TOOL_DONE;
    const int32_t count = tvlm_export_tensor_count(results->export);
    for (int32_t i = 0; code == TOOL_DONE && i < count; ++i) code = read_tensor(results, selected_only, i);
    return code;
}

int export_results_write(const export_results *results, const char *path) {
    const tvlm_metadata metadata[] = {{"format", "texturevlm.export"},
                                      {"model", tvlm_export_model_name(results->model)}};
    return tool_status(results->tool,
                       tvlm_safetensors_write(path, results->tensors, results->count, metadata,
                                              sizeof metadata / sizeof *metadata, &results->tool->log));
}

/* ---- What is printed about them ---- */

/* Whether an image has become several pictures. */
static bool is_several(const export_results *results) {
    for (int32_t i = 0; i < results->count; ++i)
        if (strcmp(results->tensors[i].name, "picture_scale") == 0) return true;
    return false;
}

int export_results_text(const export_results *results) {
    const bool cut = export_is_cut(results->model);
    for (int32_t i = 0; i < tvlm_export_picture_count(results->export); ++i) {
        tvlm_export_picture p;
        char line[600];
        const int code = tool_status(results->tool, tvlm_export_get_picture(results->export, i, &p));
        if (code != TOOL_DONE) return code;
        const tvlm_image *const image = &results->pictures->images[p.source];
        snprintf(line, sizeof line, "%.400s: %dx%d -> %dx%d, %s %dx%dx%d, %d of %d %s\n",
                 results->paths[p.source], image->width, image->height, p.width, p.height,
                 cut ? "crops" : "patches", p.grid_t, p.grid_h, p.grid_w, p.selected, p.tokens,
                 cut ? "crops" : "tokens");
        if (tool_print(results->tool, line) != TOOL_DONE) return TOOL_FAILED;
    }
    return TOOL_DONE;
}

static void json_picture(const export_results *results, json_writer *json, const tvlm_export_picture *p) {
    json_open_object(json, NULL, true);
    json_string(json, "path", results->paths[p->source]);
    json_integer(json, "width", p->width);
    json_integer(json, "height", p->height);
    json_integers(json, "grid_thw", 3, (const int64_t[]){p->grid_t, p->grid_h, p->grid_w});
    if (is_several(results)) {
        json_open_array(json, "scale", true);
        json_float(json, NULL, p->scale_h);
        json_float(json, NULL, p->scale_w);
        json_close(json);
    }
    json_integer(json, "first_token", p->first_token);
    json_integer(json, "tokens", p->tokens);
    json_integer(json, "selected", p->selected);
    json_close(json);
}

static void json_pictures(const export_results *results, json_writer *json) {
    json_open_array(json, "images", false);
    for (int32_t i = 0; i < tvlm_export_picture_count(results->export); ++i) {
        tvlm_export_picture p;
        if (tvlm_export_get_picture(results->export, i, &p) == TVLM_OK)
            json_picture(results, json, &p); /* the condition is always true */
    }
    json_close(json);
}

static void json_tensors(const export_results *results, json_writer *json) {
    json_open_array(json, "tensors", false);
    for (int32_t i = 0; i < results->count; ++i) {
        const tvlm_tensor *const tensor = &results->tensors[i];
        json_open_object(json, NULL, true);
        json_string(json, "name", tensor->name);
        json_string(json, "type", tvlm_element_name(tensor->type));
        json_integers(json, "shape", tensor->rank, tensor->shape);
        json_close(json);
    }
    json_close(json);
}

void export_results_json(const export_results *results, json_writer *json) {
    json_pictures(results, json);
    json_tensors(results, json);
}

void export_results_release(export_results *results) {
    for (int i = 0; i < EXPORT_TENSORS_MAX; ++i) free(results->data[i]);
    memset(results->data, 0, sizeof results->data);
    results->count = 0;
}

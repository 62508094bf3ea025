/* SPDX-License-Identifier: Apache-2.0 */
/*
 * without_lab.c: takes the place of lab/uses/ in a build without the lab. Each of its functions refuses.
 */
#pragma GCC diagnostic ignored "-Wunused-parameter" /* what refuses reads no parameters */
#include "lab.h"
#include "networks.h"
#include "texturevlm/io.h"
#include "truth.h"

int lab_check(struct tool *tool, const char *name) {
    return tool_usage(tool, "%s is of the lab, which this build leaves out (TVLM_WITH_LAB)", name);
}

int lab_basis_of_image(struct tool *tool, tvlm_stack *stack, const struct tvlm_image_basis_params *params,
                       tvlm_basis **basis) {
    return lab_check(tool, "an embedding without --basis FILE");
}

int lab_structure(struct tool *tool, tvlm_stack *stack, const tvlm_sample_point *points, const float *sizes,
                  int32_t count, tvlm_footprint *axes) {
    return lab_check(tool, "--set anisotropic");
}

int codec_read_folded(struct tool *tool, const char *path, const tvlm_scorer *scorer, int32_t first,
                      tvlm_codec **codec, tvlm_scorer **folded) {
    return lab_check(tool, "--codec");
}

int codec_layout(struct tool *tool, const char *path, const tvlm_codec *codec, char *layout, size_t size) {
    return lab_check(tool, "--codec");
}

int codec_check_image(struct tool *tool, const tvlm_codec *codec, tvlm_stack *stack) {
    return lab_check(tool, "--codec");
}

const tvlm_network *codec_network(const tvlm_codec *codec) {
    return NULL;
}

int explain_check(struct tool *tool, const char *file) {
    return file != NULL ? lab_check(tool, "--explain") : TOOL_DONE;
}

int explain_make(struct tool *tool, const explain_subject *subject, const char *file, explained *made) {
    return lab_check(tool, "--explain");
}

int explain_write(struct tool *tool, const char *path, explained *made) {
    return lab_check(tool, "--explain");
}

void explained_release(explained *made) {
    json_release(&made->json);
    tvlm_image_destroy(&made->picture);
}

void codec_release(tvlm_codec **codec, tvlm_scorer **folded) {}

int projection_read(struct tool *tool, const char *path, bool features, tvlm_projection **projection) {
    return lab_check(tool, "--projection");
}

int projection_layout(struct tool *tool, const char *path, const tvlm_projection *projection, char *layout,
                      size_t size) {
    return lab_check(tool, "--projection");
}

int projection_set(struct tool *tool, const tvlm_projection *projection, tvlm_export *export) {
    return lab_check(tool, "--projection");
}

void projection_release(tvlm_projection **projection) {}

int network_load(struct tool *tool, const char *path, tvlm_network **network) {
    return lab_check(tool, "--network");
}

void network_release(tvlm_network **network) {}

int truth_files(struct tool *tool, const truth_options *options, int count, char *const *images) {
    return lab_check(tool, truth_given(options));
}

int truth_open(struct tool *tool, const truth_options *options, truth **opened) {
    return lab_check(tool, truth_given(options));
}

int truth_mask(struct tool *tool, const truth *from, const char *image, int32_t width, int32_t height,
               uint8_t *mask) {
    return lab_check(tool, "an annotation");
}

int truth_find_middles(struct tool *tool, const truth *from, const char *image, int32_t width, int32_t height,
                       truth_middles *middles) {
    return lab_check(tool, "an annotation");
}

void truth_close(truth **opened) {}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * use.c MODEL MMPROJ: a user's program, around the C of doc/llama.md, which check_install.sh puts into
 * `snippet.inc`. Prints how many cells of the KV cache an image and a question took, and the likeliest token.
 */
#include <stdio.h>
#include <stdlib.h>

#include <texturevlm/texturevlm.h>

#include <texturevlm/mtmd.h>

#define SIDE 280

static void hush(enum ggml_log_level level, const char *text, void *user) {
    (void)level, (void)text, (void)user;
}

static int likeliest(struct llama_context *context) {
    const float *const logits = llama_get_logits_ith(context, -1);
    const int count = llama_vocab_n_tokens(llama_model_get_vocab(llama_get_model(context)));
    int best = 0;
    for (int i = 1; i < count; ++i)
        if (logits[i] > logits[best]) best = i;
    return best;
}

static int look(tvlm_device *device, mtmd_context *mtmd, struct llama_context *context,
                const tvlm_image *image, const char *prompt) {
#include "snippet.inc"
    const int cells = llama_memory_seq_pos_max(llama_get_memory(context), 0) < 0 ? 0 : (int)used.cells;
    if (cells > 0) printf("%d cells, then token %d\n", cells, likeliest(context));
    mtmd_input_chunks_free(chunks);
    tvlm_mtmd_plan_destroy(&plan);
    tvlm_mtmd_destroy(&chooser);
    return cells == 0;
}

int main(int argc, char **argv) {
    static unsigned char pixels[SIDE * SIDE * 3];
    const tvlm_image image = {.pixels = pixels, .width = SIDE, .height = SIDE, .channels = 3};
    tvlm_device *device = NULL;
    if (argc != 3) return 2;
    for (int i = 0; i < SIDE * SIDE * 3; ++i) pixels[i] = (unsigned char)(i / 3 % SIDE * (i / 3 / SIDE) / 9);
    llama_log_set(hush, NULL);
    ggml_backend_load_all();
    struct llama_model *model = llama_model_load_from_file(argv[1], llama_model_default_params());
    struct llama_context *context =
        model != NULL ? llama_init_from_model(model, llama_context_default_params()) : NULL;
    struct mtmd_context_params params = mtmd_context_params_default();
    params.print_timings = params.warmup = false;
    mtmd_context *mtmd = model != NULL ? mtmd_init_from_file(argv[2], model, params) : NULL;
    int failed = context == NULL || mtmd == NULL ||
                 tvlm_device_open(tvlm_device_params(.name = "reference"), &device) != TVLM_OK;
    if (!failed) failed = look(device, mtmd, context, &image, "<__media__>what is it?");
    tvlm_device_destroy(&device);
    if (mtmd != NULL) mtmd_free(mtmd);
    if (context != NULL) llama_free(context);
    if (model != NULL) llama_model_free(model);
    return failed;
}

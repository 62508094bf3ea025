/* SPDX-License-Identifier: Apache-2.0 */
#include "program.h"

#include <stdio.h>
#include <string.h>

#include <mtmd-helper.h>

/* The first line that llama.cpp has called an error since a call began: it says why, and often several
 * lines follow. */
static char complaint[400];

static void listen(enum ggml_log_level level, const char *text, void *user) {
    (void)user;
    if (level != GGML_LOG_LEVEL_ERROR || complaint[0] != '\0') return;
    snprintf(complaint, sizeof complaint, "%s", text);
    complaint[strcspn(complaint, "\n")] = '\0';
}

static int refuse(const char *what, const char *path) {
    return complaint[0] != '\0' ? program_fail("%s: %s (%s)", path, what, complaint)
                                : program_fail("%s: %s", path, what);
}

static int open_model(program *p) {
    struct llama_model_params params = llama_model_default_params();
    params.n_gpu_layers = p->options.layers < 0 ? 9999 : p->options.layers;
    complaint[0] = '\0';
    p->model = llama_model_load_from_file(p->options.model, params);
    return p->model == NULL ? refuse("is no model that llama.cpp reads", p->options.model) : 0;
}

static int open_context(program *p) {
    struct llama_context_params params = llama_context_default_params();
    params.n_ctx = (uint32_t)p->options.context;
    params.n_batch = (uint32_t)p->options.batch;
    if (params.n_ubatch > params.n_batch) params.n_ubatch = params.n_batch;
    params.n_threads = params.n_threads_batch = p->options.threads;
    if (p->options.looks == 2 && tvlm_mtmd_watch_create(tvlm_log_stderr(), &params, &p->watch) != TVLM_OK)
        return 1;
    complaint[0] = '\0';
    p->context = llama_init_from_model(p->model, params);
    return p->context == NULL ? refuse("has no context of so many cells", p->options.model) : 0;
}

static int open_encoder(program *p) {
    struct mtmd_context_params params = mtmd_context_params_default();
    params.use_gpu = p->options.layers != 0;
    params.n_threads = p->options.threads;
    params.print_timings = params.warmup = false;
    complaint[0] = '\0';
    p->mtmd = mtmd_init_from_file(p->options.mmproj, p->model, params);
    if (p->mtmd == NULL) return refuse("is no encoder for this model", p->options.mmproj);
    const tvlm_log *log = tvlm_log_stderr();
    if (tvlm_device_open(
            tvlm_device_params(.name = p->options.device, .fallback = p->options.device == NULL, .log = log),
            &p->device))
        return 1;
    return tvlm_mtmd_create(p->device, p->mtmd, tvlm_mtmd_options(.mmproj = p->options.mmproj, .log = log),
                            &p->chooser) != TVLM_OK;
}

static int open_sampler(program *p) {
    p->sampler = llama_sampler_chain_init(llama_sampler_chain_default_params());
    if (p->sampler == NULL) return program_fail("no memory for a sampler");
    if (p->options.temperature > 0.0f) {
        llama_sampler_chain_add(p->sampler, llama_sampler_init_temp(p->options.temperature));
        llama_sampler_chain_add(
            p->sampler,
            llama_sampler_init_dist(p->options.seed < 0 ? LLAMA_DEFAULT_SEED : (uint32_t)p->options.seed));
    } else
        llama_sampler_chain_add(p->sampler, llama_sampler_init_greedy());
    return 0;
}

int program_open(program *p) {
    p->last = LLAMA_TOKEN_NULL;
    llama_log_set(listen, NULL);
    mtmd_helper_log_set(listen, NULL);
    ggml_backend_load_all();
    if (open_model(p) != 0 || open_context(p) != 0 || open_encoder(p) != 0) return 1;
    return open_sampler(p);
}

void program_close(program *p) {
    program_forget_images(p);
    program_forget(&p->chat);
    tvlm_mtmd_destroy(&p->chooser);
    tvlm_device_destroy(&p->device);
    if (p->sampler != NULL) llama_sampler_free(p->sampler);
    if (p->mtmd != NULL) mtmd_free(p->mtmd);
    if (p->context != NULL) llama_free(p->context);
    tvlm_mtmd_watch_destroy(&p->watch);
    if (p->model != NULL) llama_model_free(p->model);
}

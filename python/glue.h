/* SPDX-License-Identifier: Apache-2.0 */
/*
 * glue.h: what Python needs beside the public headers: a log that keeps its lines for the thread that called, and
 * functions that release an object by its address alone, as cffi calls them.
 */
#ifndef TVLM_PYTHON_GLUE_H
#define TVLM_PYTHON_GLUE_H

#include <stdlib.h>
#include <string.h>

#include "texturevlm/io.h"
#include "texturevlm/io_basis.h"
#include "texturevlm/io_scorer.h"
#include "texturevlm/lab/codec.h"
#include "texturevlm/lab/fit.h"
#include "texturevlm/lab/io_codec.h"
#include "texturevlm/lab/io_network.h"
#include "texturevlm/lab/io_projection.h"
#include "texturevlm/lab/io_vocab.h"
#include "texturevlm/lab/trainer.h"
#include "texturevlm/lab/vocab.h"
#include "texturevlm/texturevlm.h"

/* Writes into memory of the calling thread, where the three functions below find it. */
const tvlm_log *tvlm_python_log(void);
/* Forgets the lines that the calling thread was told. */
void tvlm_python_forget(void);
/* The first error since then, and all warnings, each followed by a newline; "" where there is none. */
const char *tvlm_python_error(void);
const char *tvlm_python_warnings(void);

void tvlm_python_free_image(tvlm_image *image);
void tvlm_python_free_selection(tvlm_selection *selection);
void tvlm_python_free_prediction(tvlm_prediction *prediction);
void tvlm_python_free_basis(tvlm_basis *basis);
void tvlm_python_free_codec(tvlm_codec *codec);
void tvlm_python_free_codec_trainer(tvlm_codec_trainer *trainer);
void tvlm_python_free_folded_scorer(tvlm_scorer *scorer);
void tvlm_python_free_network(tvlm_network *network);
void tvlm_python_free_projection(tvlm_projection *projection);
void tvlm_python_free_scorer(tvlm_scorer *scorer);
void tvlm_python_free_fit(tvlm_fit *fit);
void tvlm_python_free_stack(tvlm_stack *stack);
void tvlm_python_free_session(tvlm_session *session);
void tvlm_python_free_flow(tvlm_flow *flow);
void tvlm_python_free_clip(tvlm_clip *clip);
void tvlm_python_free_stream(tvlm_stream *stream);
void tvlm_python_free_packed(tvlm_packed *packed);
void tvlm_python_free_trainer(tvlm_trainer *trainer);
void tvlm_python_free_export(tvlm_export *exported);
void tvlm_python_free_vocab(tvlm_vocab *vocab);
void tvlm_python_free_vocab_trainer(tvlm_vocab_trainer *trainer);

#ifndef TVLM_DECLARATIONS /* what cffi compiles, and does not read */
static _Thread_local struct { char error[1024], warnings[4096]; } tvlm_python_lines;

static void tvlm_python_keep(void *user, tvlm_log_level level, const char *message) {
    char *const warnings = tvlm_python_lines.warnings;
    const size_t used = strlen(warnings), length = strlen(message);
    (void)user;
    if (level == TVLM_LOG_ERROR && tvlm_python_lines.error[0] == '\0' &&
        length < sizeof tvlm_python_lines.error)
        memcpy(tvlm_python_lines.error, message, length + 1);
    if (level != TVLM_LOG_WARNING || used + length + 2 > sizeof tvlm_python_lines.warnings) return;
    memcpy(warnings + used, message, length);
    memcpy(warnings + used + length, "\n", 2);
}

const tvlm_log *tvlm_python_log(void) {
    static const tvlm_log log = {tvlm_python_keep, NULL};
    return &log;
}

void tvlm_python_forget(void) {
    tvlm_python_lines.error[0] = tvlm_python_lines.warnings[0] = '\0';
}

const char *tvlm_python_error(void) {
    return tvlm_python_lines.error;
}

const char *tvlm_python_warnings(void) {
    return tvlm_python_lines.warnings;
}

#define TVLM_PYTHON_FREE(name)                                                                               \
    void tvlm_python_free_##name(tvlm_##name *object) {                                                      \
        tvlm_##name##_destroy(&object);                                                                      \
    }
TVLM_PYTHON_FREE(image)
TVLM_PYTHON_FREE(selection)
TVLM_PYTHON_FREE(prediction)
TVLM_PYTHON_FREE(basis)
TVLM_PYTHON_FREE(codec)
TVLM_PYTHON_FREE(codec_trainer)
TVLM_PYTHON_FREE(network)
TVLM_PYTHON_FREE(projection)
TVLM_PYTHON_FREE(scorer)
TVLM_PYTHON_FREE(fit)
TVLM_PYTHON_FREE(stack)
TVLM_PYTHON_FREE(session)
TVLM_PYTHON_FREE(flow)
TVLM_PYTHON_FREE(clip)
TVLM_PYTHON_FREE(stream)
TVLM_PYTHON_FREE(packed)
TVLM_PYTHON_FREE(trainer)
TVLM_PYTHON_FREE(export)
TVLM_PYTHON_FREE(vocab)
TVLM_PYTHON_FREE(vocab_trainer)

void tvlm_python_free_folded_scorer(tvlm_scorer *scorer) {
    tvlm_codec_free_scorer(&scorer);
}
#endif
#endif

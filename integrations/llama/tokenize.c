/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tokenize.c: a prompt with the pictures of plans in it.
 */
#include <string.h>

#include "inside.h"

/* How often the marker stands in a prompt. */
static int32_t markers_in(const char *prompt, const char *marker) {
    int32_t count = 0;
    for (const char *at = prompt; (at = strstr(at, marker)) != NULL; at += strlen(marker)) ++count;
    return count;
}

/* The prompt with the marker once for each picture. NULL: no memory. */
static char *repeat(const char *prompt, const char *marker, tvlm_mtmd_plan *const *plans, size_t pictures) {
    const size_t length = strlen(marker);
    char *made = tvlm_allocate(strlen(prompt) + pictures * length + 1, 1), *to = made;
    if (made == NULL) return NULL;
    for (const char *at; (at = strstr(prompt, marker)) != NULL; prompt = at + length, ++plans) {
        memcpy(to, prompt, (size_t)(at - prompt));
        to += at - prompt;
        for (int32_t i = 0; i < (*plans)->info.pictures; ++i, to += length) memcpy(to, marker, length);
    }
    memcpy(to, prompt, strlen(prompt));
    return made;
}

/* The bitmaps of all plans, one after the other. NULL: no memory. */
static const mtmd_bitmap **bitmaps_of(tvlm_mtmd_plan *const *plans, int32_t count, size_t pictures) {
    const mtmd_bitmap **made = tvlm_allocate(pictures, sizeof *made), **to = made;
    for (int32_t i = 0; made != NULL && i < count; ++i)
        for (int32_t p = 0; p < plans[i]->info.pictures; ++p) *to++ = plans[i]->shown[p].bitmap;
    return made;
}

/* Whether the pictures of chunks are those of the plans, in their order. */
static bool are_shown(const tvlm_mtmd *chooser, const mtmd_input_chunks *chunks, tvlm_mtmd_plan *const *plans,
                      int32_t count) {
    int32_t plan = 0, picture = 0;
    for (size_t i = 0; i < mtmd_input_chunks_size(chunks); ++i) {
        const mtmd_input_chunk *const chunk = mtmd_input_chunks_get(chunks, i);
        if (mtmd_input_chunk_get_type(chunk) != MTMD_INPUT_CHUNK_TYPE_IMAGE) continue;
        if (plan == count || !tvlm_mtmd_is_shown(chooser, chunk, &plans[plan]->shown[picture])) return false;
        if (++picture == plans[plan]->info.pictures) picture = 0, ++plan;
    }
    return plan == count;
}

tvlm_status tvlm_mtmd_tokenize(tvlm_mtmd *chooser, const char *prompt, bool add_special,
                               tvlm_mtmd_plan *const *plans, int32_t count, mtmd_input_chunks **chunks) {
    TVLM_NEED(NULL, chooser);
    const tvlm_log *log = &chooser->log;
    TVLM_NEED(log, prompt);
    TVLM_NEED(log, chunks);
    const char *marker = mtmd_get_marker(chooser->mtmd);
    const int32_t markers = markers_in(prompt, marker);
    if (count < 0 || (count > 0 && plans == NULL) || markers != count)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "the prompt has the marker %s %d times, for %d images",
                         marker, markers, count);
    size_t pictures = 0;
    for (int32_t i = 0; i < count; ++i) {
        TVLM_NEED(log, plans[i]);
        pictures += (size_t)plans[i]->info.pictures;
    }
    char *text = repeat(prompt, marker, plans, pictures);
    const mtmd_bitmap **bitmaps = bitmaps_of(plans, count, pictures);
    mtmd_input_chunks *made = mtmd_input_chunks_init();
    tvlm_status status = TVLM_OK;
    if (text == NULL || bitmaps == NULL || made == NULL)
        status = tvlm_fail(log, TVLM_ERROR_MEMORY, "no memory for a prompt");
    else if (mtmd_tokenize(chooser->mtmd, made, &(mtmd_input_text){text, strlen(text), add_special, true},
                           bitmaps, pictures) != 0)
        status = tvlm_fail(log, TVLM_ERROR_UNSUPPORTED,
                           "libmtmd does not take the prompt or its %zu pictures", pictures);
    else if (!are_shown(chooser, made, plans, count))
        status = tvlm_fail(log, TVLM_ERROR_UNSUPPORTED, "libmtmd makes other pictures than planned");
    free(text);
    free(bitmaps);
    if (status != TVLM_OK)
        mtmd_input_chunks_free(made);
    else
        *chunks = made;
    return status;
}

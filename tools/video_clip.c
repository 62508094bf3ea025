/* SPDX-License-Identifier: Apache-2.0 */
/*
 * video_clip.c: spends a budget of tokens on a whole video, and writes a line of JSON for each slot.
 */
#include "video_clip.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "platform/ending.h"
#include "platform/file.h"
#include "progress.h"
#include "texturevlm/draw.h"

/* ---- Options ---- */

bool video_clip_asked(const video_options *options) {
    return options->budget.given ||
           (options->strategy == NULL && (parameter_given(&options->parameters, "share") ||
                                          parameter_given(&options->parameters, "tolerance")));
}

/* The options that such a budget reads, besides those of every command. */
static const char *const read_here[] = {"budget",  "share",   "tolerance", "patch",  "slot",     "hold",
                                        "memory",  "overlay", "rate",      "size",   "every",    "fps",
                                        "causal",  "motion",  "latency",   "report", "emphasis", "encode",
                                        "bitrate", "roi",     NULL};

static bool is_read(const char *name) {
    for (int i = 0; read_here[i] != NULL; ++i)
        if (name != NULL && strcmp(name, read_here[i]) == 0) return true;
    return false;
}

int video_clip_check(struct tool *tool, const option_group *groups, const video_options *options) {
    const bool share = parameter_given(&options->parameters, "share");
    const bool tolerance = parameter_given(&options->parameters, "tolerance");
    for (; groups->table != NULL; ++groups)
        for (int i = 0; i < groups->table->count; ++i) {
            const option_spec *const spec = &groups->table->specs[i];
            if (is_read(spec->name) || !option_given(spec, (const char *)options + groups->offset)) continue;
            return tool_usage(tool,
                              "%s%s is for positions frame by frame, not for a budget of the whole video",
                              groups->table->settings ? "--set "
                              : spec->name != NULL    ? "--"
                                                      : "-",
                              spec->name != NULL ? spec->name : (const char[]){spec->letter, '\0'});
        }
    if (options->budget.given + share + tolerance > 1)
        return tool_usage(tool, "--budget, --share and --tolerance exclude each other");
    if (options->latency.given && options->causal == 0) return tool_usage(tool, "--latency is for --causal");
    if (options->motion > 0 && options->causal == 0) return tool_usage(tool, "--motion is for --causal");
    if (options->motion > 0 && options->latency.value > 0)
        return tool_usage(tool, "--motion and --latency exclude each other");
    if (options->bitrate.given && options->encode == NULL)
        return tool_usage(tool, "--bitrate is for --encode");
    return TOOL_DONE;
}

/* ---- The first pass ---- */

/* Slots that take more than so many times the mean are told: where times count, and where each slot counts alike. */
#define UNEVEN       1.25
#define UNEVEN_ALIKE 4.0

/* What is known of a slot. */
typedef struct slot_time {
    int64_t frame;    /* the number of its first frame */
    const char *path; /* of its file */
    double time;
    int32_t frames;
    float motion[6]; /* of the camera, from the slot before */
} slot_time;

typedef struct clip_run {
    struct tool *tool;
    const video_options *options;
    int count;
    char *const *paths;
    bool (*stop)(void *user);
    tvlm_device *device;
    tvlm_clip *clip;
    tvlm_clip_info info;
    int32_t width, height; /* of the frames */
    slot_time *slots;      /* from slot `forgotten` on */
    int32_t slot_count, slot_room, forgotten;
    double longest;           /* that a slot takes, but for the last one */
    bool uneven;              /* that was told to be more than the others */
    int64_t frames, expected; /* that came, and that were expected to; 0: not known */
    tvlm_clip_token *tokens;  /* of all slots that have their line */
    int32_t token_count, printed;
    video_report_slot *report; /* [slot_count] */
    double seconds;            /* of a slot, in the mean */
    int32_t hold;              /* in how many slots a token is shown at most; 0: no limit */
    int32_t *cells;            /* [columns][rows] of tokens of level 0: the slot whose token is shown there */
} clip_run;

static int open_frames(const clip_run *run, bool (*stop)(void *user), video_frames *frames) {
    return video_open(run->tool, run->options, run->paths, run->count, stop, frames);
}

static int create(clip_run *run, const video_frames *frames, const tvlm_image *image) {
    const video_options *const options = run->options;
    struct tvlm_select_params asked = {0};
    struct tvlm_clip_params params = {.format = (tvlm_format)options->common.format.value};
    parameters_set(&options->parameters, &asked);
    TOOL_TRY(budget_check(run->tool, &options->parameters, "--budget", &asked.budget));
    if (asked.budget.emphasis_channel != 0)
        return tool_usage(run->tool, "--emphasis %s: of a whole video it is what moves, and takes no channel",
                          parameter_text(&options->parameters, "emphasis"));
    params.emphasis = asked.budget.emphasis;
    params.patch = asked.patch;
    params.share = asked.budget.share;
    params.tolerance = asked.budget.tolerance;
    params.temporal = options->slot.value;
    params.memory = (uint64_t)options->memory.value << 20;
    params.causal = options->causal > 0;
    params.motion = options->motion > 0;
    params.latency = options->latency.value;
    params.k = options->budget.value;
    if (run->expected == 0) run->expected = frames->total;
    params.frames = run->expected > 0 && run->expected < INT32_MAX ? (int32_t)run->expected : 0;
    if (params.k > 0 && params.frames == 0)
        return tool_fail(run->tool,
                         "%s: does not tell how many frames it has, which --budget must know: give a --share",
                         run->paths[0]);
    const int32_t temporal = params.temporal > 0 ? params.temporal : TVLM_CLIP_TEMPORAL_DEFAULT;
    const double slot = run->seconds = temporal / video_frames_rate(frames);
    if (options->hold.given)
        params.hold = options->hold.value < slot ? 1 : (int32_t)((double)options->hold.value / slot + 1e-6);
    run->hold = params.hold;
    run->width = image->width;
    run->height = image->height;
    return tool_status(run->tool,
                       tvlm_clip_create(run->device, options->size.given ? options->size.width : image->width,
                                        options->size.given ? options->size.height : image->height, &params,
                                        &run->clip));
}

/* Whether frames are read once more, when all is decided. */
static bool reads_again(const video_options *options) {
    return options->overlay != NULL || options->encode != NULL || options->roi != NULL;
}

static slot_time *slot_of(const clip_run *run, int32_t slot) {
    return &run->slots[slot - run->forgotten];
}

static int note_frame(clip_run *run, const video_frame *frame) {
    const int32_t slot = (int32_t)(run->frames / run->info.temporal);
    if (slot - run->forgotten == run->slot_room) {
        const int32_t room = run->slot_room > 0 ? 2 * run->slot_room : 16;
        slot_time *const slots = realloc(run->slots, (size_t)room * sizeof *slots);
        if (slots == NULL) return tool_fail(run->tool, "no memory for %d slots", (int)room);
        run->slots = slots;
        run->slot_room = room;
    }
    if (slot == run->slot_count) {
        *slot_of(run, run->slot_count++) = (slot_time){frame->number, frame->path, frame->time, 0, {0.0f}};
        if (slot > run->forgotten)
            run->longest = fmax(run->longest, frame->time - slot_of(run, slot - 1)->time);
    }
    ++slot_of(run, slot)->frames;
    ++run->frames;
    return TOOL_DONE;
}

/* Forgets slots that have their line, but for the last one, where nothing asks for them any more: a stream need not end. */
static void forget_slots(clip_run *run) {
    const int32_t first = run->printed - 1, kept = run->slot_count - first;
    if (run->options->causal == 0 || reads_again(run->options) || first <= run->forgotten) return;
    memmove(run->slots, slot_of(run, first), (size_t)kept * sizeof *run->slots);
    run->forgotten = first;
}

/* ---- Lines ---- */

static void write_token(const clip_run *run, json_writer *json, const tvlm_clip_token *token) {
    json_open_object(json, NULL, true);
    json_float(json, "x", token->x);
    json_float(json, "y", token->y);
    json_float(json, "width", token->width);
    json_float(json, "height", token->height);
    if (token->columns > 0)
        json_integers(json, "thumbnail", 2, (const int64_t[]){token->columns, token->rows});
    if (run->options->causal == 0) json_integer(json, "until", token->until);
    json_close(json);
}

/* Shows tokens in the cells whose middle they cover. */
static int cover(clip_run *run, const tvlm_clip_token *tokens, int32_t count) {
    const tvlm_clip_info *const info = &run->info;
    const int32_t columns = (info->width + info->patch - 1) / info->patch,
                  rows = (info->height + info->patch - 1) / info->patch;
    const float wide = (float)(info->patch * run->width) / (float)info->width;
    const float high = (float)(info->patch * run->height) / (float)info->height;
    if (run->cells == NULL) run->cells = calloc((size_t)columns * (size_t)rows, sizeof *run->cells);
    if (run->cells == NULL) return tool_fail(run->tool, "no memory for %d cells", (int)(columns * rows));
    for (int32_t i = 0; i < count; ++i) {
        if (tokens[i].columns > 0 && !video_begins_thumbnail(tokens, i))
            continue; /* its first cell stands for all */
        for (int32_t cell = 0; cell < columns * rows; ++cell) {
            const float x = ((float)(cell % columns) + 0.5f) * wide,
                        y = ((float)(cell / columns) + 0.5f) * high;
            const bool inside = fabsf(x - tokens[i].x) < 0.5f * tokens[i].width &&
                                fabsf(y - tokens[i].y) < 0.5f * tokens[i].height;
            if (inside || tokens[i].columns > 0) run->cells[cell] = tokens[i].slot;
        }
    }
    return TOOL_DONE;
}

/* How many cells show a token of an earlier slot. What was held for too long, and not bought again, is shown no longer. */
static int32_t count_held(const clip_run *run, int32_t slot) {
    int32_t held = 0;
    for (int32_t cell = 0; cell < run->info.tokens_of_slot; ++cell)
        held += run->cells[cell] < slot && (run->hold == 0 || slot - run->cells[cell] < run->hold);
    return held;
}

static void write_motion(json_writer *json, const float motion[6]) {
    json_open_array(json, "motion", false);
    for (int i = 0; i < 6; ++i) json_float(json, NULL, motion[i]);
    json_close(json);
}

static int print_slot(const clip_run *run, int32_t slot, const tvlm_clip_token *tokens, int32_t count) {
    const slot_time *const time = slot_of(run, slot);
    json_writer json = {0};
    json_open_object(&json, NULL, true);
    json_integer(&json, "slot", slot);
    json_integer(&json, "frame", time->frame);
    json_integer(&json, "frames", time->frames);
    json_seconds(&json, "time", time->time);
    json_image(&json, time->path, run->width, run->height);
    json_device(&json, run->device);
    json_integer(&json, "k", run->info.tokens);
    json_integer(&json, "of", (int64_t)run->info.decided * run->info.tokens_of_slot);
    json_double(&json, "lost", run->info.lost);
    json_double(&json, "lost_downsampled", run->info.lost_downsampled);
    json_integer(&json, "held", count_held(run, slot));
    if (run->options->motion > 0) write_motion(&json, time->motion);
    json_open_array(&json, "tokens", true);
    for (int32_t i = 0; i < count; ++i) write_token(run, &json, &tokens[i]);
    json_close(&json);
    const int code = tool_print_json(run->tool, &json);
    if (code != TOOL_DONE || fflush(stdout) == 0) return code;
    return tool_fail(run->tool, "cannot write to stdout");
}

/* How many tokens, from `first` on, a slot has. */
static int32_t count_of(const tvlm_clip_token *tokens, int32_t count, int32_t first, int32_t slot) {
    int32_t end = first;
    while (end < count && tokens[end].slot == slot) ++end;
    return end - first;
}

/* Keeps the tokens for the second pass, if there is one. */
static int keep_tokens(clip_run *run, const tvlm_clip_token *tokens, int32_t count) {
    if (!reads_again(run->options) || count == 0) return TOOL_DONE;
    tvlm_clip_token *const all =
        realloc(run->tokens, ((size_t)run->token_count + (size_t)count) * sizeof *all);
    if (all == NULL) return tool_fail(run->tool, "no memory for %d tokens", (int)(run->token_count + count));
    memcpy(all + run->token_count, tokens, (size_t)count * sizeof *all);
    run->tokens = all;
    run->token_count += count;
    return TOOL_DONE;
}

/* Counts the tokens of a slot for the report, if there is one. */
static int count_tokens(clip_run *run, const tvlm_clip_token *tokens, int32_t count) {
    const size_t slots = (size_t)run->printed + 1;
    if (run->options->report == NULL) return TOOL_DONE;
    video_report_slot *const report = realloc(run->report, slots * sizeof *report);
    if (report == NULL) return tool_fail(run->tool, "no memory for %d slots", (int)slots);
    video_report_slot *const slot = &report[run->printed];
    *slot = (video_report_slot){.time = slot_of(run, run->printed)->time};
    for (int32_t i = 0; i < count; ++i) {
        const float patches =
            tokens[i].width * (float)run->info.width / (float)(run->width * run->info.patch);
        ++slot->tokens[tokens[i].columns > 0 ? 0 : patches > 3.0f ? 1 : patches > 1.1f ? 2 : 3];
    }
    run->report = report;
    return TOOL_DONE;
}

/* Prints the slots that are decided and have no line yet. */
static int print_decided(clip_run *run) {
    int32_t count, first = 0;
    const tvlm_clip_token *const tokens = tvlm_clip_tokens(run->clip, &count);
    TOOL_TRY(tool_status(run->tool, tvlm_clip_get_info(run->clip, &run->info)));
    if (run->printed == run->info.decided) return TOOL_DONE;
    TOOL_TRY(keep_tokens(run, tokens, count));
    /* A stream whose held tokens move along decides one slot at a time. */
    memcpy(slot_of(run, run->info.decided - 1)->motion, run->info.motion, sizeof run->info.motion);
    for (; run->printed < run->info.decided; ++run->printed) {
        const int32_t own = count_of(tokens, count, first, run->printed);
        TOOL_TRY(cover(run, tokens + first, own));
        TOOL_TRY(count_tokens(run, tokens + first, own));
        TOOL_TRY(print_slot(run, run->printed, tokens + first, own));
        first += own;
    }
    forget_slots(run);
    return TOOL_DONE;
}

/* ---- Taking frames ---- */

/* Whether all inputs can be read a second time. A pipe cannot. */
static bool comes_again(const clip_run *run) {
    tvlm_file_facts facts;
    for (int i = 0; i < run->count; ++i)
        if (tvlm_path_facts(run->paths[i], &facts) && !facts.ordinary) return false;
    return true;
}

/* Counts the frames for a number of tokens: what a video says of itself is an estimate where its frames are not evenly spaced,
 * and files may be unreadable. What is left out is told when the frames are taken. */
static int count_frames(clip_run *run) {
    video_frames frames = {0};
    video_frame frame = {0};
    if (!run->options->budget.given || !comes_again(run)) return TOOL_DONE;
    int code = open_frames(run, run->stop, &frames);
    frames.quiet = true;
    const bool bar = code == TOOL_DONE && frames.total > 0;
    if (bar) progress_start("counting frames", frames.total);
    while (code == TOOL_DONE && !run->stop(NULL) &&
           (code = video_frames_next(&frames, &frame)) == TOOL_DONE && !frame.end) {
        ++run->expected;
        if (bar) progress_step(run->expected);
    }
    progress_clear();
    video_frames_release(&frames);
    return code;
}

/* Says that a pipe told a wrong number of frames, by which a number of tokens was spread. */
static void warn_unexpected(const clip_run *run) {
    if (!run->options->budget.given || run->frames == run->expected || run->stop(NULL)) return;
    tvlm_log_message(&run->tool->log, TVLM_LOG_WARNING,
                     "%s: %lld frames came, and it told of %lld, over which --budget was spread: %s",
                     run->paths[0], (long long)run->frames, (long long)run->expected,
                     run->frames < run->expected ? "fewer tokens are spent"
                                                 : "the last ones may lack tokens");
}

/* Says once that slots take unequal times: each counts alike, and --hold was made a number of slots by their mean. */
static void warn_uneven(clip_run *run) {
    char what[96] = "and each counts alike";
    if (run->uneven || run->longest <= (run->hold > 0 ? UNEVEN : UNEVEN_ALIKE) * run->seconds) return;
    run->uneven = true;
    if (run->hold > 0)
        snprintf(what, sizeof what, "by which --hold is %d slots: tokens may be shown for longer",
                 (int)run->hold);
    tvlm_log_message(&run->tool->log, TVLM_LOG_WARNING,
                     "%s: a slot takes %.2f s, and %.2f s in the mean, %s; --fps makes all slots alike",
                     slot_of(run, run->slot_count - 1)->path, run->longest, run->seconds, what);
}

static int take(clip_run *run, const video_frames *frames, const video_frame *frame) {
    int code = run->clip == NULL ? create(run, frames, &frame->image) : TOOL_DONE;
    if (code == TOOL_DONE && run->frames == 0)
        code = tool_status(run->tool, tvlm_clip_get_info(run->clip, &run->info));
    if (code == TOOL_DONE) code = tool_status(run->tool, tvlm_clip_push(run->clip, &frame->image));
    if (code == TOOL_DONE) code = note_frame(run, frame);
    if (code == TOOL_DONE) warn_uneven(run);
    return code == TOOL_DONE && run->options->causal > 0 ? print_decided(run) : code;
}

/* Takes in all frames, and decides. What makes the outcome partial is told at the end: *partly becomes TOOL_PARTLY. */
static int take_all(clip_run *run, int *partly) {
    video_frames frames = {0};
    video_frame frame = {0};
    int code = open_frames(run, run->stop, &frames);
    const bool bar = code == TOOL_DONE && frames.total > 0;
    if (bar) progress_start("frames", frames.total);
    while (code == TOOL_DONE && !run->stop(NULL) &&
           (code = video_frames_next(&frames, &frame)) == TOOL_DONE && !frame.end) {
        code = take(run, &frames, &frame);
        if (bar) progress_step(run->frames);
    }
    progress_clear();
    if (code == TOOL_DONE && run->clip != NULL) code = tool_status(run->tool, tvlm_clip_end(run->clip));
    if (code == TOOL_DONE && run->clip != NULL) code = print_decided(run);
    if (code == TOOL_DONE) warn_unexpected(run);
    if (code == TOOL_DONE) *partly = video_frames_end(&frames);
    video_frames_release(&frames);
    return code;
}

/* ---- The second pass ---- */

/* What the second pass makes. Of an overlay or a video that nobody asked for, `path` is NULL. */
typedef struct second_pass {
    video_overlay overlay, encoded;
    video_regions regions;
    video_seen seen;
    uint8_t *rgb;   /* a frame, where it is something else */
    int64_t frames; /* that were added */
} second_pass;

/* Begins videos of the size of the first frame, which a writer may refuse. */
static int begin_outputs(video_frames *frames, second_pass *pass) {
    video_frame frame;
    if (pass->overlay.library == NULL && pass->encoded.library == NULL) return TOOL_DONE;
    TOOL_TRY(video_frames_next(frames, &frame));
    if (frame.end) return TOOL_DONE;
    TOOL_TRY(video_overlay_begin(&pass->overlay, 2 * frame.image.width, frame.image.height));
    return video_overlay_begin(&pass->encoded, frame.image.width, frame.image.height);
}

/* Opens all of it, before any work. The rate of the frames is known once they are open. */
static int open_outputs(const clip_run *run, second_pass *pass) {
    const video_options *const options = run->options;
    video_frames frames = {0};
    if (!reads_again(options)) return TOOL_DONE;
    int code = open_frames(run, run->stop, &frames);
    if (code == TOOL_DONE)
        code = video_overlay_open(run->tool, options->overlay, video_frames_rate(&frames), &pass->overlay);
    if (code == TOOL_DONE)
        code = video_overlay_open_video(run->tool, options->encode, video_frames_rate(&frames),
                                        1000.0 * (double)options->bitrate.value, &pass->encoded);
    frames.quiet = true;
    if (code == TOOL_DONE) code = begin_outputs(&frames, pass);
    pass->regions.tool = run->tool;
    pass->regions.path = options->roi;
    video_frames_release(&frames);
    return code;
}

static void release_outputs(second_pass *pass) {
    video_overlay_release(&pass->overlay);
    video_overlay_release(&pass->encoded);
    video_regions_release(&pass->regions);
    video_seen_release(&pass->seen);
    free(pass->rgb);
}

/* Makes RGB of 8 bits of a frame, as it is drawn: pictures may be grey, have 16 bits, or an alpha. */
static int draw_rgb(const clip_run *run, second_pass *pass, tvlm_image *image) {
    if (image->channels == 3 && image->type == TVLM_PIXEL_U8 && image->row_stride == 0) return TOOL_DONE;
    if (pass->rgb == NULL) pass->rgb = malloc(3 * (size_t)image->width * (size_t)image->height);
    if (pass->rgb == NULL) return tool_fail(run->tool, "no memory for a frame");
    TOOL_TRY(tool_status(run->tool,
                         tvlm_draw_image(image, &run->tool->log, image->width, image->height, pass->rgb)));
    *image = (tvlm_image){.pixels = pass->rgb, .width = image->width, .height = image->height, .channels = 3};
    return TOOL_DONE;
}

/* Makes what there is to make of a frame whose slot has these tokens. */
static int add_frame(const clip_run *run, second_pass *pass, video_frame *frame, const slot_time *slot,
                     const tvlm_clip_token *tokens, int32_t count) {
    const float patch = (float)(run->info.patch * run->width) / (float)run->info.width;
    const int32_t place = (int32_t)(pass->frames++ % run->info.temporal); /* in its slot */
    const bool last = place + 1 == slot->frames;
    tvlm_image picture;
    if (pass->overlay.path != NULL && run->options->motion > 0)
        video_seen_move(&pass->seen, slot->motion, (float)(place + 1) / (float)slot->frames);
    TOOL_TRY(draw_rgb(run, pass, &frame->image));
    if (pass->overlay.path != NULL) {
        TOOL_TRY(tool_status(run->tool,
                             video_seen_draw(&pass->seen, &frame->image, tokens, count, last, &picture)));
        TOOL_TRY(video_overlay_add(&pass->overlay, &picture, frame->number, frame->time));
    }
    if (pass->encoded.path == NULL && pass->regions.path == NULL) return TOOL_DONE;
    /* The last frame of a slot is the one that is held. The others would spend the bits on what it repeats. */
    TOOL_TRY(video_regions_find(&pass->regions, tokens, last ? count : 0, patch, run->width, run->height));
    TOOL_TRY(video_regions_add(&pass->regions, frame->number, frame->time));
    if (pass->encoded.path == NULL) return TOOL_DONE;
    return video_overlay_add_regions(&pass->encoded, &frame->image, frame->time, pass->regions.all,
                                     pass->regions.count);
}

static int add_frames(const clip_run *run, video_frames *frames, second_pass *pass) {
    int32_t first = 0;
    for (int64_t i = 0; i < run->frames; ++i) {
        const int32_t slot = (int32_t)(i / run->info.temporal),
                      own = count_of(run->tokens, run->token_count, first, slot);
        const bool last = i + 1 == run->frames || (i + 1) % run->info.temporal == 0;
        video_frame frame;
        TOOL_TRY(video_frames_next(frames, &frame));
        if (frame.end)
            return tool_fail(run->tool, "%s: has fewer frames when it is read again", run->paths[0]);
        TOOL_TRY(add_frame(run, pass, &frame, slot_of(run, slot), run->tokens + first, own));
        if (last) first += own;
        progress_step(i + 1);
    }
    return TOOL_DONE;
}

static int make_outputs(const clip_run *run, second_pass *pass) {
    video_frames frames = {0};
    if (!reads_again(run->options) || run->clip == NULL) return TOOL_DONE;
    int code = open_frames(run, NULL, &frames); /* what was decided before a signal is drawn */
    if (code == TOOL_DONE && pass->overlay.path != NULL)
        code = video_seen_open(run->tool, &run->info, run->width, run->height, &pass->seen);
    progress_start("drawing frames", run->frames);
    if (code == TOOL_DONE) code = add_frames(run, &frames, pass);
    progress_clear();
    if (code == TOOL_DONE) code = video_overlay_finish(&pass->overlay);
    if (code == TOOL_DONE) code = video_overlay_finish(&pass->encoded);
    if (code == TOOL_DONE) code = video_regions_write(&pass->regions);
    video_frames_release(&frames);
    return code;
}

/* A pipe cannot be read twice. */
static int check_again(const clip_run *run) {
    tvlm_file_facts facts;
    for (int i = 0; reads_again(run->options) && i < run->count; ++i)
        if (tvlm_path_facts(run->paths[i], &facts) && !facts.ordinary)
            return tool_usage(run->tool,
                              "%s: is no file that can be read twice, which --%s must for a budget of the "
                              "whole video",
                              run->paths[i],
                              run->options->overlay != NULL  ? "overlay"
                              : run->options->encode != NULL ? "encode"
                                                             : "roi");
    return TOOL_DONE;
}

/* ---- The run ---- */

/* A slot takes until the next one begins. Of the last one it is the mean, as where the clock goes back. */
static void find_seconds(const clip_run *run) {
    for (int32_t i = 0; i < run->printed; ++i) {
        const double seconds = i + 1 < run->printed ? run->report[i + 1].time - run->report[i].time : 0.0;
        run->report[i].seconds = seconds > 0.0 ? seconds : run->seconds;
    }
}

static int write_report(const clip_run *run) {
    const double all = (double)run->info.decided * run->info.tokens_of_slot;
    char title[200];
    if (run->options->report == NULL || run->printed == 0) return TOOL_DONE;
    snprintf(title, sizeof title, "%lld of %.0f tokens (%.1f %%); lost %.4f, by downsampling %.4f",
             (long long)run->info.tokens, all, 100.0 * (double)run->info.tokens / all, run->info.lost,
             run->info.lost_downsampled);
    find_seconds(run);
    return video_report_write(run->tool, run->options->report, title, run->report, run->printed);
}

static int end_interrupted(const clip_run *run) {
    (void)tool_fail(run->tool, "interrupted after %lld frames", (long long)run->frames);
    return 128 + tvlm_ending_noted();
}

int video_clip_run(struct tool *tool, const video_options *options, int count, char *const *paths,
                   bool (*stop)(void *user)) {
    clip_run run = {.tool = tool, .options = options, .count = count, .paths = paths, .stop = stop};
    second_pass pass = {0};
    int partly = TOOL_DONE, code = check_again(&run);
    if (code == TOOL_DONE) code = open_outputs(&run, &pass);
    if (code == TOOL_DONE) code = tool_open_device(tool, &options->common, &run.device);
    if (code == TOOL_DONE) code = count_frames(&run);
    if (code == TOOL_DONE) code = take_all(&run, &partly);
    if (code == TOOL_DONE) code = make_outputs(&run, &pass);
    if (code == TOOL_DONE) code = write_report(&run);
    if (code == TOOL_DONE)
        code = tool_keep_files(tool); /* also of a video that is damaged or was interrupted */
    if (code == TOOL_DONE) code = partly;
    if (tool_was_interrupted(tool, code)) code = end_interrupted(&run);
    release_outputs(&pass);
    tvlm_clip_destroy(&run.clip);
    tvlm_device_destroy(&run.device);
    free(run.slots);
    free(run.tokens);
    free(run.report);
    free(run.cells);
    return code;
}

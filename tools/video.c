/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tvlm video: finds the positions that matter, frame by frame. It writes them as lines of JSON, and draws
 * them on the frames.
 */
#include "video.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "parameters.h"
#include "platform/ending.h"
#include "platform/file.h"
#include "platform/stdio.h"
#include "progress.h"
#include "shared.h"
#include "video_clip.h"
#include "video_frames.h"
#include "video_overlay.h"

/* ---- Options ---- */

static const option_spec whole_list[] = {
    {0, OPTION_INTEGER, "budget", offsetof(video_options, budget), "N",
     "N tokens for the whole video; each is shown until another one takes its place. --share and --tolerance without a "
     "--strategy are of the whole video, too",
     1, INT32_MAX, NULL},
    {0, OPTION_INTEGER, "slot", offsetof(video_options, slot), "FRAMES",
     "frames that a model takes at a time (default: 2)", 1, 16, NULL},
    {0, OPTION_NUMBER, "hold", offsetof(video_options, hold), "SECONDS",
     "no token is shown for longer (default: until another one takes its place)", 0.001, 1e6, NULL},
    {0, OPTION_OUTPUT, "report", offsetof(video_options, report), "FILE.png",
     "a picture of the tokens a second over time", NO_RANGE, NULL},
    {0, OPTION_OUTPUT, "encode", offsetof(video_options, encode), "FILE.mp4",
     "the frames once more as a video, with more bits where tokens are bought, which is where a model looks",
     NO_RANGE, NULL},
    {0, OPTION_NUMBER, "bitrate", offsetof(video_options, bitrate), "KBITS",
     "of --encode, a second (default: an even quality)", 1, 1e6, NULL},
    {0, OPTION_OUTPUT, "roi", offsetof(video_options, roi), "FILE.jsonl",
     "these regions for an encoder of your own: a line for each frame, with FFmpeg's qoffset", NO_RANGE,
     NULL},
    {0, OPTION_FLAG, "causal", offsetof(video_options, causal), NULL,
     "decide slot by slot, for a stream that does not end; each slot's line is printed at once", NO_RANGE,
     NULL},
    {0, OPTION_FLAG, "motion", offsetof(video_options, motion), NULL,
     "with --causal: what is held moves along with the camera, for models that are told how (\"motion\")",
     NO_RANGE, NULL},
    {0, OPTION_INTEGER, "latency", offsetof(video_options, latency), "SLOTS",
     "with --causal decide a slot only when so many further ones are there (default: 0)", 0, 8, NULL},
    {0, OPTION_INTEGER, "memory", offsetof(video_options, memory), "MIB",
     "of the host and the device together; with less a long video is decided in shorter windows (default: 1024)",
     1, 1 << 20, NULL},
};
static const option_specs own_whole_specs = OPTION_SPECS("A budget for the whole video", whole_list);

static const option_spec outputs_list[] = {
    {0, OPTION_PATTERN, "overlay", offsetof(video_options, overlay), "DIR|FILE.mp4",
     "the frames with what was chosen: frame-000000.png, ... in a folder (made if it is not "
     "there), or a video",
     NO_RANGE, NULL},
    {0, OPTION_FOLDER, "needs", offsetof(video_options, needs), "DIR",
     "write a mask for each frame, named as its features: the cells that need new ones, uint8 h x "
     "w, once there were any",
     NO_RANGE, NULL},
};
static const option_specs own_outputs_specs = OPTION_SPECS("What comes out", outputs_list);

static const option_spec sights_list[] = {
    {0, OPTION_INPUT, "gaze", offsetof(video_options, gaze), "FILE",
     "where somebody looked, \"time,x,y\" a line; in seconds since the first frame and pixels; nan while the "
     "eyes are shut",
     NO_RANGE, NULL},
    {0, OPTION_INTEGER, "frames", offsetof(video_options, frames), "T",
     "the scorer may read T frames, 2 to 64: motion@-1 is the motion of the frame before, at the "
     "same place",
     2, TVLM_VOLUME_FRAMES_MAX, NULL},
    {0, OPTION_INPUT, "features", offsetof(video_options, features), "DIR",
     "the encoder's vectors of frames, h x w x D; DIR/STEM.npy for STEM.jpg, DIR/frame-000012.npy for "
     "frame 12 of a video. Frames without such a file carry the last ones along, as do cells that are NaN "
     "in all D numbers",
     NO_RANGE, NULL},
    {0, OPTION_INPUT, "flow", offsetof(video_options, flow), "DIR",
     "a folder with flow of your own; from a frame to the one before it that was taken: DIR/STEM.flo or "
     "DIR/frame-000012.flo, of the frame's size; it is estimated where there is no such file",
     NO_RANGE, NULL},
};
static const option_specs own_sights_specs = OPTION_SPECS("Where to look", sights_list);

static const option_spec playing_list[] = {
    {0, OPTION_CHOICE, "preset", offsetof(video_options, preset), "USE",
     "moving (default), still, screen (or document) or gaze; moving: a moving camera; still: one that is "
     "not; screen: text counts and motion does not; gaze: where --gaze looked counts most",
     NO_RANGE, video_presets},
    {0, OPTION_NUMBER, "rate", offsetof(video_options, rate), "FPS",
     "frames a second of image files (default: 25)", 0.001, 10000, NULL},
    {0, OPTION_SIZE, "size", offsetof(video_options, size), "WxH|N",
     "of the working images (default: the frames' own)", 1, 32767, NULL},
    {0, OPTION_INTEGER, "keyframe", offsetof(video_options, keyframe), "N",
     "frames from one keyframe to the next (default: 30)", 1, 1000000, NULL},
    {0, OPTION_NUMBER, "cut", offsetof(video_options, cut), "T",
     "a frame that differs by T from the last one begins anew, 0 .. 1 (default: 0.3); above 1: none does", 0,
     2, NULL},
    {0, OPTION_FLAG, "no-delta", offsetof(video_options, no_delta), NULL,
     "every frame is made anew, not only where it changed", NO_RANGE, NULL},
    {0, OPTION_INTEGER, "tile", offsetof(video_options, tile), "PIXELS",
     "side of the tiles that are compared with the last frame's, a multiple of 16 (default: 64)", 16, 4096,
     NULL},
    {0, OPTION_NUMBER, "threshold", offsetof(video_options, threshold), "T",
     "a tile changed where a value differs by more, black to white being 1 (default: 0: by "
     "anything)",
     0, 1, NULL},
    {0, OPTION_NUMBER, "carry", offsetof(video_options, carry), "SHARE",
     "saliency and regions are kept until SHARE of the frame has changed (default: 0); they hang on the "
     "whole frame; all frames since count together; 0: made again with every change; still and screen: "
     "0.25",
     0, 1000, NULL},
    {0, OPTION_NUMBER, "steadiness", offsetof(video_options, steadiness), "S",
     "for grid: added to the score where the last frame's positions are carried to (default: 0.15; 0: none)",
     0, 1000, NULL},
};
static const option_specs own_playing_specs = OPTION_SPECS("The video", playing_list);

static const option_group groups[] = {
    {&strategy_specs, offsetof(video_options, strategy)},
    {&video_parameter_specs, offsetof(video_options, parameters)},
    {&own_whole_specs, 0},
    {&video_parameter_settings, offsetof(video_options, parameters)},
    {&weighing_specs, offsetof(video_options, weighing)},
    {&own_sights_specs, 0},
    {&network_specs, offsetof(video_options, network)},
    {&query_specs, offsetof(video_options, questions)},
    {&combine_specs, offsetof(video_options, questions)},
    {&feature_patch_specs, offsetof(video_options, questions.patch)},
    {&query_settings, offsetof(video_options, questions)},
    {&own_outputs_specs, 0},
    {&own_playing_specs, 0},
    {&sampling_specs, offsetof(video_options, sampling)},
    {0},
};

static bool must_stop(void *unused) {
    (void)unused;
    return tvlm_ending_noted() != 0;
}

/* ---- Frames ---- */

int video_open(struct tool *tool, const video_options *options, char *const *paths, int32_t count,
               bool (*stop)(void *user), video_frames *frames) {
    video_sampling sampling = {.rate = (double)options->rate.value};
    TOOL_TRY(sampling_set(tool, &options->sampling, &sampling));
    return video_frames_open(tool, paths, count, &sampling, stop, frames);
}

struct run {
    struct tool *tool;
    const video_options *options;
    video_frames frames;
    video_overlay overlay;
    video_session session;
    video_held held[2];
    int64_t done;     /* how many frames were taken */
    int64_t answered; /* how many have their line; if they come again, they get no second one */
    int64_t last_cut; /* the last answered frame that knew nothing about earlier frames */
    int64_t begin;    /* frames before this one are passed over */
    bool now_held;    /* the present frame is held */
    bool next_held;   /* the frame after the present one is held */
    bool now_sent;    /* the present frame was sent ahead */
};

static int hold(struct run *run, video_held *held) {
    video_frame frame;
    TOOL_TRY(video_frames_next(&run->frames, &frame));
    held->frame = frame;
    return frame.end ? TOOL_DONE : video_held_copy(run->tool, &frame, held);
}

static int draw(struct run *run, const video_answer *answer) {
    struct tvlm_draw_params params = answer->grid;
    tvlm_image *picture = NULL;
    tvlm_selection_info info;
    char title[256];
    if (run->overlay.path == NULL) return TOOL_DONE;
    video_answer_title(answer, title, sizeof title);
    params.title = title;
    (void)tvlm_selection_get_info(answer->selection, &info);
    /* The texels that this strategy chooses are no cells of the grid, and are drawn as squares. */
    if (info.strategy == TVLM_STRATEGY_EXHAUSTIVE) params.columns = params.rows = 0;
    int code = tool_status(run->tool, tvlm_draw_selection(&answer->frame->image, &info, answer->positions,
                                                          answer->count, &params, &run->tool->log, &picture));
    if (code == TOOL_DONE)
        code = video_overlay_add(&run->overlay, picture, answer->frame->number, answer->frame->time);
    tvlm_image_destroy(&picture);
    return code;
}

static int hold_next(struct run *run, video_held *next) {
    const int code = run->next_held ? TOOL_DONE : hold(run, next);
    run->next_held = code == TOOL_DONE;
    return code;
}

static int tell_answer(struct run *run, const video_answer *answer) {
    if (run->done < run->answered) return TOOL_DONE;
    int code = draw(run, answer);
    if (code == TOOL_DONE) code = video_answer_print(&run->session, answer);
    if (code == TOOL_DONE) code = tool_keep_files(run->tool);
    if (code == TOOL_DONE) run->answered = run->done + 1;
    if (code == TOOL_DONE && answer->report.cut) run->last_cut = run->done;
    return code;
}

/* Makes the answer for one frame. While the device works on it, the next frame is read, decoded and sent. */
static int one_frame(struct run *run, video_held *now, video_held *next) {
    video_answer answer;
    int code = video_session_push(&run->session, &now->frame, run->now_sent, &answer);
    if (code == TOOL_DONE) code = hold_next(run, next);
    if (code == TOOL_DONE && !next->frame.end) code = video_session_send(&run->session, &next->frame);
    if (code == TOOL_DONE) code = video_session_select(&run->session, &answer);
    if (code == TOOL_DONE) code = tell_answer(run, &answer);
    video_answer_release(&answer);
    run->now_sent = code == TOOL_DONE; /* it now says this of the next frame */
    return code;
}

static int all_frames(struct run *run) {
    /* If the lines go to a terminal, a bar between them would only disturb. */
    const bool bar = run->frames.total > 0 && !tvlm_stdio_is_terminal(stdout);
    if (bar) progress_start("frames", run->frames.total);
    int code = run->now_held ? TOOL_DONE : hold(run, &run->held[0]);
    run->now_held = true;
    while (code == TOOL_DONE && !must_stop(NULL)) {
        video_held *const now = &run->held[run->done % 2], *const next = &run->held[(run->done + 1) % 2];
        if (now->frame.end) break;
        code = run->done < run->begin ? hold_next(run, next) : one_frame(run, now, next);
        if (code != TOOL_DONE) break;
        run->next_held = false;
        ++run->done;
        if (bar) progress_step(run->done);
    }
    progress_clear();
    return code;
}

/* Whether all inputs can be read a second time. A pipe cannot. */
static bool come_again(char *const *paths, int count) {
    tvlm_file_facts facts;
    for (int i = 0; i < count; ++i)
        if (!tvlm_path_facts(paths[i], &facts) || !facts.ordinary) return false;
    return true;
}

/*
 * Goes on with another device after one was lost, and with it everything that it knew about earlier frames.
 *
 * The frames since the last cut are taken again; a cut forgets all that was before it. Then the answers that
 * are still to come are the same as if the other device had worked from the first frame on. If frames come
 * from a pipe, they cannot be taken again, and the present one becomes a first frame.
 */
static int go_on(struct run *run, int count, char *const *paths) {
    const bool again = come_again(paths, count);
    struct tool *const tool = run->tool;
    int code = video_session_go_on(&run->session, again);
    run->now_sent = false;
    if (code != TOOL_DONE) return code;
    if (again) {
        video_frames_release(&run->frames);
        code = video_open(tool, run->options, paths, count, must_stop, &run->frames);
        run->begin = run->last_cut;
        run->done = 0;
        run->now_held = run->next_held = false;
    } else {
        tvlm_log_message(&tool->log, TVLM_LOG_WARNING,
                         "frame %lld is a first frame: those before it cannot be read again",
                         (long long)run->held[run->done % 2].frame.number);
    }
    return code == TOOL_DONE ? all_frames(run) : code;
}

/* Ends a run after a signal. Frames that were finished by then are in the outputs. */
static int end_interrupted(struct tool *tool, int64_t done) {
    (void)tool_fail(tool, "interrupted after %lld frames", (long long)done);
    return 128 + tvlm_ending_noted();
}

/* Refuses options that the strategy does not read. */
static int check_strategy(struct tool *tool, const video_options *options) {
    const strategy_option given[] = {
        {"--weights", "weights", options->weighing.weights.given},
    };
    const tvlm_strategy strategy = video_strategy(options);
    const bool asked = options->strategy != NULL;
    if (options->steadiness.value > 0.0f && strategy != TVLM_STRATEGY_GRID)
        return tool_usage(tool, "--steadiness is for --strategy grid");
    TOOL_TRY(parameters_check(tool, strategy, asked, &options->parameters));
    return strategies_check(tool, strategy, asked, given, sizeof given / sizeof *given);
}

static int check_usage(struct tool *tool, const video_options *options) {
    if (options->slot.given || options->hold.given || options->memory.given || options->causal > 0 ||
        options->motion > 0 || options->latency.given || options->report != NULL || options->encode != NULL ||
        options->bitrate.given || options->roi != NULL)
        return tool_usage(tool,
                          "--%s is for a budget of the whole video: give --budget, --share or --tolerance",
                          options->slot.given       ? "slot"
                          : options->hold.given     ? "hold"
                          : options->memory.given   ? "memory"
                          : options->causal > 0     ? "causal"
                          : options->motion > 0     ? "motion"
                          : options->latency.given  ? "latency"
                          : options->encode != NULL ? "encode"
                          : options->bitrate.given  ? "bitrate"
                          : options->roi != NULL    ? "roi"
                                                    : "report");
    if (options->weighing.weights.given && options->weighing.scorer != NULL)
        return tool_usage(tool, "--weights and --scorer exclude each other");
    if (options->frames.given && options->weighing.scorer == NULL)
        return tool_usage(tool, "--frames is for a --scorer that looks back");
    if (video_use(options->preset.value) == TVLM_STREAM_GAZE && options->gaze == NULL)
        return tool_usage(tool, "--preset gaze needs --gaze FILE");
    if (options->features != NULL && options->questions.query == NULL && options->weighing.scorer == NULL)
        return tool_usage(tool, "--features needs --query, or a --scorer that reads them");
    if (options->needs != NULL && options->features == NULL)
        return tool_usage(tool, "--needs is for frames with --features");
    if (options->no_delta > 0 && (options->tile.given || options->threshold.given || options->carry.given))
        return tool_usage(tool, "--no-delta compares nothing: --tile, --threshold and --carry are of no use");
    if (options->tile.value % 16 != 0)
        return tool_usage(tool, "--tile: %d is not a multiple of 16", (int)options->tile.value);
    return TOOL_DONE;
}

static int check(struct tool *tool, const video_options *options) {
    int code = check_usage(tool, options);
    if (code == TOOL_DONE) code = check_strategy(tool, options);
    if (code == TOOL_DONE) code = video_folder_check(tool, options->features);
    return code == TOOL_DONE ? video_folder_check(tool, options->flow) : code;
}

static int run_clip(struct tool *tool, const video_options *options, int count, char *const *paths) {
    TOOL_TRY(video_clip_check(tool, groups, options));
    tvlm_ending_note_first();
    return video_clip_run(tool, options, count, paths, must_stop);
}

static int run_video(struct tool *tool, const void *values, int operand_count, char *const *operands) {
    video_options *const options = malloc(sizeof *options);
    struct run run = {.tool = tool, .options = options};
    if (options == NULL) return tool_fail(tool, "no memory");
    memcpy(options, values, sizeof *options);
    options->questions.features.count = options->features != NULL; /* the folder counts as one file */
    options->questions.features.values[0] = options->features;
    if (video_clip_asked(options)) {
        const int done = run_clip(tool, options, operand_count, operands);
        free(options);
        return done;
    }
    int code = check(tool, options);
    tvlm_ending_note_first();
    if (code == TOOL_DONE) code = video_open(tool, options, operands, operand_count, must_stop, &run.frames);
    if (code == TOOL_DONE)
        code = video_overlay_open(tool, options->overlay, video_frames_rate(&run.frames), &run.overlay);
    if (code == TOOL_DONE) code = video_session_open(tool, options, &run.session);
    run.session.video = run.frames.reader != NULL;
    if (code == TOOL_DONE && options->needs != NULL) code = video_folder_make(tool, options->needs);
    /* Two files may have the same name. Frames of a video have numbers, which differ. */
    for (int i = 0; code == TOOL_DONE && options->needs != NULL && !run.session.video && i < operand_count;
         ++i)
        code = video_mask_note(tool, options->needs, operands[i]);
    if (code == TOOL_DONE) code = all_frames(&run);
    while (run.now_held && tool_goes_on(tool, code)) code = go_on(&run, operand_count, operands);
    if (code == TOOL_DONE && tvlm_ending_noted() == 0) video_session_end(&run.session);
    if (code == TOOL_DONE) code = video_overlay_finish(&run.overlay);
    if (tool_was_interrupted(tool, code)) code = end_interrupted(tool, run.answered);
    if (code == TOOL_DONE) code = video_frames_end(&run.frames);
    video_overlay_release(&run.overlay);
    video_session_release(&run.session);
    video_frames_release(&run.frames);
    video_held_release(&run.held[0]);
    video_held_release(&run.held[1]);
    free(options);
    return code;
}

static const char *const examples[] = {
    "video clip.mp4 --overlay seen.mp4",
    "video clip.mp4 --share 0.1 --overlay seen.mp4 > tokens.jsonl",
    NULL,
};

static const option_brief brief[] = {
    {"What to choose", "k strategy preset patch"},
    {"A budget for the whole video", "budget share tolerance slot hold causal report"},
    {"Where to look", "scorer gaze features flow"},
    {"What is asked", "query"},
    {"What comes out", "overlay needs"},
    {"The video", "size every fps rate keyframe cut no-delta carry"},
    {"Device and messages", "device fallback verbose quiet help"},
    {NULL, NULL},
};

const tool_command video_command = {
    .name = "video",
    .examples = examples,
    .brief = brief,
    .summary = "the positions that matter, frame by frame, as lines of JSON",
    .operands = "FRAME...|CLIP",
    .operand_min = 1,
    .operand_max = INT32_MAX,
    .details =
        "FRAMEs are " READ_PICTURES ",\n"
        "in their order; CLIP is one video. One line of JSON a frame: what\n"
        "`tvlm select` prints, and\n"
        "  frame, time      its number, seconds\n"
        "  keyframe, cut    all is made anew; and the frame before it is forgotten\n"
        "  difference       from the last frame, 0 .. 1\n"
        "  tiles, changed   how many were compared with the last frame's, and differ (not where all is made anew)\n"
        "  flow             estimated or given (--flow), where there is one to the last frame\n"
        "  features         given: with this frame; needs: the share of cells that need new ones, before they came;\n"
        "                   needs_all: so many that all are asked for; cells: columns and rows\n"
        "  jumps            how many of the last frame's positions have none within a cell of where they moved to\n"
        "A frame that has no features, nor carries any along, is answered without the --query. A frame that does\n"
        "not decode, or has another size than the first, is left out with a warning. Where frames do not decode, files cannot be\n"
        "read or a clip is cut off or damaged, a line says so behind the last frame, and the exit code is 3. Ctrl-C ends after the present\n"
        "frame, with the lines and the video complete, and exit code 130.\n"
        "With --budget, or with --share or --tolerance and no --strategy, tokens are spent on the whole video: where they\n"
        "lose least, and for as long as they are shown. Where most is still, what moves counts up to 1 + --emphasis times\n"
        "(3 without one). One line of JSON a slot, which is --slot frames:\n"
        "  slot, frame, frames, time  its number, that of its first frame, how many it has, seconds\n"
        "  k, of            tokens of the whole video; and how many all of it at full size would be\n"
        "  lost, lost_downsampled     predicted, as a share of what one token a slot would lose; and that of the best\n"
        "                   downsampling in time and size to as many tokens, of each 64 slots by themselves\n"
        "  held             how many cells, squares of --patch pixels, still show a token of an earlier slot\n"
        "  motion           with --motion: a, b, c, d, e, f: what is at (x, y) was at (a x + b y + c, d x + e y + f) in the slot before,\n"
        "                   and what is held moves with it\n"
        "  tokens           that the slot buys, from coarse to fine: their middle and sides in pixels; thumbnail: columns\n"
        "                   and rows of the picture of the whole whose cell it is; until: the slot in which it is hidden (not with --causal)\n"
        "With --causal k, of, lost and lost_downsampled are those of the slots so far. The overlay shows the frame, and beside it what is seen, with frames around new tokens.\n",
    .options = groups,
    .options_size = sizeof(video_options),
    .run = run_video,
};

/* SPDX-License-Identifier: Apache-2.0 */
#include "each.h"

#include <stdio.h>
#include <string.h>

#include "batch_lines.h"
#include "batch_queue.h"
#include "platform/file.h"
#include "texturevlm/io.h"

enum { PATH_BYTES = 4096 };

static const option_spec specs[] = {
    {0, OPTION_FLAG, "each", offsetof(each_options, each), NULL,
     "makes a file of each image in -o DIR, a folder that is there, named after the image; a second image of one name "
     "gets -2, and so on",
     NO_RANGE, NULL},
};
const option_specs each_specs = OPTION_SPECS("Many images", specs);

int each_check(struct tool *tool, const each_options *options, const char *folder, int count,
               char *const *operands) {
    const batch_options *const batch = &options->batch;
    tvlm_file_facts facts;
    if (count == 0 && batch->sources.list == NULL) return tool_usage(tool, "IMAGE... is missing");
    const char *const other = tool_given(tool, "jsonl resume skip-errors list null recursive jobs memory");
    if (options->each == 0) return other == NULL ? TOOL_DONE : tool_usage(tool, "%s needs --each", other);
    if (folder == NULL) return tool_usage(tool, "--each needs -o DIR");
    TOOL_TRY(batch_check(tool, batch, NULL, true, count, operands));
    if (tvlm_path_facts(folder, &facts) && facts.folder) return TOOL_DONE;
    return tool_fail(tool, "--each: there is no folder %.512s", folder);
}

/* What a run works with. */
typedef struct run {
    struct tool *tool;
    const char *folder;
    const each_work *work;
    bool skip;
    batch_lines *lines; /* NULL: there are none */
    batch_queue *queue;
    json_writer json;
    int64_t answered, failed;
} run;

static void begin_line(run *r, const each_image *one) {
    json_open_object(&r->json, NULL, true);
    json_image(&r->json, one->name, one->image->of_width > 0 ? one->image->of_width : one->image->width,
               one->image->of_height > 0 ? one->image->of_height : one->image->height);
    json_string(&r->json, "output", one->output);
}

/* Makes the file. If the device is lost, and the options allow it, makes the file on another device. */
static int make(run *r, const each_image *one) {
    int code;
    do {
        json_release(&r->json);
        if (one->json != NULL) begin_line(r, one);
        code = r->work->make(r->work->user, one);
        if (code == TOOL_DONE || r->tool->status != TVLM_ERROR_LOST) return code;
        r->work->reset(r->work->user);
    } while (tool_goes_on(r->tool, code));
    return code;
}

/* Keeps the file, and only then writes its line. */
static int keep(run *r, const each_image *one) {
    r->tool->subject = NULL;
    const int code = tool_keep_files(r->tool);
    if (code != TOOL_DONE || one->json == NULL) return code;
    json_close(&r->json);
    return batch_lines_write(r->tool, r->lines, &r->json);
}

static int make_and_keep(run *r, const batch_image *decoded) {
    char output[PATH_BYTES];
    const each_image one = {.name = decoded->input.name,
                            .number = decoded->input.number,
                            .image = decoded->image,
                            .output = output,
                            .json = r->lines != NULL ? &r->json : NULL};
    if (snprintf(output, sizeof output, "%s/%s%s", r->folder, decoded->input.stem, r->work->end) >=
        PATH_BYTES)
        return tool_fail(r->tool, "the path of its output is too long");
    if (files_named(r->tool, output) > 0)
        return tool_fail(r->tool, "%.512s: is an input; it is not overwritten", output);
    const int code = make(r, &one);
    return code == TOOL_DONE ? keep(r, &one) : code;
}

/* Whether an error is about one image only, so that the run goes on with the others. */
static bool is_of_image(const run *r, int code) {
    const tvlm_status status = r->tool->status;
    return r->skip && code == TOOL_FAILED && r->tool->subject != NULL && status != TVLM_ERROR_LOST &&
           status != TVLM_ERROR_NO_DEVICE;
}

/* Writes the line of an image that failed, and removes everything else of that image. */
static int answer_error(run *r, const char *name) {
    struct tool *const tool = r->tool;
    char error[sizeof tool->error];
    memcpy(error, tool->error, sizeof error);
    tool->error[0] = '\0';
    tool->status = TVLM_OK;
    tvlm_files_abort();
    tvlm_files_begin();
    ++r->failed;
    return batch_lines_write_error(tool, r->lines, name, error);
}

static int answer(run *r, const batch_image *decoded) {
    struct tool *const tool = r->tool;
    int code = TOOL_DONE;
    if (decoded->input.name == NULL) return tool_fail(tool, "no memory for a name");
    tool->subject = decoded->input.name;
    if (decoded->status != TVLM_OK) {
        tool->status = decoded->status;
        code = tool_fail(tool, "%s",
                         decoded->error[0] != '\0' ? decoded->error : tvlm_status_string(decoded->status));
    } else {
        code = make_and_keep(r, decoded);
    }
    if (code != TOOL_DONE && is_of_image(r, code)) code = answer_error(r, decoded->input.name);
    const bool answered = r->answered > r->failed || (r->lines != NULL && batch_lines_found(r->lines) > 0);
    if (code == TOOL_FAILED && decoded->input.damaged && answered) code = TOOL_PARTLY;
    tool->subject = NULL;
    ++r->answered;
    return code;
}

static int answer_all(run *r) {
    batch_image decoded;
    int code = TOOL_DONE;
    while (code == TOOL_DONE && batch_queue_take(r->queue, false, &decoded) == BATCH_IMAGE) {
        code = answer(r, &decoded);
        batch_image_release(&decoded);
    }
    return code;
}

int each_run(struct tool *tool, const each_options *options, const char *folder, int count,
             char *const *operands, const each_work *work) {
    const batch_options *const batch = &options->batch;
    run r = {.tool = tool, .folder = folder, .work = work, .skip = batch->skip_errors > 0};
    int code = batch_has_lines(batch) ? batch_lines_open(tool, batch->resume, batch->resume != NULL, &r.lines)
                                      : TOOL_DONE;
    const struct batch_names_params params = {.sources = &batch->sources,
                                              .memory = batch_memory(&batch->threads),
                                              .count = count,
                                              .operands = operands,
                                              .stems = true,
                                              .lines = r.lines};
    if (code == TOOL_DONE) code = batch_queue_open(tool, &params, &batch->threads, 0, &r.queue);
    if (code == TOOL_DONE) code = answer_all(&r);
    if (code == TOOL_DONE && r.lines != NULL)
        code = batch_partly(tool, r.failed + batch_lines_failed(r.lines),
                            r.answered + batch_lines_found(r.lines));
    batch_queue_close(&r.queue);
    batch_lines_close(&r.lines);
    json_release(&r.json);
    return code;
}

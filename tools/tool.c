/* SPDX-License-Identifier: Apache-2.0 */
#include "tool.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "platform/driver_cache.h"
#include "platform/ending.h"
#include "platform/stdio.h"
#include "progress.h"
#include "texturevlm/io.h"

static const char *const storage_choices[] = {"auto", "image", "buffer", "mipmapped", NULL};
static const char *const format_choices[] = {"auto", "f16", "f32", "u8", NULL};

static const option_spec specs[] = {
    {0, OPTION_TEXT, "device", offsetof(tool_common, device), "NAME",
     "part of the name of a device, platform or driver, its index, or 'reference'; default: $TVLM_DEVICE, "
     "else the first GPU, else the first CPU; of select also 'all', or several with commas between",
     NO_RANGE, NULL},
    {0, OPTION_FLAG, "fallback", offsetof(tool_common, fallback), NULL,
     "goes on with the next device, or the reference, where one does not open or is lost; the reference is "
     "slow",
     NO_RANGE, NULL},
    {0, OPTION_CHOICE, "storage", offsetof(tool_common, storage), "KIND",
     "how texels are stored: auto, image, buffer or mipmapped", NO_RANGE, storage_choices},
    {0, OPTION_CHOICE, "format", offsetof(tool_common, format), "FORMAT",
     "of the texels: f16, f32, u8 (bytes) or auto (f16 on a GPU, else f32)", NO_RANGE, format_choices},
    {0, OPTION_FLAG, "json", offsetof(tool_common, json), NULL, "results as JSON", NO_RANGE, NULL},
    {'v', OPTION_FLAG, "verbose", offsetof(tool_common, verbose), NULL,
     "say on stderr what is decided (-v -v: in detail)", NO_RANGE, NULL},
    {'q', OPTION_FLAG, "quiet", offsetof(tool_common, quiet), NULL,
     "on stderr only errors: no warnings and no progress", NO_RANGE, NULL},
    {'V', OPTION_FLAG, "version", offsetof(tool_common, version), NULL,
     "the version of tvlm, and what decodes pictures", NO_RANGE, NULL},
    {'h', OPTION_FLAG, "help", offsetof(tool_common, help), NULL, "this text; --help all has every option",
     NO_RANGE, NULL},
};
const option_specs tool_common_specs = OPTION_SPECS("Device and messages", specs);

static void keep_error(struct tool *tool, const char *message) {
    if (tool->error[0] != '\0') return;
    if (tool->subject != NULL && strstr(message, tool->subject) == NULL)
        snprintf(tool->error, sizeof tool->error, "%.512s: %.1000s", tool->subject, message);
    else
        snprintf(tool->error, sizeof tool->error, "%s", message);
}

static void write_line(struct tool *tool, tvlm_log_level level, const char *message) {
    if (level == TVLM_LOG_ERROR) {
        keep_error(tool, message);
    } else if (level == TVLM_LOG_WARNING) {
        if (tool->quiet || strcmp(tool->warning, message) == 0) return;
        snprintf(tool->warning, sizeof tool->warning, "%s", message);
        progress_clear();
        fprintf(stderr, "%s: warning: %s\n", tool->program->name, message);
    } else if (tool->verbose >= (level == TVLM_LOG_INFO ? 1 : 2)) {
        progress_clear();
        fprintf(stderr, "%s: %s\n", tool->program->name, message);
    }
}

/* Writes a line of the log. Threads of a pool also call this. The lock of stderr protects everything that
 * concerns stderr. */
static void write_log(void *user, tvlm_log_level level, const char *message) {
    struct tool *const tool = user;
    tvlm_stdio_take(stderr);
    write_line(tool, level, message);
    tvlm_stdio_release(stderr);
}

void tool_start(struct tool *tool, const tool_program *program) {
    memset(tool, 0, sizeof *tool);
    tool->program = program;
    tool->log = (tvlm_log){write_log, tool};
    tvlm_driver_cache_start();
}

const char *tool_given(struct tool *tool, const char *names) {
    const int i = options_first_given(tool->table, tool->options, names);
    if (i < 0) return NULL;
    option_label(tool->table, i, tool->given, sizeof tool->given);
    return tool->given;
}

int tool_fail(struct tool *tool, const char *format, ...) {
    char line[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    keep_error(tool, line);
    return TOOL_FAILED;
}

int tool_back_to(struct tool *tool, const char *subject, int code) {
    if (code == TOOL_DONE) tool->subject = subject;
    return code;
}

int tool_usage(struct tool *tool, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(tool->error, sizeof tool->error, format, arguments);
    va_end(arguments);
    const size_t used = strlen(tool->error);
    snprintf(tool->error + used, sizeof tool->error - used, " (see: %s %s%s--help)", tool->program->name,
             tool->command != NULL ? tool->command : "", tool->command != NULL ? " " : "");
    return TOOL_USAGE;
}

int tool_status(struct tool *tool, tvlm_status status) {
    if (status == TVLM_OK) return TOOL_DONE;
    if (tool->status == TVLM_OK) tool->status = status;
    return tool_fail(tool, "%s", tvlm_status_string(status)); /* no effect if the library said more */
}

bool tool_lacked_memory(struct tool *tool) {
    if (tool->status != TVLM_ERROR_DEVICE_MEMORY && tool->status != TVLM_ERROR_MEMORY) return false;
    tool->status = TVLM_OK;
    tool->error[0] = '\0';
    return true;
}

/* What a command may end with where kernels do not build: they are refused, the device is lost, or none opens. */
static bool is_of_the_device(tvlm_status status) {
    return status == TVLM_ERROR_DEVICE || status == TVLM_ERROR_LOST || status == TVLM_ERROR_NO_DEVICE ||
           status == TVLM_ERROR_UNSUPPORTED;
}

bool tool_was_interrupted(struct tool *tool, int code) {
    if (tvlm_ending_noted() == 0 || (code != TOOL_DONE && !is_of_the_device(tool->status))) return false;
    tool->status = TVLM_OK;
    tool->error[0] = '\0';
    return true;
}

int tool_usage_status(struct tool *tool, tvlm_status status) {
    const int code = tool_status(tool, status);
    return status == TVLM_ERROR_ARGUMENT ? TOOL_USAGE : code;
}

FILE *tool_report(const struct tool *tool) {
    return tool->stdout_taken ? stderr : stdout;
}

static int stdout_failed(struct tool *tool) {
    const int cause = errno;
    tool->subject = NULL;
    return tool_fail(tool, "cannot write to stdout: %s", strerror(cause));
}

/* Writes out what is printed. A stream remembers every error, also one of an earlier write. */
static bool stdout_is_written(void) {
    (void)fflush(stdout);
    return ferror(stdout) == 0;
}

int tool_keep_files(struct tool *tool) {
    if (!stdout_is_written()) return stdout_failed(tool);
    tool->printed = true;
    const int code = tool_status(tool, tvlm_files_commit(&tool->log));
    tvlm_files_begin();
    return code;
}

static int print_to(struct tool *tool, FILE *file, const char *text) {
    if (text == NULL) return tool_fail(tool, "no memory for the result");
    tool->printed = true;
    return fputs(text, file) >= 0 ? TOOL_DONE : stdout_failed(tool);
}

int tool_print(struct tool *tool, const char *text) {
    return print_to(tool, tool_report(tool), text);
}

int tool_print_to_stdout(struct tool *tool, const char *text) {
    return print_to(tool, stdout, text);
}

int tool_print_json(struct tool *tool, json_writer *json) {
    json_close(json);
    const int code = tool_print(tool, json_text_of(json));
    json_release(json);
    return code;
}

int tool_end(struct tool *tool, int code) {
    progress_clear();
    if (!stdout_is_written() && code == TOOL_DONE) code = stdout_failed(tool);
    if (code != TOOL_DONE)
        fprintf(stderr, "%s: %s\n", tool->program->name, tool->error[0] != '\0' ? tool->error : "failed");
    files_release(&tool->files);
    tvlm_driver_cache_end();
    return code;
}

/* How many devices may be lost one after the other. Sooner or later the reference is used, which cannot be
 * lost. */
#define REPLACED_MAX 16

bool tool_goes_on(struct tool *tool, int code) {
    if (code != TOOL_FAILED || tool->status != TVLM_ERROR_LOST) return false;
    if (!tool->fallback || tool->replaced == REPLACED_MAX) return false;
    tvlm_log_message(&tool->log, TVLM_LOG_INFO, "%s", tool->error);
    tool->status = TVLM_OK;
    tool->lost = tool->device;
    tool->error[0] = '\0';
    ++tool->replaced;
    return true;
}

void tool_stem(const char *path, char *stem, size_t size) {
    const char *const slash = strrchr(path, '/');
    const char *const name = slash != NULL ? slash + 1 : path;
    const char *const dot = strrchr(name, '.');
    const size_t length = dot != NULL && dot != name ? (size_t)(dot - name) : strlen(name);
    snprintf(stem, size, "%.*s", (int)(length < size ? length : size - 1), name);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "program.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "decoders.h"
#include "first.h"
#include "lab.h"
#include "manual.h"
#include "parameters.h"
#include "platform/driver_cache.h"
#include "platform/ending.h"
#include "platform/program.h"
#include "texturevlm/io.h"

/* ---- Programs of their own ---- */

#define PATH_BYTES 4096

/* Whether start_program finds a program. */
static bool is_there(const char *name) {
    char path[PATH_BYTES];
    return (tvlm_program_beside(name, path, sizeof path) && tvlm_program_exists(path)) ||
           tvlm_program_find(name, path, sizeof path);
}

const char *program_listed(const tool_program *program, int i, const char **summary) {
    for (const tool_command *const *command = program->commands; *command != NULL; ++command)
        if (i-- == 0) {
            *summary = (*command)->summary;
            return (*command)->name;
        }
    for (const tool_elsewhere *other = program->elsewhere; other->name != NULL; ++other)
        if (other->summary != NULL && is_there(other->program) && i-- == 0) {
            *summary = other->summary;
            return other->name;
        }
    return NULL;
}

/*
 * Becomes the program `name`, from the folder of the running program or from the PATH. argv[1..] are its
 * arguments, ended by NULL; argv[0] is replaced. Returns only on failure, with an error.
 */
static int start_program(struct tool *tool, const char *name, char **argv) {
    char path[PATH_BYTES];
    tvlm_driver_cache_end(); /* the other program makes its own */
    errno = ENOENT;
    if (tvlm_program_beside(name, path, sizeof path)) {
        argv[0] = path;
        tvlm_program_become(path, argv);
    }
    if (errno == ENOENT && tvlm_program_find(name, path, sizeof path)) {
        argv[0] = path;
        tvlm_program_become(path, argv);
    }
    if (errno == ENOENT)
        return tool_fail(tool, "%s is not installed: it is neither beside tvlm nor on the PATH", name);
    return tool_fail(tool, "%s cannot be started: %s", name, strerror(errno));
}

/* ---- The commands ---- */

static const tool_command *find_command(const tool_program *program, const char *name) {
    for (int i = 0; program->commands[i] != NULL; ++i) {
        if (strcmp(program->commands[i]->name, name) == 0) return program->commands[i];
    }
    return NULL;
}

static const tool_elsewhere *find_elsewhere(const tool_program *program, const char *name) {
    for (const tool_elsewhere *other = program->elsewhere; other->name != NULL; ++other) {
        if (strcmp(other->name, name) == 0) return other;
    }
    return NULL;
}

static int print_overview(const tool_program *program) {
    const char *name, *summary;
    printf("%s %s: %s\n\nusage: %s COMMAND [OPTIONS]\n\n", program->name, tvlm_version(), program->summary,
           program->name);
    for (int i = 0; (name = program_listed(program, i, &summary)) != NULL; ++i)
        printf("  %-10s %s\n", name, summary);
    printf(
        "\n'%s COMMAND --help' tells the options of each, and '--help all' those that few need.\nExit: 0 done, 1 failed, 2 wrong usage, 3 some of many images failed (--skip-errors), or an archive\nor a clip is damaged behind what was answered of it.\n",
        program->name);
    return TOOL_DONE;
}

/* ---- Names for something else ---- */

/* Whether -q is among the arguments. */
static bool is_quiet(int argc, char *const *argv) {
    for (int i = 2; i < argc && strcmp(argv[i], "--") != 0; ++i)
        if (strcmp(argv[i], "-q") == 0 || strcmp(argv[i], "--quiet") == 0) return true;
    return false;
}

/* Says what to write in place of an old name. */
static void say_renamed(const struct tool *tool, const tool_elsewhere *other) {
    const char *const second = other->words[1];
    fprintf(stderr, "%s: warning: '%s %s' is '%s %s%s%s' now; the old name goes with version 0.4\n",
            tool->program->name, tool->program->name, other->name,
            other->program != NULL ? other->program : tool->program->name, other->words[0],
            second != NULL ? " " : "", second != NULL ? second : "");
}

static int run(struct tool *tool, int argc, char **argv);

/* Runs what a name stands for. If it is an old name that belongs to another program, it is a command of the
 * lab. argv[0] is the program, argv[1] the name, and the arguments follow. */
static int run_elsewhere(struct tool *tool, const tool_elsewhere *other, int argc, char **argv) {
    static char words[3][32];
    char **const line = calloc((size_t)argc + 4, sizeof *line);
    int count = 0;
    if (line == NULL) return tool_fail(tool, "no memory");
    line[count++] = argv[0];
    for (int i = 0; other->words[i] != NULL; ++i) {
        snprintf(words[i], sizeof words[i], "%s", other->words[i]); /* getopt takes no constants */
        line[count++] = words[i];
    }
    for (int i = 2; i < argc; ++i) line[count++] = argv[i];
    int code = TOOL_DONE;
    if (other->summary == NULL && other->program != NULL) code = lab_check(tool, other->name);
    if (code == TOOL_DONE) {
        if (other->summary == NULL && !is_quiet(argc, argv)) say_renamed(tool, other);
        if (other->program != NULL) tool->command = other->name;
        code = other->program != NULL ? start_program(tool, other->program, line) : run(tool, count, line);
    }
    free(line);
    return code;
}

/* `argv` is "PROGRAM help COMMAND ...". */
static int help_on(struct tool *tool, int argc, char **argv) {
    char help[] = "--help";
    const char *const name = argv[2];
    const bool all = argc > 3 && strcmp(argv[3], "all") == 0;
    if (argc > (all ? 4 : 3)) return tool_usage(tool, "'%s' is one argument too many", argv[all ? 4 : 3]);
    if (strcmp(name, "help") == 0) return print_overview(tool->program);
    const tool_command *const command = find_command(tool->program, name);
    const tool_elsewhere *const other = find_elsewhere(tool->program, name);
    if (command != NULL) return tool_help(tool, command, all);
    if (other == NULL) return tool_usage(tool, "there is no command '%s'", name);
    return run_elsewhere(tool, other, all ? 4 : 3,
                         (char *[]){argv[0], argv[2], help, all ? argv[3] : NULL, NULL});
}

/* Runs a command to have its kernels built (first.h). `argv` is "PROGRAM --build-kernels COMMAND ...". */
static int build_kernels(struct tool *tool, int argc, char **argv) {
    if (argc < 3) return tool_usage(tool, "--build-kernels needs a command");
    if (tool->first.building) return tool_usage(tool, "--build-kernels is given twice");
    tool->first.building = true;
    argv[1] = argv[0];
    return run(tool, argc - 1, argv + 1);
}

static int run(struct tool *tool, int argc, char **argv) {
    const tool_program *const program = tool->program;
    if (argc < 2) return tool_usage(tool, "no command");
    const char *const name = argv[1];
    if (strcmp(name, "--version") == 0 || strcmp(name, "-V") == 0)
        return decoders_print_version(tool->program->name);
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0) return print_overview(program);
    if (strcmp(name, "help") == 0) return argc > 2 ? help_on(tool, argc, argv) : print_overview(program);
    if (strcmp(name, "--files") == 0) return manual_files(tool);
    if (strcmp(name, "--manual") == 0 && argc == 3) return manual_write(tool, argv[2]);
    if (strcmp(name, "--build-kernels") == 0) return build_kernels(tool, argc, argv);
    tool->first.argv = argv;
    const tool_command *const command = find_command(program, name);
    const tool_elsewhere *const other = find_elsewhere(program, name);
    if (command != NULL) return tool_run(tool, command, argc - 1, argv + 1);
    return other != NULL ? run_elsewhere(tool, other, argc, argv)
                         : tool_usage(tool, "there is no command '%s'", name);
}

int program_main(const tool_program *program, int argc, char **argv) {
    struct tool tool;
    tvlm_program_start(&argc, &argv);
    tvlm_ending_start(tvlm_file_remove_temporaries);
    tool_start(&tool, program);
    parameters_name();
    const int code = tool_end(&tool, run(&tool, argc, argv));
    first_end(&tool, code);
    return code;
}

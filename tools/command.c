/* SPDX-License-Identifier: Apache-2.0 */
/*
 * command.c: works by the table of a command: parses its options, counts its operands, prints its --help, and
 * runs it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "decoders.h"
#include "first.h"
#include "progress.h"
#include "texturevlm/io.h"
#include "tool.h"

#define GROUPS_MAX 40

static const option_spec set[] = {
    {0, OPTION_SET, "set", 0, "NAME=VALUE", "one of the settings that few need, as often as needed", NO_RANGE,
     NULL},
};
static const option_specs set_specs = OPTION_SPECS("Device and messages", set);

/* Makes one table of the command's options, followed by the common ones. */
bool tool_table(const tool_command *command, option_table *table) {
    option_group groups[GROUPS_MAX + 3] = {{0}};
    *table = (option_table){0};
    int count = 0;
    bool settings = false;
    for (const option_group *group = command->options; group != NULL && group->table != NULL; ++group) {
        if (count == GROUPS_MAX) return false;
        groups[count++] = *group;
        settings = settings || group->table->settings;
    }
    if (settings) groups[count++] = (option_group){&set_specs, 0};
    groups[count] = (option_group){&tool_common_specs, 0};
    return make_option_table(groups, table);
}

/* Prints the options that the brief names, or all of them. */
static int print_help(struct tool *tool, const tool_command *command, const option_table *table, bool all) {
    const char *const program = tool->program->name;
    const bool brief = command->brief != NULL && !all;
    printf("usage: %s %s [OPTIONS]%s%s\n\n%s\n\n", program, command->name,
           *command->operands != '\0' ? " " : "", command->operands, command->summary);
    for (int i = 0; command->examples != NULL && command->examples[i] != NULL; ++i)
        printf("  %s %s\n%s", program, command->examples[i], command->examples[i + 1] == NULL ? "\n" : "");
    if (brief) {
        const char *const unknown = options_help_brief(table, command->brief, stdout);
        printf("\n'%s help %s all' has %d more options, and what they mean together.\n", program,
               command->name, table->count - options_brief_count(command->brief));
        return unknown == NULL ? TOOL_DONE
                               : tool_fail(tool, "the help names %s, which is no option", unknown);
    }
    options_help(table, stdout);
    if (command->details != NULL) printf("\n%s", command->details);
    return TOOL_DONE;
}

int tool_help(struct tool *tool, const tool_command *command, bool all) {
    option_table table;
    tool->command = command->name;
    const int code =
        tool_table(command, &table) ? print_help(tool, command, &table, all) : tool_fail(tool, "no memory");
    free_option_table(&table);
    return code;
}

static int check_operands(struct tool *tool, const tool_command *command, int count, char *const *operands) {
    if (count < command->operand_min) return tool_usage(tool, "%s is missing", command->operands);
    if (count > command->operand_max)
        return tool_usage(tool, "'%s' is one argument too many", operands[command->operand_max]);
    for (int i = 0; i < count; ++i) {
        if (*operands[i] == '\0') return tool_usage(tool, "an empty file name");
    }
    return TOOL_DONE;
}

static void name_stdin(int count, char **operands) {
    static char name[] = FILES_STDIN;
    for (int i = 0; i < count; ++i)
        if (strcmp(operands[i], "-") == 0) operands[i] = name;
}

/* Runs the command. Either all of its files are written, or none of them. */
static int run_once(struct tool *tool, const tool_command *command, const option_table *table,
                    const void *options, int count, char **operands) {
    const int words = command->operand_words < count ? command->operand_words : count;
    tool->table = table;
    tool->options = options;
    int code = files_note(tool, table, options, count - words, operands + words);
    if (code != TOOL_DONE) return code;
    tvlm_files_begin();
    code = command->run(tool, options, count, operands);
    if (code == TOOL_DONE) code = tool_keep_files(tool);
    tvlm_files_abort();
    return code;
}

/* Whether the command can be run again: nothing shows yet that it was run, and its inputs can be read twice.
 * */
static bool can_begin_anew(const struct tool *tool) {
    return !tool->printed && !tool->files.read_once;
}

static int run(struct tool *tool, const tool_command *command, const option_table *table, void *options,
               int argc, char **argv) {
    const tool_common *const common = options; /* the options of every command begin with it */
    char error[900];
    int first = argc;
    if (!options_parse(table, argc, argv, options, &first, error, sizeof error))
        return tool_usage(tool, "%s", error);
    if (tool->first.building) first_forget_outputs(table, options);
    if (common->help > 0)
        return print_help(tool, command, table, argc > first && strcmp(argv[first], "all") == 0);
    if (common->version > 0) return decoders_print_version(tool->program->name);
    if (common->quiet > 0 && common->verbose > 0) return tool_usage(tool, "-q and -v exclude each other");
    tool->verbose = common->verbose;
    tool->quiet = common->quiet > 0;
    tool->fallback = common->fallback > 0;
    if (tool->quiet) progress_never();
    char **const operands = argv + first;
    const int count = argc - first, words = command->operand_words < count ? command->operand_words : count;
    name_stdin(count - words, operands + words);
    int code = check_operands(tool, command, count, operands);
    if (code != TOOL_DONE) return code;
    code = run_once(tool, command, table, options, count, operands);
    while (can_begin_anew(tool) && tool_goes_on(tool, code)) {
        files_release(&tool->files);
        tool->subject = NULL;
        tool->stdout_taken = false;
        code = run_once(tool, command, table, options, count, operands);
    }
    return code;
}

int tool_run(struct tool *tool, const tool_command *command, int argc, char **argv) {
    option_table table;
    void *const options = calloc(1, command->options_size);
    const bool made = tool_table(command, &table);
    tool->command = command->name;
    const int code = options != NULL && made ? run(tool, command, &table, options, argc, argv)
                                             : tool_fail(tool, "no memory");
    free_option_table(&table);
    free(options);
    return code;
}

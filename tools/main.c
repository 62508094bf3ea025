/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tvlm: the tool. Finds the command, parses its options by its table, runs it, and turns the result into an
 * exit code and at most one line of error.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "strategies.h"
#include "tool.h"

static const tool_command *const commands[] = {
    &devices_command,
    &generate_command,
    &select_command,
    &flow_command,
    &video_command,
    &fit_command,
    &export_command,
    &pca_command,
#ifdef TVLM_BUILD_BENCH
    &bench_command,
#endif
    NULL,
};

static const tool_command *find_command(const char *name) {
    for (int i = 0; commands[i] != NULL; ++i) {
        if (strcmp(commands[i]->name, name) == 0) return commands[i];
    }
    return NULL;
}

static option_table table_of(const tool_command *command) {
    return (option_table){command->options, tool_common_options, command->option_count,
                          tool_common_option_count};
}

static int print_overview(void) {
    printf("tvlm " TVLM_VERSION
           ": where a vision-language model should look\n\nusage: tvlm COMMAND [OPTIONS]\n\n");
    for (int i = 0; commands[i] != NULL; ++i) printf("  %-10s %s\n", commands[i]->name, commands[i]->summary);
    printf("\n'tvlm COMMAND --help' tells the options of each. Exit: 0 done, 1 failed, 2 wrong usage.\n");
    return TOOL_DONE;
}

static int print_help(const tool_command *command) {
    const option_table table = table_of(command);
    printf("usage: tvlm %s [OPTIONS]%s%s\n\n%s\n\n", command->name, *command->operands != '\0' ? " " : "",
           command->operands, command->summary);
    options_help(&table, stdout);
    if (command->details != NULL) printf("\n%s", command->details);
    return TOOL_DONE;
}

static int help_on(struct tool *tool, const char *name) {
    const tool_command *const command = find_command(name);
    return command != NULL ? print_help(command) : tool_usage(tool, "there is no command '%s'", name);
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

static int run_command(struct tool *tool, const tool_command *command, int argc, char **argv) {
    const option_table table = table_of(command);
    char error[900];
    int first = argc;
    void *const options = calloc(1, command->options_size);
    const tool_common *const common = options; /* every command's options begin with it */
    if (options == NULL) return tool_fail(tool, "no memory");
    tool->command = command->name;
    int code;
    if (!options_parse(&table, argc, argv, options, &first, error, sizeof error)) {
        code = tool_usage(tool, "%s", error);
    } else if (common->help > 0) {
        code = print_help(command);
    } else {
        tool->verbose = common->verbose;
        code = check_operands(tool, command, argc - first, argv + first);
        if (code == TOOL_DONE) code = command->run(tool, options, argc - first, argv + first);
    }
    free(options);
    return code;
}

static int run(struct tool *tool, int argc, char **argv) {
    if (argc < 2) return tool_usage(tool, "no command");
    const char *const name = argv[1];
    if (strcmp(name, "--version") == 0) return printf("tvlm " TVLM_VERSION "\n"), TOOL_DONE;
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0) return print_overview();
    if (strcmp(name, "help") == 0) return argc > 2 ? help_on(tool, argv[2]) : print_overview();
    const tool_command *const command = find_command(name);
    if (command == NULL) return tool_usage(tool, "there is no command '%s'", name);
    return run_command(tool, command, argc - 1, argv + 1);
}

int main(int argc, char **argv) {
    struct tool tool;
    tool_start(&tool);
    strategies_name();
    return tool_end(&tool, run(&tool, argc, argv));
}

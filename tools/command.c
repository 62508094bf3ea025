/* SPDX-License-Identifier: Apache-2.0 */
/* A command's table at work: its options parsed, its operands counted, its --help printed. */
#include <stdio.h>
#include <stdlib.h>

#include "tool.h"

static option_table table_of(const tool_command *command) {
    return (option_table){command->options, tool_common_options, command->option_count,
                          tool_common_option_count};
}

int tool_help(const tool_command *command) {
    const option_table table = table_of(command);
    printf("usage: tvlm %s [OPTIONS]%s%s\n\n%s\n\n", command->name, *command->operands != '\0' ? " " : "",
           command->operands, command->summary);
    options_help(&table, stdout);
    if (command->details != NULL) printf("\n%s", command->details);
    return TOOL_DONE;
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

int tool_run(struct tool *tool, const tool_command *command, int argc, char **argv) {
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
        code = tool_help(command);
    } else {
        tool->verbose = common->verbose;
        code = check_operands(tool, command, argc - first, argv + first);
        if (code == TOOL_DONE) code = command->run(tool, options, argc - first, argv + first);
    }
    free(options);
    return code;
}

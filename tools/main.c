/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tvlm: the tool. It finds the command, parses the command's options by its table, and runs it. The result
 * becomes an exit code and at most one line of error.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "decoders.h"
#include "lab.h"
#include "manual.h"
#include "signals.h"
#include "start.h"
#include "strategies.h"
#include "tool.h"

#define BENCH "bench" /* this command is a program of its own: tvlm-bench */

static const tool_command *const commands[] = {
    &devices_command,
    &generate_command,
    &select_command,
    &flow_command,
    &video_command,
    &export_command,
    &tune_command,
#ifdef TVLM_WITH_LAB
    &fit_command,
    &pca_command,
    &vocab_command,
    &compress_command,
    &logpolar_command,
    &attend_command,
#endif
    NULL,
};

/* The commands that a build without the lab does not have. */
static const char *const of_the_lab[] = {"fit", "pca", "vocab", "compress", "logpolar", "attend"};

static const tool_command *find_command(const char *name) {
    for (int i = 0; commands[i] != NULL; ++i) {
        if (strcmp(commands[i]->name, name) == 0) return commands[i];
    }
    return NULL;
}

static int print_overview(void) {
    printf("tvlm %s: where a vision-language model should look\n\nusage: tvlm COMMAND [OPTIONS]\n\n",
           tvlm_version());
    for (int i = 0; commands[i] != NULL; ++i) printf("  %-10s %s\n", commands[i]->name, commands[i]->summary);
    printf("  %-10s %s\n", BENCH, "how long every stage takes on this device (the program tvlm-bench)");
    printf(
        "\n'tvlm COMMAND --help' tells the options of each. Exit: 0 done, 1 failed, 2 wrong usage,\n3 some of many images failed (--skip-errors), or an archive or a clip is damaged\nbehind what was answered of it.\n");
    return TOOL_DONE;
}

/* Refuses a command that is not in the table. */
static int refuse(struct tool *tool, const char *name) {
    for (size_t i = 0; i < sizeof of_the_lab / sizeof *of_the_lab; ++i)
        if (strcmp(of_the_lab[i], name) == 0) return lab_check(tool, name);
    return tool_usage(tool, "there is no command '%s'", name);
}

/* Starts the benchmark. argv is "tvlm", "bench", and the benchmark's own arguments. */
static int start_bench(struct tool *tool, char **argv) {
    tool->command = BENCH;
    return start_program(tool, "tvlm-bench", argv + 1);
}

static int help_on(struct tool *tool, const char *name) {
    char bench[] = BENCH, help[] = "--help";
    if (strcmp(name, BENCH) == 0) return start_bench(tool, (char *[]){NULL, bench, help, NULL});
    const tool_command *const command = find_command(name);
    return command != NULL ? tool_help(tool, command) : refuse(tool, name);
}

static int run(struct tool *tool, int argc, char **argv) {
    if (argc < 2) return tool_usage(tool, "no command");
    const char *const name = argv[1];
    if (strcmp(name, "--version") == 0 || strcmp(name, "-V") == 0) return decoders_print_version();
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0) return print_overview();
    if (strcmp(name, "help") == 0) return argc > 2 ? help_on(tool, argv[2]) : print_overview();
    if (strcmp(name, BENCH) == 0) return start_bench(tool, argv);
    if (strcmp(name, "--files") == 0) return manual_files(tool, commands);
    if (strcmp(name, "--manual") == 0 && argc == 3) return manual_write(tool, commands, argv[2]);
    const tool_command *const command = find_command(name);
    if (command == NULL) return refuse(tool, name);
    return tool_run(tool, command, argc - 1, argv + 1);
}

int main(int argc, char **argv) {
    struct tool tool;
    signals_start();
    tool_start(&tool);
    strategies_name();
    return tool_end(&tool, run(&tool, argc, argv));
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tvlm-bench: the benchmark. It looks inside the library, as no user can, so it is a program of its own.
 */
#include <string.h>

#include "manual.h"
#include "signals.h"
#include "tool.h"

int main(int argc, char **argv) {
    struct tool tool;
    signals_start();
    tool_start(&tool);
    if (argc == 3 && strcmp(argv[1], "--manual") == 0)
        return tool_end(&tool, manual_write_page(&tool, &bench_command, argv[2]));
    return tool_end(&tool, tool_run(&tool, &bench_command, argc, argv));
}

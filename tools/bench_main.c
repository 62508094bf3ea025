/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tvlm-bench: the benchmark. It looks inside the library, as no user can, so it is a program of its own.
 */
#include "signals.h"
#include "tool.h"

int main(int argc, char **argv) {
    struct tool tool;
    signals_start();
    tool_start(&tool);
    return tool_end(&tool, tool_run(&tool, &bench_command, argc, argv));
}

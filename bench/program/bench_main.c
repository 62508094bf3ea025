/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tvlm-bench: the benchmark. It is a program of its own, since it uses the inside of the library, which no
 * user can.
 */
#include <string.h>

#include "manual.h"
#include "platform/ending.h"
#include "platform/program.h"
#include "texturevlm/io.h"
#include "tool.h"

static const tool_elsewhere elsewhere[] = {{0}};
static const tool_program program = {.name = "tvlm", .elsewhere = elsewhere};

int main(int argc, char **argv) {
    struct tool tool;
    tvlm_program_start(&argc, &argv);
    tvlm_ending_start(tvlm_file_remove_temporaries);
    tool_start(&tool, &program);
    if (argc == 3 && strcmp(argv[1], "--manual") == 0)
        return tool_end(&tool, manual_write_page(&tool, &bench_command, argv[2]));
    return tool_end(&tool, tool_run(&tool, &bench_command, argc, argv));
}

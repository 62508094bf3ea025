/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tvlm-lab: the tool of the lab, whose commands may change in any version (doc/stability.md).
 */
#include "program.h"

static const tool_command *const commands[] = {
    &fit_command, &pca_command, &vocab_command, &compress_command, &attend_command, &logpolar_command, NULL,
};

static const tool_elsewhere elsewhere[] = {{0}};

static const tool_program program = {
    .name = "tvlm-lab",
    .summary = "what was tried to find where a model should look; it may change in any version",
    .commands = commands,
    .elsewhere = elsewhere,
};

int main(int argc, char **argv) {
    return program_main(&program, argc, argv);
}

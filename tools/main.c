/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tvlm: the tool. This file lists its commands, the programs that are called like commands, and the names
 * that commands had before.
 */
#include "program.h"

static const tool_command *const commands[] = {
    &select_command, &tensors_command, &video_command, &channels_command, &devices_command, NULL,
};

static const tool_elsewhere elsewhere[] = {
    {"bench", "tvlm-bench", {NULL}, "how long every stage takes on this device (the program tvlm-bench)"},
#ifdef TVLM_WITH_LAB
    {"lab", "tvlm-lab", {NULL}, "what was tried beside that (the program tvlm-lab)"},
#endif
    {"export", NULL, {"tensors"}, NULL},
    {"generate", NULL, {"channels"}, NULL},
    {"flow", NULL, {"channels", "--flow"}, NULL},
    {"tune", NULL, {"devices", "--tune"}, NULL},
    {"fit", "tvlm-lab", {"fit"}, NULL},
    {"pca", "tvlm-lab", {"pca"}, NULL},
    {"vocab", "tvlm-lab", {"vocab"}, NULL},
    {"compress", "tvlm-lab", {"compress"}, NULL},
    {"logpolar", "tvlm-lab", {"logpolar"}, NULL},
    {"attend", "tvlm-lab", {"attend"}, NULL},
    {0},
};

static const tool_program program = {
    .name = "tvlm",
    .summary = "where a vision-language model should look",
    .commands = commands,
    .elsewhere = elsewhere,
};

int main(int argc, char **argv) {
    return program_main(&program, argc, argv);
}

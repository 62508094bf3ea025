/* SPDX-License-Identifier: Apache-2.0 */
#include "manual.h"

static const char *kind_name(option_kind kind) {
    switch (kind) {
    case OPTION_INPUT: return "input";
    case OPTION_INPUTS: return "inputs";
    case OPTION_OUTPUT: return "output";
    case OPTION_PATTERN: return "pattern";
    case OPTION_FOLDER: return "folder";
    default: return "";
    }
}

int manual_files(struct tool *tool, const tool_command *const *commands) {
    int code = TOOL_DONE;
    for (; code == TOOL_DONE && *commands != NULL; ++commands) {
        option_table table;
        if (!tool_table(*commands, &table)) code = tool_fail(tool, "no memory");
        for (int i = 0; i < table.count; ++i) {
            char label[64];
            option_label(&table.specs[i], label, sizeof label);
            if (option_is_file(&table.specs[i]))
                printf("%s %s %s\n", (*commands)->name, kind_name(table.specs[i].kind), label);
        }
        free_option_table(&table);
    }
    return code;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "manual.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "completion.h"

/* ---- Text for roff ---- */

/* Writes text so that nothing in it is a command of roff, and a hyphen stays the character that is typed. */
static void put_escaped(FILE *file, const char *text) {
    for (bool line_begins = true; *text != '\0'; ++text) {
        if (line_begins && (*text == '.' || *text == '\'')) fputs("\\&", file);
        line_begins = *text == '\n';
        if (*text == '\\')
            fputs("\\e", file);
        else if (*text == '-')
            fputs("\\-", file);
        else
            putc(*text, file);
    }
}

static void put_head(FILE *file, const char *title, const char *name, const char *summary) {
    fprintf(file, ".TH %s 1 \"\" \"texturevlm %s\" \"User Commands\"\n.SH NAME\n", title, tvlm_version());
    put_escaped(file, name);
    fputs(" \\- ", file);
    put_escaped(file, summary);
    putc('\n', file);
}

static void put_end(FILE *file, const char *see_also) {
    fputs(
        ".SH EXIT STATUS\n0 where all is done, 1 where something failed, which is told in one line on stderr, and 2 for\n"
        "wrong usage.\n.SH ENVIRONMENT\n.TP\n.B TVLM_DEVICE\nThe device, where no option names one.\n"
        ".TP\n.B TVLM_UNTUNED\nSet and not empty: what tvlm tune found is not used.\n",
        file);
    fprintf(file, ".SH SEE ALSO\n%s\n", see_also);
}

static void put_option(FILE *file, const option_spec *spec) {
    fputs(".TP\n", file);
    if (spec->letter != 0) fprintf(file, "\\fB\\-%c\\fR%s", spec->letter, spec->name != NULL ? ", " : "");
    if (spec->name != NULL) {
        fputs("\\fB", file);
        put_escaped(file, "--");
        put_escaped(file, spec->name);
        fputs("\\fR", file);
    }
    if (spec->argument != NULL) {
        fputs(" \\fI", file);
        put_escaped(file, spec->argument);
        fputs("\\fR", file);
    }
    putc('\n', file);
    put_escaped(file, spec->help);
    putc('\n', file);
}

int manual_page(struct tool *tool, const tool_command *command, FILE *file) {
    option_table table;
    char title[64], name[64];
    if (!tool_table(command, &table)) {
        free_option_table(&table);
        return tool_fail(tool, "no memory");
    }
    snprintf(title, sizeof title, "TVLM\\-%s", command->name);
    for (char *c = title; *c != '\0'; ++c)
        if (*c >= 'a' && *c <= 'z') *c = (char)(*c - 'a' + 'A');
    snprintf(name, sizeof name, "tvlm-%s", command->name);
    put_head(file, title, name, command->summary);
    fprintf(file, ".SH SYNOPSIS\n\\fBtvlm %s\\fR [\\fIOPTIONS\\fR] ", command->name);
    put_escaped(file, command->operands);
    fputs("\n.SH OPTIONS\n", file);
    for (int i = 0; i < table.count; ++i) put_option(file, &table.specs[i]);
    if (command->details != NULL) { /* it is divided into lines already */
        fputs(".SH DETAILS\n.nf\n", file);
        put_escaped(file, command->details);
        fputs(".fi\n", file);
    }
    put_end(file, ".BR tvlm (1)");
    free_option_table(&table);
    return TOOL_DONE;
}

static int put_overview(struct tool *tool, const tool_command *const *commands, FILE *file) {
    (void)tool;
    put_head(file, "TVLM", "tvlm", "where a vision-language model should look");
    fputs(".SH SYNOPSIS\n\\fBtvlm\\fR \\fICOMMAND\\fR [\\fIOPTIONS\\fR] [\\fIFILE\\fR...]\n.SH COMMANDS\n",
          file);
    for (; *commands != NULL; ++commands) {
        fprintf(file, ".TP\n.B %s\n", (*commands)->name);
        put_escaped(file, (*commands)->summary);
        putc('\n', file);
    }
    fputs(
        ".TP\n.B bench\nhow long every stage takes on this device\n.PP\n\\fBtvlm \\fICOMMAND \\fB\\-\\-help\\fR tells the "
        "options of each, as does the page \\fBtvlm\\-\\fICOMMAND\\fR(1).\nWhere a file is named, \\- is stdin, or "
        "stdout; what the command has to say goes to stderr then.\n",
        file);
    put_end(file, "The pages of the commands.");
    return TOOL_DONE;
}

/* ---- Files ---- */

/* A function that writes a page, or a completion file, for the commands. */
typedef int put_file(struct tool *tool, const tool_command *const *commands, FILE *file);

static int put_page(struct tool *tool, const tool_command *const *commands, FILE *file) {
    return manual_page(tool, *commands, file);
}

static int write_file(struct tool *tool, const char *folder, const char *name, put_file *put,
                      const tool_command *const *commands) {
    char path[4096];
    if (snprintf(path, sizeof path, "%s/%s", folder, name) >= (int)sizeof path)
        return tool_fail(tool, "%.64s...: the path is too long", folder);
    FILE *const file = fopen(path, "w");
    if (file == NULL) return tool_fail(tool, "cannot write %s: %s", path, strerror(errno));
    int code = put(tool, commands, file);
    const bool failed = ferror(file) != 0;
    if ((fclose(file) != 0 || failed) && code == TOOL_DONE)
        code = tool_fail(tool, "cannot write %s: %s", path, strerror(errno));
    return code;
}

int manual_write_page(struct tool *tool, const tool_command *command, const char *folder) {
    const tool_command *const commands[] = {command, NULL};
    char name[64];
    snprintf(name, sizeof name, "tvlm-%s.1", command->name);
    return write_file(tool, folder, name, put_page, commands);
}

int manual_write(struct tool *tool, const tool_command *const *commands, const char *folder) {
    int code = write_file(tool, folder, "tvlm.1", put_overview, commands);
    for (int i = 0; code == TOOL_DONE && commands[i] != NULL; ++i)
        code = manual_write_page(tool, commands[i], folder);
    if (code == TOOL_DONE) code = write_file(tool, folder, "tvlm", completion_bash, commands);
    return code == TOOL_DONE ? write_file(tool, folder, "_tvlm", completion_zsh, commands) : code;
}

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

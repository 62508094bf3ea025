/* SPDX-License-Identifier: Apache-2.0 */
#include "manual.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "completion.h"
#include "start.h"

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
    fputs(".TH ", file);
    put_escaped(file, title);
    fprintf(file, " 1 \"\" \"texturevlm %s\" \"User Commands\"\n.SH NAME\n", tvlm_version());
    put_escaped(file, name);
    fputs(" \\- ", file);
    put_escaped(file, summary);
    putc('\n', file);
}

static void put_end(FILE *file, const char *program, const char *section) {
    fputs(
        ".SH EXIT STATUS\n0 where all is done, 1 where something failed, which is told in one line on stderr, 2 for wrong\n"
        "usage, and 3 where some of many images failed, or an archive or a clip is damaged behind what was answered of it.\n"
        "A signal that ends a command makes it 128 more than its number.\n.SH ENVIRONMENT\n.TP\n.B TVLM_DEVICE\nThe device, where no option names one.\n"
        ".TP\n.B TVLM_UNTUNED\nSet and not empty: what tvlm devices --tune found is not used.\n",
        file);
    fputs(".SH SEE ALSO\n.BR ", file);
    put_escaped(file, program);
    fprintf(file, "%s\n", section);
}

static void put_option(FILE *file, const option_table *table, int i) {
    const option_spec *const spec = &table->specs[i];
    const bool setting = table->groups[i]->settings;
    fputs(".TP\n", file);
    if (spec->letter != 0) fprintf(file, "\\fB\\-%c\\fR%s", spec->letter, spec->name != NULL ? ", " : "");
    if (spec->name != NULL) {
        fputs("\\fB", file);
        put_escaped(file, setting ? "--set " : "--");
        put_escaped(file, spec->name);
        fputs("\\fR", file);
    }
    if (spec->argument != NULL) {
        fputs(setting ? "=\\fI" : " \\fI", file);
        put_escaped(file, spec->argument);
        fputs("\\fR", file);
    }
    putc('\n', file);
    put_escaped(file, spec->help);
    putc('\n', file);
}

/* Writes all options, below their headings. */
static void put_options(FILE *file, const option_table *table) {
    for (int head = 0; head < table->count; ++head) {
        const char *const heading = table->groups[head]->heading;
        if (!options_heads(table, head)) continue;
        fprintf(file, ".SS %s\n", heading);
        for (int i = head; i >= 0; i = options_below(table, heading, i + 1)) put_option(file, table, i);
    }
}

/*
 * Writes details, whose lines are those of a wide terminal: roff fills their paragraphs anew. A paragraph ends with a
 * line that ends with a full stop. "  NAME   TEXT" is an item of a list, with which lines that begin with as many blanks
 * go on; other lines that begin with blanks stay lines.
 */
static void put_details(FILE *file, const char *text) {
    bool begins = false, item = false; /* a paragraph; and an item goes on */
    for (size_t length; *text != '\0'; text += length + 1) {
        char line[256];
        length = strcspn(text, "\n");
        snprintf(line, sizeof line, "%.*s\n", (int)length, text);
        const size_t blanks = strspn(line, " ");
        char *const gap = blanks == 2 ? strstr(line + blanks, "  ") : NULL;
        item = gap != NULL || (item && blanks > 2);
        if (gap != NULL) {
            *gap = '\0';
            fputs(".TP 18n\n", file);
            put_escaped(file, line + blanks);
            putc('\n', file);
            put_escaped(file, gap + 1 + strspn(gap + 1, " "));
        } else if (length > 0) {
            if (begins && blanks == 0) fputs(".PP\n", file);
            put_escaped(file, item ? line + blanks : line);
        }
        begins = blanks > 0 || length == 0 || line[length - 1] == '.';
    }
}

static int put_page(struct tool *tool, const tool_command *command, FILE *file) {
    option_table table;
    char title[64], name[64];
    const char *const program = tool->program->name;
    if (!tool_table(command, &table)) {
        free_option_table(&table);
        return tool_fail(tool, "no memory");
    }
    snprintf(title, sizeof title, "%s-%s", program, command->name);
    for (char *c = title; *c != '\0'; ++c)
        if (*c >= 'a' && *c <= 'z') *c = (char)(*c - 'a' + 'A');
    snprintf(name, sizeof name, "%s-%s", program, command->name);
    put_head(file, title, name, command->summary);
    fputs(".SH SYNOPSIS\n\\fB", file);
    put_escaped(file, program);
    fprintf(file, " %s\\fR [\\fIOPTIONS\\fR] ", command->name);
    put_escaped(file, command->operands);
    putc('\n', file);
    if (command->examples != NULL) {
        fputs(".SH EXAMPLES\n.nf\n", file);
        for (int i = 0; command->examples[i] != NULL; ++i) {
            char example[256];
            snprintf(example, sizeof example, "%s %s\n", program, command->examples[i]);
            put_escaped(file, example);
        }
        fputs(".fi\n", file);
    }
    fputs(".SH OPTIONS\n", file);
    put_options(file, &table);
    if (command->details != NULL) {
        fputs(".SH DETAILS\n.ad l\n.nh\n", file); /* names and lines to type stay as they are */
        put_details(file, command->details);
        fputs(".hy\n.ad\n", file);
    }
    put_end(file, program, " (1)");
    free_option_table(&table);
    return TOOL_DONE;
}

static int put_overview(struct tool *tool, FILE *file) {
    const char *name, *summary;
    const tool_program *const program = tool->program;
    put_head(file, program->name, program->name, program->summary);
    fputs(".SH SYNOPSIS\n\\fB", file);
    put_escaped(file, program->name);
    fputs("\\fR \\fICOMMAND\\fR [\\fIOPTIONS\\fR] [\\fIFILE\\fR...]\n.SH COMMANDS\n", file);
    for (int i = 0; (name = start_listed(program, i, &summary)) != NULL; ++i) {
        fprintf(file, ".TP\n.B %s\n", name);
        put_escaped(file, summary);
        putc('\n', file);
    }
    fputs(
        ".PP\n\\fBhelp \\fICOMMAND\\fR tells the options of each, and \\fBhelp \\fICOMMAND\\fB all\\fR those that few "
        "need, as does the page of each.\nWhere a file is named, \\- is stdin, or stdout; what the command has to say "
        "goes to stderr then.\n",
        file);
    put_end(file, program->name, "\\-\\fICOMMAND\\fR (1)");
    return TOOL_DONE;
}

/* ---- Files ---- */

/* Writes the page of the command, or what `put` writes where that is NULL. */
static int write_file(struct tool *tool, const char *folder, const char *name, const tool_command *command,
                      int (*put)(struct tool *tool, FILE *file)) {
    char path[4096];
    if (snprintf(path, sizeof path, "%s/%s", folder, name) >= (int)sizeof path)
        return tool_fail(tool, "%.64s...: the path is too long", folder);
    FILE *const file = fopen(path, "w");
    if (file == NULL) return tool_fail(tool, "cannot write %s: %s", path, strerror(errno));
    int code = command != NULL ? put_page(tool, command, file) : put(tool, file);
    const bool failed = ferror(file) != 0;
    if ((fclose(file) != 0 || failed) && code == TOOL_DONE)
        code = tool_fail(tool, "cannot write %s: %s", path, strerror(errno));
    return code;
}

int manual_write_page(struct tool *tool, const tool_command *command, const char *folder) {
    char name[64];
    snprintf(name, sizeof name, "%s-%s.1", tool->program->name, command->name);
    return write_file(tool, folder, name, command, NULL);
}

int manual_write(struct tool *tool, const char *folder) {
    const char *const program = tool->program->name;
    char name[64];
    snprintf(name, sizeof name, "%s.1", program);
    int code = write_file(tool, folder, name, NULL, put_overview);
    for (int i = 0; code == TOOL_DONE && tool->program->commands[i] != NULL; ++i)
        code = manual_write_page(tool, tool->program->commands[i], folder);
    if (code == TOOL_DONE) code = write_file(tool, folder, program, NULL, completion_bash);
    snprintf(name, sizeof name, "_%s", program);
    return code == TOOL_DONE ? write_file(tool, folder, name, NULL, completion_zsh) : code;
}

static const char *kind_name(option_kind kind) {
    switch (kind) {
    case OPTION_INPUT: return "input";
    case OPTION_INPUTS: return "inputs";
    case OPTION_GIVE: return "give";
    case OPTION_OUTPUT: return "output";
    case OPTION_PATTERN: return "pattern";
    case OPTION_FOLDER: return "folder";
    default: return "";
    }
}

int manual_files(struct tool *tool) {
    int code = TOOL_DONE;
    for (const tool_command *const *commands = tool->program->commands;
         code == TOOL_DONE && *commands != NULL; ++commands) {
        option_table table;
        if (!tool_table(*commands, &table)) code = tool_fail(tool, "no memory");
        for (int i = 0; i < table.count; ++i) {
            char label[64];
            option_label(&table, i, label, sizeof label);
            if (option_is_file(&table.specs[i]))
                printf("%s %s %s\n", (*commands)->name, kind_name(table.specs[i].kind), label);
        }
        free_option_table(&table);
    }
    return code;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "manual.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "platform/stdio.h"
#include "program.h"

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
        ".TP\n.B TVLM_UNTUNED\nSet and not empty: what tvlm devices --tune found is not used, and tvlm select opens the same device for any image.\n",
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
 * Writes details. Their lines are broken for a wide terminal, so roff fills the paragraphs anew:
 * - A paragraph ends with a line that ends with a full stop, before an empty line, and after a line that
 *   begins with blanks.
 * - A line "  NAME   TEXT" is an item of a list. Lines after it that begin with more than two blanks belong
 *   to it.
 * - Other lines that begin with blanks stay lines of their own.
 */
static void put_details(FILE *file, const char *text) {
    bool begins = false, item = false; /* a paragraph begins with the next line; an item goes on */
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
        fputs(".SH DETAILS\n.ad l\n.nh\n", file); /* keeps names and lines to type as they are */
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
    for (int i = 0; (name = program_listed(program, i, &summary)) != NULL; ++i) {
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

/* ---- Completion ---- */

static void put_commands(const struct tool *tool, FILE *file) {
    const char *name, *summary;
    for (int i = 0; (name = program_listed(tool->program, i, &summary)) != NULL; ++i)
        fprintf(file, "%s%s", i > 0 ? " " : "", name);
}

/* Writes the name of the program as a name of a function: "_tvlm_lab". */
static void put_function(const struct tool *tool, FILE *file) {
    putc('_', file);
    for (const char *c = tool->program->name; *c != '\0'; ++c) putc(*c == '-' ? '_' : *c, file);
}

/* Writes the words that an option's argument may be or begin with. They are channels for --give, and settings
 * for --set. */
static void put_choices(const option_table *table, const option_spec *spec, FILE *file) {
    const char *const after = spec->kind == OPTION_GIVE ? "=" : "";
    for (int i = 0; spec->choices != NULL && spec->choices[i] != NULL; ++i)
        fprintf(file, "%s%s%s", i > 0 ? " " : "", spec->choices[i], after);
    for (int i = 0, put = 0; spec->kind == OPTION_SET && i < table->count; ++i)
        if (table->groups[i]->settings)
            fprintf(file, "%s%s%s", put++ > 0 ? " " : "", table->specs[i].name,
                    table->specs[i].kind != OPTION_FLAG ? "=" : "");
}

static bool has_choices(const option_spec *spec) {
    return spec->choices != NULL || spec->kind == OPTION_SET;
}

/* ---- bash ---- */

/* Writes the pattern of a case for an option of a command: "select -o"|"select --output". */
static void put_case(const tool_command *command, const option_spec *spec, FILE *file) {
    fputs("    ", file);
    if (spec->letter != 0) fprintf(file, "'%s -%c'", command->name, spec->letter);
    if (spec->letter != 0 && spec->name != NULL) putc('|', file);
    if (spec->name != NULL) fprintf(file, "'%s --%s'", command->name, spec->name);
    putc(')', file);
}

/* Writes the values that are offered after an option. If there are none, bash offers files. */
static void put_values(const tool_command *command, const option_table *table, const option_spec *spec,
                       FILE *file) {
    if (spec->kind == OPTION_FLAG) return;
    put_case(command, spec, file);
    if (has_choices(spec)) {
        fputs(" COMPREPLY=($(compgen -W '", file);
        put_choices(table, spec, file);
        fputs("' -- \"$word\"));", file);
        if (spec->kind == OPTION_GIVE || spec->kind == OPTION_SET) fputs(" compopt -o nospace;", file);
    } else if (!option_is_file(spec)) {
        fputs(" compopt +o default;", file);
    }
    fputs(" return ;;\n", file);
}

static void put_bash_options(const tool_command *command, const option_table *table, FILE *file) {
    fprintf(file, "    %s) options='", command->name);
    for (int i = 0; i < table->count; ++i) {
        const option_spec *const spec = &table->specs[i];
        if (table->groups[i]->settings) continue;
        if (spec->letter != 0) fprintf(file, "-%c ", spec->letter);
        if (spec->name != NULL) fprintf(file, "--%s ", spec->name);
    }
    fputs("' ;;\n", file);
}

/* Calls `put` for each command and its table. */
static int each_table(struct tool *tool, FILE *file,
                      void (*put)(const tool_command *command, const option_table *table, FILE *file)) {
    int code = TOOL_DONE;
    for (const tool_command *const *commands = tool->program->commands;
         code == TOOL_DONE && *commands != NULL; ++commands) {
        option_table table;
        if (tool_table(*commands, &table))
            put(*commands, &table, file);
        else
            code = tool_fail(tool, "no memory");
        free_option_table(&table);
    }
    return code;
}

static void put_all_values(const tool_command *command, const option_table *table, FILE *file) {
    for (int i = 0; i < table->count; ++i)
        if (!table->groups[i]->settings) put_values(command, table, &table->specs[i], file);
}

static int completion_bash(struct tool *tool, FILE *file) {
    fprintf(file, "# bash completion for %s, made of its tables of options\n", tool->program->name);
    put_function(tool, file);
    fputs("() {\n    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} options=''\n"
          "    COMPREPLY=()\n"
          "    if [ \"$COMP_CWORD\" -eq 1 ]; then\n        COMPREPLY=($(compgen -W '",
          file);
    put_commands(tool, file);
    fputs(" help -h --help -V --version' -- \"$word\"))\n        return\n    fi\n"
          "    # --option=value comes as three words\n"
          "    if [ \"$word\" = = ]; then\n        word=\n"
          "    elif [ \"$before\" = = ]; then\n        before=${COMP_WORDS[COMP_CWORD - 2]}\n    fi\n"
          "    if [ \"${COMP_WORDS[1]}\" = help ]; then\n        compopt +o default\n"
          "        case $COMP_CWORD in\n        2) COMPREPLY=($(compgen -W '",
          file);
    put_commands(tool, file);
    fputs("' -- \"$word\")) ;;\n        3) COMPREPLY=($(compgen -W all -- \"$word\")) ;;\n"
          "        esac\n        return\n    fi\n    case \"${COMP_WORDS[1]} $before\" in\n",
          file);
    int code = each_table(tool, file, put_all_values);
    fputs("    esac\n    [[ $word == -* ]] || return\n    case ${COMP_WORDS[1]} in\n", file);
    if (code == TOOL_DONE) code = each_table(tool, file, put_bash_options);
    fputs("    esac\n    COMPREPLY=($(compgen -W \"$options\" -- \"$word\"))\n}\ncomplete -o default -F ",
          file);
    put_function(tool, file);
    fprintf(file, " %s\n", tool->program->name);
    return code;
}

/* ---- zsh ---- */

/* Writes text into a quoted word of _arguments. Brackets and colons have a meaning there, and are escaped. */
static void put_zsh(FILE *file, const char *text) {
    for (; *text != '\0'; ++text) {
        if (*text == '\'')
            fputs("'\\''", file);
        else if (strchr("[]:\\", *text) != NULL)
            fprintf(file, "\\%c", *text);
        else
            putc(*text, file);
    }
}

static bool may_repeat(const option_spec *spec) {
    return spec->kind == OPTION_POINTS || spec->kind == OPTION_LIST || spec->kind == OPTION_INPUTS ||
           spec->kind == OPTION_GIVE || spec->kind == OPTION_SET || spec->letter == 'v';
}

static void put_spelling(const option_spec *spec, FILE *file) {
    const bool argument = spec->kind != OPTION_FLAG, both = spec->letter != 0 && spec->name != NULL;
    const char *const repeat = may_repeat(spec) ? "*" : "";
    if (both && !may_repeat(spec)) fprintf(file, "'(-%c --%s)'", spec->letter, spec->name);
    if (both)
        fprintf(file, "%s{-%c%s,--%s%s}'", *repeat != '\0' ? "'*'" : "", spec->letter, argument ? "+" : "",
                spec->name, argument ? "=" : "");
    else if (spec->letter != 0)
        fprintf(file, "'%s-%c%s", repeat, spec->letter, argument ? "+" : "");
    else
        fprintf(file, "'%s--%s%s", repeat, spec->name, argument ? "=" : "");
}

static void put_zsh_argument(const option_table *table, const option_spec *spec, FILE *file) {
    const char *const action = spec->kind == OPTION_FOLDER ? "_files -/"
                               : option_is_file(spec)      ? "_files"
                                                           : "";
    putc(':', file);
    put_zsh(file, spec->argument);
    putc(':', file);
    if (spec->kind == OPTION_GIVE || spec->kind == OPTION_SET) { /* a value follows, and no blank */
        fprintf(file, "{if compset -P \"*=\"; then %s; else compadd \"$expl[@]\" -S \"\" -- ",
                option_is_file(spec) ? "_files" : "true");
        put_choices(table, spec, file);
        fputs("; fi}", file);
    } else if (has_choices(spec) && !option_is_file(spec)) {
        putc('(', file);
        put_choices(table, spec, file);
        putc(')', file);
    } else {
        fputs(action, file);
    }
}

static void put_zsh_options(const tool_command *command, const option_table *table, FILE *file) {
    fprintf(file, "    (%s)\n        _arguments -s \\\n", command->name);
    for (int i = 0; i < table->count; ++i) {
        const option_spec *const spec = &table->specs[i];
        if (table->groups[i]->settings) continue;
        fputs("            ", file);
        put_spelling(spec, file);
        putc('[', file);
        put_zsh(file, spec->help);
        putc(']', file);
        if (spec->kind != OPTION_FLAG) put_zsh_argument(table, spec, file);
        fputs("' \\\n", file);
    }
    fputs("            '*:file:_files' ;;\n", file);
}

static int completion_zsh(struct tool *tool, FILE *file) {
    const char *name, *summary;
    fprintf(file, "#compdef %s\n# made of its tables of options\n", tool->program->name);
    put_function(tool, file);
    fputs("() {\n    local -a commands\n    commands=(\n", file);
    for (int i = 0; (name = program_listed(tool->program, i, &summary)) != NULL; ++i) {
        fprintf(file, "        '%s:", name);
        put_zsh(file, summary);
        fputs("'\n", file);
    }
    fputs(
        "    )\n    if (( CURRENT == 2 )); then\n        _describe command commands\n        return\n    fi\n"
        "    shift words\n    (( CURRENT-- ))\n    case $words[1] in\n    (help)\n"
        "        if (( CURRENT == 2 )); then _describe command commands\n"
        "        elif (( CURRENT == 3 )); then compadd all; fi ;;\n",
        file);
    const int code = each_table(tool, file, put_zsh_options);
    fputs("    (*) _files ;;\n    esac\n}\n", file);
    put_function(tool, file);
    fputs(" \"$@\"\n", file);
    return code;
}

/* ---- Files ---- */

/* Writes a file: the page of the command, or what `put` writes if `command` is NULL. */
static int write_file(struct tool *tool, const char *folder, const char *name, const tool_command *command,
                      int (*put)(struct tool *tool, FILE *file)) {
    char path[4096];
    if (snprintf(path, sizeof path, "%s/%s", folder, name) >= (int)sizeof path)
        return tool_fail(tool, "%.64s...: the path is too long", folder);
    FILE *const file = tvlm_stdio_open(path, "wb");
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

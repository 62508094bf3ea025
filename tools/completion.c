/* SPDX-License-Identifier: Apache-2.0 */
#include "completion.h"

#include <string.h>

#include "start.h"

static void put_commands(const struct tool *tool, FILE *file) {
    const char *name, *summary;
    for (int i = 0; (name = start_listed(tool->program, i, &summary)) != NULL; ++i)
        fprintf(file, "%s%s", i > 0 ? " " : "", name);
}

/* Writes the name of the program as a name of a function: "_tvlm_lab". */
static void put_function(const struct tool *tool, FILE *file) {
    putc('_', file);
    for (const char *c = tool->program->name; *c != '\0'; ++c) putc(*c == '-' ? '_' : *c, file);
}

/* Writes what an option's argument may be, or begin with: a channel for --give, a setting for --set. */
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

static void put_options(const tool_command *command, const option_table *table, FILE *file) {
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

int completion_bash(struct tool *tool, FILE *file) {
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
    if (code == TOOL_DONE) code = each_table(tool, file, put_options);
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

static void put_argument(const option_table *table, const option_spec *spec, FILE *file) {
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
        if (spec->kind != OPTION_FLAG) put_argument(table, spec, file);
        fputs("' \\\n", file);
    }
    fputs("            '*:file:_files' ;;\n", file);
}

int completion_zsh(struct tool *tool, FILE *file) {
    const char *name, *summary;
    fprintf(file, "#compdef %s\n# made of its tables of options\n", tool->program->name);
    put_function(tool, file);
    fputs("() {\n    local -a commands\n    commands=(\n", file);
    for (int i = 0; (name = start_listed(tool->program, i, &summary)) != NULL; ++i) {
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

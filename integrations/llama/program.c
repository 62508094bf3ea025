/* SPDX-License-Identifier: Apache-2.0 */
/*
 * program.c: tvlm-mtmd, which asks a model in llama.cpp about images, with fewer image tokens (doc/llama.md).
 * Its options are those of llama-mtmd-cli, as far as it has them. Exit: 0; 1 something failed; 2 wrong usage;
 * 130 interrupted.
 */
#include "program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

volatile sig_atomic_t program_interrupted;

/* The first Ctrl-C ends what is being computed, a second one the program. */
static void interrupt(int number) {
    if (program_interrupted) _Exit(130);
    program_interrupted = number;
}

static int ask_once(program *p) {
    for (int i = 0; i < p->options.image_count; ++i)
        if (program_look(p, p->options.images[i]) != 0) return 1;
    return program_ask(p, p->options.prompt);
}

static void clear(program *p) {
    program_forget(&p->chat);
    llama_memory_clear(llama_get_memory(p->context), true);
    p->n_past = 0;
    p->last = LLAMA_TOKEN_NULL;
    p->broken = false;
    program_forget_images(p);
}

/* Asks a question of a chat. After half an answer, what is in the context is not what was said. */
static void ask_next(program *p, const char *question) {
    if (program_ask(p, question) == 0 || !p->broken) return;
    clear(p);
    program_tell("the answer ended early: what was said is forgotten");
}

/* The line without blanks around it, as llama-mtmd-cli takes it: a file of Windows has a CR at the end of each. */
static char *strip(char *line) {
    static const char blanks[] = " \t\r\n\v\f";
    line += strspn(line, blanks);
    size_t length = strlen(line);
    while (length > 0 && strchr(blanks, line[length - 1]) != NULL) --length;
    line[length] = '\0';
    return line;
}

/* Adds an image to the next question. A question that follows may be about it: it is told what that lacks. */
static void add_image(program *p, char *name) {
    name = strip(name);
    if (name[0] == '\0')
        program_tell("/image is without the name of a file");
    else if (program_look(p, name) != 0)
        program_tell("%s: the next question is asked without this image", name);
}

/* Takes a line of a chat. Returns false at its end, and where answers cannot be written. */
static bool take_line(program *p, char *line) {
    line = strip(line);
    if (strcmp(line, "/quit") == 0 || strcmp(line, "/exit") == 0) return false;
    if (strcmp(line, "/clear") == 0)
        clear(p);
    else if (strcmp(line, "/image") == 0 || strncmp(line, "/image ", 7) == 0)
        add_image(p, line + 6);
    else if (line[0] != '\0')
        ask_next(p, line);
    return !ferror(stdout);
}

static int chat(program *p) {
    char *line = NULL;
    size_t room = 0;
    bool more = true;
    for (int i = 0; i < p->options.image_count; ++i)
        if (program_look(p, p->options.images[i]) != 0) return 1;
    while (more && getline(&line, &room, stdin) >= 0) {
        program_interrupted = 0;
        more = take_line(p, line);
    }
    free(line);
    return ferror(stdout) != 0;
}

int main(int argc, char **argv) {
    program p = {0};
    const int wrong = program_read(argc, argv, &p.options);
    if (wrong != 0) return wrong;
    if (p.options.help) {
        program_help();
        return fflush(stdout) != 0 ? program_fail("the help cannot be written") : 0;
    }
    sigaction(SIGINT, &(struct sigaction){.sa_handler = interrupt}, NULL);
    int failed = program_open(&p);
    if (!failed) failed = p.options.prompt != NULL ? ask_once(&p) : chat(&p);
    program_close(&p);
    return program_interrupted && p.options.prompt != NULL ? 130 : failed;
}

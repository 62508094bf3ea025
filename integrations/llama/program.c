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

/* Takes a line of a chat. Returns false at its end, and where answers cannot be written. */
static bool take_line(program *p, const char *line) {
    if (strcmp(line, "/quit") == 0) return false;
    if (strcmp(line, "/clear") == 0)
        clear(p);
    else if (strncmp(line, "/image ", 7) == 0)
        program_look(p, line + 7);
    else if (line[0] != '\0')
        ask_next(p, line);
    return !ferror(stdout);
}

static int chat(program *p) {
    char *line = NULL;
    size_t room = 0;
    ssize_t length;
    bool more = true;
    for (int i = 0; i < p->options.image_count; ++i)
        if (program_look(p, p->options.images[i]) != 0) return 1;
    while (more && (length = getline(&line, &room, stdin)) >= 0) {
        if (length > 0 && line[length - 1] == '\n') line[length - 1] = '\0';
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

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * program.h: the parts of the program tvlm-mtmd.
 *
 *   program_options.c  what the command line says
 *   program_model.c    the model, its context, and the chooser
 *   program_chat.c     messages, in the words of the model's chat template
 *   program_ask.c      a message with images, and the answer to it
 *   program_overlay.c  a picture of what the model sees
 */
#ifndef TVLM_PROGRAM_H
#define TVLM_PROGRAM_H

#include <signal.h>

#include <texturevlm/texturevlm.h>

#include <texturevlm/mtmd.h>

#define PROGRAM_IMAGES 16

typedef struct program_options {
    const char *model, *mmproj, *prompt, *template, *overlay, *device;
    const char *images[PROGRAM_IMAGES];
    int image_count;
    int looks;  /* 1 or 2 */
    int tokens; /* -1: until the model ends its answer */
    int layers; /* on the GPU; -1: all */
    int context, batch, threads;
    int seed; /* -1: another one each time */
    float temperature;
    struct tvlm_mtmd_params spending;
    bool report, help;
} program_options;

/* Reads the command line. Returns 0, or 2 after a line on stderr. */
int program_read(int argc, char **argv, program_options *options);
void program_help(void);

/* What was said so far. Texts are its own. */
typedef struct program_chat {
    struct llama_chat_message *messages;
    size_t count;
} program_chat;

typedef struct program {
    program_options options;
    struct llama_model *model;
    struct llama_context *context;
    mtmd_context *mtmd;
    tvlm_mtmd_watch *watch; /* of two looks */
    tvlm_device *device;
    tvlm_mtmd *chooser;
    struct llama_sampler *sampler;
    program_chat chat;
    llama_pos n_past;
    llama_token last; /* ended the last answer, and is not in the context yet; LLAMA_TOKEN_NULL: none is */
    bool broken;      /* an answer failed on its way: the context has a part of it, and the chat has not */
    /* The images of the next message. */
    tvlm_mtmd_plan *plans[PROGRAM_IMAGES];
    int plan_count;
    /* Of two looks: the image of the next message, and its path. It has no plan before there is a question. */
    tvlm_image *image;
    char *path;
} program;

/* Set by Ctrl-C. */
extern volatile sig_atomic_t program_interrupted;

/* Writes a line on stderr, as printf does. */
void program_tell(const char *format, ...) TVLM_PRINTF(1, 2);
/* The same, of what has failed. Its value is 1. */
#define program_fail(...) (program_tell(__VA_ARGS__), 1)

/* These return 0, or 1 after a line on stderr. */
int program_open(program *p);
void program_close(program *p);
/* Chooses how an image of the next message is shown, and says so. With two looks it is kept for the question. */
int program_look(program *p, const char *path);
/* Drops the images of the next message. */
void program_forget_images(program *p);
/* Asks, and prints the answer. If it fails and `broken` is not set, nothing was asked: the chat goes on where it
 * was, without the images. */
int program_ask(program *p, const char *text);
/* Finds out whether a file can be written, and leaves it as it is. */
int program_may_write(const char *path);
int program_overlay(const tvlm_mtmd_plan *plan, bool square, const char *path);

/* A copy of a text, to be freed; NULL: no memory. */
char *program_copy(const char *text);
/* Adds a message, whose text is copied. */
int program_say(program_chat *chat, const char *role, const char *text);
/* The words of the last message, with all that the template puts around it. Returns NULL after a line on
 * stderr. */
char *program_words(const program *p);
/* Takes the last message back. */
void program_unsay(program_chat *chat);
void program_forget(program_chat *chat);

#endif

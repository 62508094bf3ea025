/* SPDX-License-Identifier: Apache-2.0 */
#include "program.h"

#include <stdlib.h>
#include <string.h>

char *program_copy(const char *text) {
    const size_t bytes = strlen(text) + 1;
    char *copy = malloc(bytes);
    return copy != NULL ? memcpy(copy, text, bytes) : NULL;
}

int program_say(program_chat *chat, const char *role, const char *text) {
    struct llama_chat_message *more = realloc(chat->messages, (chat->count + 1) * sizeof *more);
    if (more != NULL) chat->messages = more;
    char *copy = more != NULL ? program_copy(text) : NULL;
    if (copy == NULL) return program_fail("no memory for a message");
    more[chat->count++] = (struct llama_chat_message){role, copy};
    return 0;
}

void program_unsay(program_chat *chat) {
    free((void *)(uintptr_t)chat->messages[--chat->count].content);
}

void program_forget(program_chat *chat) {
    while (chat->count > 0) program_unsay(chat);
    free(chat->messages);
    *chat = (program_chat){0};
}

/* The first `count` messages in the words of the template, to be freed; NULL: the template is none of
 * llama.cpp's own. */
static char *words_of(const char *template, const program_chat *chat, size_t count, bool answer) {
    const int32_t length = llama_chat_apply_template(template, chat->messages, count, answer, NULL, 0);
    char *words = length >= 0 ? malloc((size_t)length + 1) : NULL;
    if (words == NULL) return NULL;
    llama_chat_apply_template(template, chat->messages, count, answer, words, length);
    words[length] = '\0';
    return words;
}

char *program_words(const program *p) {
    const char *own = llama_model_chat_template(p->model, NULL);
    const char *template = p->options.template != NULL ? p->options.template : own;
    const size_t before = p->chat.count - 1;
    char *all = template != NULL ? words_of(template, &p->chat, p->chat.count, true) : NULL;
    char *past = all != NULL && before > 0 ? words_of(template, &p->chat, before, false) : NULL;
    if (all == NULL || (before > 0 && past == NULL)) {
        program_tell(
            "the chat template is none of those that llama.cpp has built in; --chat-template names one");
        free(all);
        return NULL;
    }
    if (past == NULL) return all;
    /* The context has what was said, up to the token that ended the answer. Many templates have a newline
     * behind that. */
    size_t from = strlen(past);
    if (from > 0 && past[from - 1] == '\n') --from;
    memmove(all, all + from, strlen(all + from) + 1);
    free(past);
    return all;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "progress.h"

#include <stdbool.h>
#include <stdio.h>

#include "platform/clock.h"
#include "platform/stdio.h"

#define BAR_CELLS   30
#define FIRST_AFTER 1.0 /* the bar is first drawn after this time, in seconds */

static struct {
    const char *what;
    int64_t total;
    double started;
    int percent; /* the number that was drawn last */
    bool terminal, drawn, never;
} bar;

void progress_start(const char *what, int64_t total) {
    progress_clear();
    bar.what = what;
    bar.total = total > 0 ? total : 1;
    bar.started = tvlm_now();
    bar.percent = -1;
    bar.terminal = !bar.never && tvlm_stdio_is_terminal(stderr);
}

static void draw(int64_t done) {
    char cells[BAR_CELLS];
    if (!bar.terminal || tvlm_now() - bar.started < FIRST_AFTER) return;
    const int percent = (int)(100 * done / bar.total);
    if (percent == bar.percent) return;
    for (int i = 0; i < BAR_CELLS; ++i) cells[i] = (int64_t)i * bar.total < done * BAR_CELLS ? '#' : '.';
    fprintf(stderr, "\r%s [%.*s] %3d %%", bar.what, BAR_CELLS, cells, percent);
    bar.percent = percent;
    bar.drawn = true;
}

void progress_step(int64_t done) {
    tvlm_stdio_take(stderr); /* other threads clear the bar when they warn */
    draw(done);
    tvlm_stdio_release(stderr);
}

void progress_clear(void) {
    tvlm_stdio_take(stderr);
    if (bar.drawn) fprintf(stderr, "\r\033[K");
    bar.drawn = false;
    tvlm_stdio_release(stderr);
}

void progress_never(void) {
    bar.never = true;
}

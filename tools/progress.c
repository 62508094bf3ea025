/* SPDX-License-Identifier: Apache-2.0 */
#include "progress.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>

#include "platform/clock.h"
#include "platform/stdio.h"

#define BAR_CELLS   30
#define ERASE_REST  "\033[K"
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

/* How long the steps that are left take if they take as long as those that are done. */
static void say_time_left(int64_t done, double passed) {
    if (done <= 0 || done >= bar.total) return;
    const int64_t seconds = (int64_t)ceil(passed * (double)(bar.total - done) / (double)done);
    fprintf(stderr, ", %lld:%02d left", (long long)(seconds / 60), (int)(seconds % 60));
}

static void draw(int64_t done) {
    char cells[BAR_CELLS];
    const double passed = tvlm_now() - bar.started;
    if (!bar.terminal || passed < FIRST_AFTER) return;
    const int percent = (int)(100 * done / bar.total);
    if (percent == bar.percent) return;
    for (int i = 0; i < BAR_CELLS; ++i) cells[i] = (int64_t)i * bar.total < done * BAR_CELLS ? '#' : '.';
    fprintf(stderr, "\r%s [%.*s] %3d %%", bar.what, BAR_CELLS, cells, percent);
    say_time_left(done, passed);
    fprintf(stderr, ERASE_REST); /* of what was longer */
    bar.percent = percent;
    bar.drawn = true;
}

void progress_step(int64_t done) {
    tvlm_stdio_take(stderr); /* other threads clear the bar when they warn */
    draw(done < bar.total ? done : bar.total);
    tvlm_stdio_release(stderr);
}

void progress_clear(void) {
    tvlm_stdio_take(stderr);
    if (bar.drawn) fprintf(stderr, "\r" ERASE_REST);
    bar.drawn = false;
    tvlm_stdio_release(stderr);
}

void progress_never(void) {
    bar.never = true;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_progress.c: the bar that the tool shows while it works: when it is drawn, what it looks like, and that it is gone before
 * anything else is printed. tools/progress.c is compiled into this program, with a clock and a terminal of the test's own.
 */
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "progress.h"
#include "support.h"

#define CLEARED "\r\033[K"
#define REST    "\033[K"

/* What tools/progress.c is told, and what it wrote. */
static bool terminal = true;
static struct timespec when;
static char written[512];

int __real_isatty(int file);
int __wrap_isatty(int file);
int __wrap_isatty(int file) {
    return file == STDERR_FILENO ? terminal : __real_isatty(file);
}

int __real_clock_gettime(clockid_t clock, struct timespec *time);
int __wrap_clock_gettime(clockid_t clock, struct timespec *time);
int __wrap_clock_gettime(clockid_t clock, struct timespec *time) {
    if (when.tv_sec == 0) return __real_clock_gettime(clock, time);
    *time = when;
    return 0;
}

/* How often stderr was locked, and unlocked again. */
static int locked, unlocked;

void __real_flockfile(FILE *file);
void __wrap_flockfile(FILE *file);
void __wrap_flockfile(FILE *file) {
    locked += file == stderr;
    __real_flockfile(file);
}

void __real_funlockfile(FILE *file);
void __wrap_funlockfile(FILE *file);
void __wrap_funlockfile(FILE *file) {
    unlocked += file == stderr;
    __real_funlockfile(file);
}

/* Does what `steps` does, at its times, and returns what is on stderr then. */
static const char *written_by(void (*steps)(void)) {
    FILE *const file = tmpfile();
    assert_non_null(file);
    (void)fflush(stderr);
    const int kept = dup(STDERR_FILENO);
    assert_true(kept >= 0 && dup2(fileno(file), STDERR_FILENO) >= 0);
    steps();
    (void)fflush(stderr);
    when = (struct timespec){0};
    assert_true(dup2(kept, STDERR_FILENO) >= 0 && close(kept) == 0);
    rewind(file);
    written[fread(written, 1, sizeof written - 1, file)] = '\0';
    (void)fclose(file);
    return written;
}

static void at(time_t seconds, long milliseconds) {
    when = (struct timespec){seconds, 1000000 * milliseconds};
}

/* A bar that began at 5.99 seconds. */
static void begin(const char *what, int64_t total) {
    at(5, 990);
    progress_start(what, total);
}

static void steps_of_seven(void) {
    begin("photos", 7);
    progress_step(1);
    at(6, 989);
    progress_step(2);
    at(7, 0);
    progress_step(3);
    progress_step(3);
    progress_step(7);
    progress_clear();
    progress_clear();
}

static void a_bar_is_drawn_after_a_second(void **state) {
    (void)state;
    assert_string_equal(written_by(steps_of_seven),
                        "\rphotos [#############.................]  42 %, 0:02 left" REST
                        "\rphotos [##############################] 100 %" REST CLEARED);
}

static void a_step_at_one_second(void) {
    at(5, 500);
    progress_start("frames", 10);
    at(6, 500);
    progress_step(0);
    progress_step(5);
}

/* Of half of the steps half of the cells; and the bar that comes next removes the one that is there. */
static void a_bar_has_its_share_of_cells(void **state) {
    (void)state;
    assert_string_equal(written_by(a_step_at_one_second),
                        "\rframes [..............................]   0 %" REST
                        "\rframes [###############...............]  50 %, 0:01 left" REST);
}

static void steps_of_a_thousand(void) {
    begin("images", 1000);
    at(9, 0);
    progress_step(4);
    progress_step(9); /* the same percent */
    progress_clear();
    progress_step(10);
    begin("others", 1000);
    at(9, 0);
    progress_step(10); /* the percent that the bar before ended with */
    progress_clear();
}

static void a_bar_is_drawn_where_it_changes(void **state) {
    (void)state;
    assert_string_equal(written_by(steps_of_a_thousand),
                        CLEARED "\rimages [#.............................]   0 %, 12:30 left" REST CLEARED
                                "\rimages [#.............................]   1 %, 4:58 left" REST CLEARED
                                "\rothers [#.............................]   1 %, 4:58 left" REST CLEARED);
}

static void steps_of_nothing(void) {
    begin("nothing", 0);
    at(8, 0);
    progress_step(0);
    progress_step(1);
    progress_clear();
}

static void a_bar_of_no_steps_divides_by_none(void **state) {
    (void)state;
    assert_string_equal(written_by(steps_of_nothing),
                        "\rnothing [..............................]   0 %" REST
                        "\rnothing [##############################] 100 %" REST CLEARED);
}

/* Other threads warn meanwhile. */
static void stderr_is_locked(void **state) {
    (void)state;
    progress_start("photos", 7);
    locked = unlocked = 0;
    progress_step(3);
    assert_int_equal(locked, 1);
    assert_int_equal(unlocked, 1);
    progress_clear();
    assert_int_equal(locked, 2);
    assert_int_equal(unlocked, 2);
}

static void steps_in_a_file(void) {
    terminal = false;
    begin("photos", 7);
    at(9, 0);
    progress_step(3);
    progress_clear();
    terminal = true;
}

static void steps_that_nobody_wants(void) {
    progress_never();
    begin("photos", 7);
    at(9, 0);
    progress_step(3);
    progress_clear();
}

static void no_bar_is_drawn_elsewhere(void **state) {
    (void)state;
    assert_string_equal(written_by(steps_in_a_file), "");
    assert_string_equal(written_by(steps_that_nobody_wants), "");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_bar_is_drawn_after_a_second),
        cmocka_unit_test(a_bar_has_its_share_of_cells),
        cmocka_unit_test(a_bar_is_drawn_where_it_changes),
        cmocka_unit_test(a_bar_of_no_steps_divides_by_none),
        cmocka_unit_test(stderr_is_locked),
        cmocka_unit_test(no_bar_is_drawn_elsewhere), /* the last one: there are no bars after it */
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

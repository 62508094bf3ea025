/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whole files: read, and written in ways that POSIX has (test_io_written.c has those of every system).
 */
#include "io_helper.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>

#include "io/io_file.h"

static void reads_what_was_written(void **state) {
    char bytes[100000];
    (void)state;
    for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = (char)(i * 7);
    for (size_t size = 0; size <= sizeof bytes; size = size * 10 + 1) {
        io_expect(tvlm_file_write(io_path("a"), size > 0 ? bytes : NULL, size, &io_log), TVLM_OK, NULL);
        io_assert_content(io_path("a"), bytes, size);
    }
    assert_int_equal(io_files(false), 1);
}

static void ends_content_with_zero(void **state) {
    void *bytes;
    size_t size;
    (void)state;
    io_expect(tvlm_file_read(io_put("a", "text", 4), NULL, &bytes, &size), TVLM_OK, NULL);
    assert_string_equal(bytes, "text");
    free(bytes);
    io_expect(tvlm_file_read(io_put("empty", "", 0), NULL, &bytes, &size), TVLM_OK, NULL);
    assert_string_equal(bytes, "");
    assert_int_equal(size, 0);
    free(bytes);
}

static void says_why_it_cannot_read(void **state) {
    void *bytes = NULL;
    size_t size = 5;
    (void)state;
    io_expect(tvlm_file_read(io_path("none"), &io_log, &bytes, &size), TVLM_ERROR_IO, "No such file");
    assert_non_null(strstr(io_logged, "cannot open"));
    assert_non_null(strstr(io_logged, io_path("none")));
    io_expect(tvlm_file_read(io_folder, &io_log, &bytes, &size), TVLM_ERROR_IO, "Is a directory");
    io_expect(tvlm_file_read(NULL, &io_log, &bytes, &size), TVLM_ERROR_ARGUMENT, "NULL");
    assert_null(bytes);
    assert_int_equal(size, 5);
}

static void refuses_more_than_the_limit(void **state) {
    uint8_t *bytes;
    size_t size;
    (void)state;
    io_put("a", "12345", 5);
    io_expect(tvlm_io_read(io_path("a"), 4, &io_log, &bytes, &size), TVLM_ERROR_UNSUPPORTED, "more than 4");
    io_expect(tvlm_io_read("/dev/zero", 1000000, &io_log, &bytes, &size), TVLM_ERROR_UNSUPPORTED,
              "more than");
    io_expect(tvlm_io_read(io_path("a"), 5, &io_log, &bytes, &size), TVLM_OK, NULL);
    free(bytes);
}

static void keeps_permissions_and_links(void **state) {
    struct stat info;
    (void)state;
    io_put("a", "old", 3);
    assert_int_equal(chmod(io_path("a"), 0640), 0);
    assert_int_equal(symlink("a", io_path("link")), 0);
    io_expect(tvlm_file_write(io_path("link"), "new!", 4, &io_log), TVLM_OK, NULL);
    io_assert_content(io_path("a"), "new!", 4);
    assert_int_equal(lstat(io_path("link"), &info), 0);
    assert_true(S_ISLNK(info.st_mode));
    assert_int_equal(stat(io_path("a"), &info), 0);
    assert_int_equal(info.st_mode & 0777, 0640);
    assert_int_equal(symlink("b", io_path("dangling")), 0);
    io_expect(tvlm_file_write(io_path("dangling"), "b", 1, &io_log), TVLM_OK, NULL);
    io_assert_content(io_path("b"), "b", 1);
}

static void notices_a_full_disk(void **state) {
    const int64_t shape[] = {1000};
    float data[1000] = {0};
    (void)state;
    if (access("/dev/full", W_OK) != 0) skip();
    io_expect(tvlm_file_write("/dev/full", "x", 1, &io_log), TVLM_ERROR_IO, "No space left");
    assert_non_null(strstr(io_logged, "cannot write /dev/full"));
    io_expect(tvlm_npy_write("/dev/full", TVLM_ELEMENT_F32, 1, shape, data, &io_log), TVLM_ERROR_IO,
              "No space");
    io_expect(tvlm_safetensors_write("/dev/full", NULL, 0, NULL, 0, &io_log), TVLM_ERROR_IO, "No space");
    io_expect(tvlm_png_write("/dev/full", 1, 1, 1, (const uint8_t *)"x", &io_log), TVLM_ERROR_IO, "No space");
    io_expect(tvlm_file_write("/dev/null", "x", 1, &io_log), TVLM_OK, NULL);
    assert_int_equal(access("/dev/full", W_OK), 0);
}

/* A limit on the size of files behaves as a full disk does: a part is written, then no more. */
static void leaves_nothing_of_a_part(void **state) {
    static char bytes[100000];
    struct rlimit before, small;
    (void)state;
    io_put("a", "old", 3);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    small = before;
    small.rlim_cur = 50000;
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    tvlm_status status = tvlm_file_write(io_path("a"), bytes, sizeof bytes, &io_log);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    signal(SIGXFSZ, handler);
    io_expect(status, TVLM_ERROR_IO, "File too large");
    io_assert_content(io_path("a"), "old", 3);
    assert_int_equal(io_files(false), 1);
}

struct pipe_job {
    char path[600];
    char got[64];
    ssize_t size;
};

static void *read_pipe(void *user) {
    struct pipe_job *job = user;
    int fd = open(job->path, O_RDONLY);
    job->size = fd >= 0 ? read(fd, job->got, sizeof job->got) : -1;
    close(fd);
    return NULL;
}

static void writes_through_a_fifo(void **state) {
    struct pipe_job job = {.size = -1};
    struct stat info;
    pthread_t thread;
    (void)state;
    snprintf(job.path, sizeof job.path, "%s", io_path("fifo"));
    if (mkfifo(job.path, 0600) != 0) skip();
    assert_int_equal(pthread_create(&thread, NULL, read_pipe, &job), 0);
    io_expect(tvlm_file_write(job.path, "through", 7, &io_log), TVLM_OK, NULL);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(job.size, 7);
    assert_memory_equal(job.got, "through", 7);
    assert_int_equal(stat(job.path, &info), 0);
    assert_true(S_ISFIFO(info.st_mode));
}

/* As `tool -o /dev/stdout >> file` does: what the file held stays, and the descriptor is still that file's.
 */
static void appends_to_standard_output(void **state) {
    (void)state;
    io_put("out", "before ", 7);
    fflush(stdout);
    int kept = dup(STDOUT_FILENO), file = open(io_path("out"), O_WRONLY | O_APPEND);
    assert_true(kept >= 0 && file >= 0 && dup2(file, STDOUT_FILENO) >= 0);
    tvlm_status status = tvlm_file_write("/dev/stdout", "after", 5, &io_log);
    dup2(kept, STDOUT_FILENO);
    close(kept);
    close(file);
    io_expect(status, TVLM_OK, NULL);
    io_assert_content(io_path("out"), "before after", 12);
}

/* Where standard input is closed files get its descriptor, 0, and give it back. */
static void works_without_standard_input(void **state) {
    const int kept = dup(0);
    tvlm_io_output *output = NULL;
    void *bytes;
    size_t size;
    (void)state;
    assert_true(kept > 0);
    close(0);
    io_expect(tvlm_file_write(io_path("a"), "text", 4, &io_log), TVLM_OK, NULL);
    assert_int_equal(fcntl(0, F_GETFD), -1);
    io_expect(tvlm_file_read(io_path("a"), &io_log, &bytes, &size), TVLM_OK, NULL);
    assert_int_equal(fcntl(0, F_GETFD), -1);
    assert_int_equal(size, 4);
    free(bytes);
    io_expect(tvlm_io_output_open(io_path("b"), &io_log, &output), TVLM_OK, NULL);
    assert_int_not_equal(fcntl(0, F_GETFD), -1);
    tvlm_io_output_abort(&output);
    assert_int_equal(fcntl(0, F_GETFD), -1);
    assert_int_equal(dup2(kept, 0), 0);
    close(kept);
    assert_int_equal(io_files(false), 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        io_test(reads_what_was_written),      io_test(ends_content_with_zero),
        io_test(says_why_it_cannot_read),     io_test(refuses_more_than_the_limit),
        io_test(keeps_permissions_and_links), io_test(notices_a_full_disk),
        io_test(leaves_nothing_of_a_part),    io_test(writes_through_a_fifo),
        io_test(appends_to_standard_output),  io_test(works_without_standard_input),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_tune.c: tuning. Every setting that there is gives what the defaults give; what is kept is found again; a
 * file that is damaged, of another device, or says what there is not, is ignored with one warning.
 */
#include <math.h>

#include "device_helper.h"

#include "core/tuner.h"
#include "opencl/backend.h"

static const tvlm_tuner *tuner_of(const tvlm_device *device) {
    return device->backend->tuner;
}

/* ---- Settings ---- */

/* The defaults of GPUs and of CPUs are settings: using them changes nothing. */
static void defaults_are_settings(const test_target *target) {
    for (int gpu = 0; gpu < 2; ++gpu) {
        opencl_device device = *(const opencl_device *)target->device;
        device.base.info.type = gpu ? TVLM_DEVICE_GPU : TVLM_DEVICE_CPU;
        device.short_loops = false;
        device.tuning = tvlm_opencl_tuning_default(gpu == 1);
        device.tuned = NULL;
        for (int32_t stage = 0; stage < TVLM_TUNED_COUNT; ++stage)
            for (int32_t choice = 0; choice < tvlm_opencl_tuner.choices; ++choice) {
                if (tvlm_opencl_tuner.settings(&device.base, stage, choice) == 0) continue;
                const int32_t usual = tvlm_opencl_choice_default(&device.base, choice);
                assert_int_equal(tvlm_opencl_tuner.used(&device.base, stage, 1, choice), usual);
                assert_int_equal(tvlm_opencl_tuner.use(&device.base, stage, 1, choice, usual), TVLM_OK);
                if (memcmp(&device.tuned->at[stage][1], &device.tuning, sizeof device.tuning) != 0)
                    fail_msg("the default of %s is no setting", tvlm_opencl_choice_name(choice));
            }
        free(device.tuned);
    }
}

/* What a device makes of a picture: positions, channels, a flow, cosines, patches, the largest scores. */
enum {
    WIDTH = 203,
    HEIGHT = 149,
    PLACES = 64,
    CHANNELS = 40,
    SCORES = 40000,
    BEST = 50,
    QUERIES = 3,
    SOME = 12
};
typedef struct made {
    int32_t counts[3];
    tvlm_position positions[3][BEST];
    float channels[PLACES * CHANNELS], cosines[QUERIES * 12],
        flow[3 * ((WIDTH + 1) / 2) * ((HEIGHT + 1) / 2)];
    float patches[PLACES * 3 * 16 * 16];
    int32_t best[2][BEST], tokens[8];
} made;

static uint8_t *pixels;
static float scores[SCORES], vectors[12 * 8];

static void select_into(tvlm_stack *stack, tvlm_strategy strategy, const struct tvlm_query *query, int which,
                        made *m) {
    tvlm_selection *selection = NULL;
    assert_int_equal(
        tvlm_select(stack, query, tvlm_select_params(.strategy = strategy, .k = BEST), &selection), TVLM_OK);
    const tvlm_position *positions = tvlm_selection_positions(selection, &m->counts[which]);
    assert_in_range(m->counts[which], 1, BEST);
    memcpy(m->positions[which], positions, (size_t)m->counts[which] * sizeof *positions);
    tvlm_selection_destroy(&selection);
}

static void sample_into(tvlm_stack *stack, made *m) {
    tvlm_sample_point points[PLACES];
    int32_t count;
    const int32_t *channels = tvlm_stack_channels(stack, &count);
    for (int i = 0; i < PLACES; ++i)
        points[i] =
            (tvlm_sample_point){3.0f * (float)i + 0.25f, 2.0f * (float)i + 0.75f, 0.07f * (float)i, 0};
    assert_in_range(count, 1, CHANNELS);
    assert_int_equal(tvlm_stack_sample(stack, points, PLACES, channels, count, m->channels), TVLM_OK);
}

/* A second frame, so that motion and what is remembered are there too. */
static void flow_into(tvlm_device *device, tvlm_stack *stack, const tvlm_image *image, tvlm_format format,
                      made *m) {
    tvlm_stack *moved = NULL;
    tvlm_flow *flow = NULL;
    tvlm_image later = *image;
    later.pixels = pixels + 9;
    assert_int_equal(tvlm_stack_create_for_image(device, &later,
                                                 tvlm_stack_params(.layout = "r", .format = format), &moved),
                     TVLM_OK);
    assert_int_equal(tvlm_flow_compute(moved, 0, stack, 0, NULL, &flow), TVLM_OK);
    assert_int_equal(tvlm_flow_read(flow, sizeof m->flow / sizeof *m->flow, m->flow), TVLM_OK);
    assert_int_equal(tvlm_stack_advance(stack, 0, NULL), TVLM_OK);
    assert_int_equal(tvlm_stack_set_image(stack, 0, &later), TVLM_OK);
    assert_int_equal(tvlm_stack_set_flow(stack, 0, flow), TVLM_OK);
    tvlm_flow_destroy(&flow);
    tvlm_stack_destroy(&moved);
}

static void export_into(tvlm_device *device, const tvlm_image *image, made *m) {
    tvlm_export *exported = NULL;
    assert_int_equal(
        tvlm_export_create(device, tvlm_export_params(.model = TVLM_EXPORT_QWEN2_VL, .budget = 8), &exported),
        TVLM_OK);
    assert_int_equal(tvlm_export_run(exported, image, 1, NULL, NULL), TVLM_OK);
    int64_t tokens[8];
    assert_int_equal(tvlm_export_read(exported, 2, sizeof tokens, tokens), TVLM_OK);
    for (int i = 0; i < 8; ++i) m->tokens[i] = (int32_t)tokens[i];
    tvlm_export_destroy(&exported);
}

static void make(tvlm_device *device, tvlm_format format, made *m) {
    const tvlm_image image = {.pixels = pixels, .width = WIDTH, .height = HEIGHT, .channels = 3};
    const struct tvlm_query query = {.vectors = vectors, .dimension = 8};
    tvlm_stack *stack = NULL;
    memset(m, 0, sizeof *m);
    assert_int_equal(tvlm_stack_create_for_image(
                         device, &image, tvlm_stack_params(.layout = "full40", .format = format), &stack),
                     TVLM_OK);
    select_into(stack, TVLM_STRATEGY_GRID, NULL, 0, m);
    select_into(stack, TVLM_STRATEGY_BUDGET, NULL, 1, m);
    assert_int_equal(
        tvlm_patches_extract(stack, m->positions[1], m->counts[1], NULL, sizeof m->patches, m->patches),
        TVLM_OK);
    flow_into(device, stack, &image, format, m);
    assert_int_equal(
        tvlm_stack_set_grid(stack, 0, TVLM_CHANNEL_FEATURE_0,
                            tvlm_grid_input(.data = vectors, .columns = 4, .rows = 3, .channels = 8)),
        TVLM_OK);
    select_into(stack, TVLM_STRATEGY_GRID, &query, 2, m);
    assert_int_equal(tvlm_similarity(stack, 0, vectors, QUERIES, 8, QUERIES * 12, m->cosines), TVLM_OK);
    sample_into(stack, m);
    tvlm_stack_destroy(&stack);
    assert_int_equal(tvlm_topk(device, scores, SCORES, BEST, m->best[0], NULL), TVLM_OK);
    assert_int_equal(tvlm_topk(device, scores, 3000, BEST, m->best[1], NULL), TVLM_OK);
    export_into(device, &image, m);
}

static void near(const char *what, const char *setting, double tolerance, const float *a, const float *b,
                 size_t count) {
    for (size_t i = 0; i < count; ++i)
        if (!(fabs((double)a[i] - (double)b[i]) <= tolerance * fmax(1.0, fabs((double)a[i]))))
            fail_msg("%s: %s %zu is %g instead of %g", setting, what, i, (double)b[i], (double)a[i]);
}

/* Choices and counts are the same; numbers but for the order of sums, which may round to the next half. */
static void same(const char *setting, tvlm_format format, const made *a, const made *b) {
    const double tolerance = format == TVLM_FORMAT_F16 ? 1e-3 : 1e-4;
    assert_memory_equal(a->counts, b->counts, sizeof a->counts);
    for (int s = 0; s < 3; ++s)
        for (int32_t i = 0; i < a->counts[s]; ++i) {
            const tvlm_position *p = &a->positions[s][i], *q = &b->positions[s][i];
            if (p->x != q->x || p->y != q->y || p->size != q->size)
                fail_msg("%s: position %d of selection %d is %g, %g instead of %g, %g", setting, (int)i, s,
                         (double)q->x, (double)q->y, (double)p->x, (double)p->y);
        }
    if (memcmp(a->best, b->best, sizeof a->best) != 0) fail_msg("%s: other scores are the largest", setting);
    if (memcmp(a->tokens, b->tokens, sizeof a->tokens) != 0) fail_msg("%s: other tokens", setting);
    near("channel", setting, tolerance, a->channels, b->channels, sizeof a->channels / sizeof *a->channels);
    near("cosine", setting, tolerance, a->cosines, b->cosines, sizeof a->cosines / sizeof *a->cosines);
    near("patch", setting, tolerance, a->patches, b->patches, sizeof a->patches / sizeof *a->patches);
    near("flow", setting, tolerance, a->flow, b->flow, sizeof a->flow / sizeof *a->flow);
}

/* Each setting of each choice, in all stages and sizes at once; a quick run tries every twelfth, since each
 * builds programs of its own, and each turn others. */
static void settings_change_nothing(const test_target *target, tvlm_device *reference) {
    static made usual, other;
    uint64_t random = 5;
    const tvlm_tuner *tuner = tuner_of(target->device);
    long tried = test_quick() ? test_first(SOME) : 0;
    (void)reference;
    if (tuner == NULL) return;
    pixels = test_random_pixels(&random, WIDTH + 1, HEIGHT + 1, 3);
    for (int i = 0; i < SCORES; ++i) scores[i] = (float)(test_random(&random) % 5000);
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; ++i)
        vectors[i] = (float)(test_random(&random) % 1000) / 500.0f - 1.0f;
    tuner->defaults(target->device);
    make(target->device, target->format, &usual);
    for (int32_t choice = 0; choice < tuner->choices; ++choice)
        for (int32_t setting = 0; setting < 16; ++setting) {
            char text[TVLM_TUNED_TEXT] = "";
            for (int32_t stage = 0; stage < TVLM_TUNED_COUNT; ++stage) {
                if (setting >= tuner->settings(target->device, stage, choice)) continue;
                tuner->describe(target->device, choice, setting, text);
                for (int32_t size = 0; size < TVLM_TUNED_SIZES; ++size)
                    assert_int_equal(tuner->use(target->device, stage, size, choice, setting), TVLM_OK);
            }
            if (text[0] == '\0') break;
            if (!test_quick() || tried++ % SOME == 0) {
                make(target->device, target->format, &other);
                same(text, target->format, &usual, &other);
            }
            tuner->defaults(target->device);
        }
    free(pixels);
}

static void test_settings(void **state) {
    (void)state;
    test_on_targets(settings_change_nothing);
}

/* ---- Their use ---- */

static __typeof__(clEnqueueNDRangeKernel) launch;
static size_t wanted[2];
static int launched;

/* Counts the kernels whose work-groups are the wanted ones. */
static CL_API_ENTRY cl_int CL_API_CALL count_groups(cl_command_queue queue, cl_kernel kernel,
                                                    cl_uint dimensions, const size_t *offset,
                                                    const size_t *size, const size_t *group, cl_uint count,
                                                    const cl_event *list, cl_event *event) {
    launched += dimensions >= 2 && group != NULL && group[0] == wanted[0] && group[1] == wanted[1];
    return launch(queue, kernel, dimensions, offset, size, group, count, list, event);
}

/* How many kernels have the groups of a setting while two pictures get their saliency. Of a single one the
 * source may come with its levels, in groups of another shape (mips.c). */
static int count_launches(tvlm_device *device) {
    const tvlm_image image = {.pixels = pixels, .width = WIDTH, .height = HEIGHT, .channels = 3};
    tvlm_stack *stack = NULL;
    launched = 0;
    launch = clEnqueueNDRangeKernel;
    clEnqueueNDRangeKernel = count_groups;
    assert_int_equal(tvlm_stack_create(device,
                                       tvlm_stack_params(.width = WIDTH, .height = HEIGHT, .images = 2,
                                                         .layout = "saliency"),
                                       &stack),
                     TVLM_OK);
    for (int32_t i = 0; i < 2; ++i) assert_int_equal(tvlm_stack_set_image(stack, i, &image), TVLM_OK);
    assert_int_equal(tvlm_stack_make_all(stack), TVLM_OK);
    clEnqueueNDRangeKernel = launch;
    tvlm_stack_destroy(&stack);
    return launched;
}

static int32_t choice_named(const char *name) {
    int32_t choice = 0;
    while (strcmp(tvlm_opencl_choice_name(choice), name) != 0) ++choice;
    return choice;
}

static void want(tvlm_device *device, int32_t choice, int32_t setting) {
    int32_t values[OPENCL_CHOICE_VALUES];
    assert_int_equal(tvlm_opencl_choice_values(device, choice, setting, values), 2);
    wanted[0] = (size_t)values[0];
    wanted[1] = (size_t)values[1];
}

/* Whether a stage's kernels can have the usual groups. Where a driver allows them far smaller ones (llvmpipe with 256 bits), no setting
 * of groups makes a difference. */
static bool has_usual_groups(tvlm_device *device, int32_t stage, int32_t choice, int32_t usual,
                             int32_t other) {
    const tvlm_tuner *tuner = tuner_of(device);
    want(device, choice, usual);
    const int before = count_launches(device);
    assert_int_equal(tuner->use(device, stage, 0, choice, other), TVLM_OK);
    const bool fewer = count_launches(device) < before;
    tuner->defaults(device);
    want(device, choice, other);
    return fewer;
}

/* A stage has its setting, at the size that it is for; the others have theirs. */
static void settings_are_used(const test_target *target) {
    static const int32_t stages[] = {TVLM_GRID_SALIENCY, TVLM_TUNED_SOURCE};
    tvlm_device *device = target->device;
    const tvlm_tuner *tuner = tuner_of(device);
    uint64_t random = 6;
    const int32_t choice = choice_named("group");
    pixels = test_random_pixels(&random, WIDTH + 1, HEIGHT + 1, 3);
    const int32_t usual = tvlm_opencl_choice_default(device, choice), other = usual == 0 ? 1 : 0;
    int used = 0;
    want(device, choice, other);
    tuner->defaults(device);
    const int before = count_launches(device);
    for (size_t i = 0; i < sizeof stages / sizeof *stages; ++i) {
        assert_int_equal(tuner->use(device, stages[i], 2, choice, other), TVLM_OK);
        assert_int_equal(count_launches(device), before); /* the picture is not so large */
        assert_int_equal(tuner->use(device, stages[i], 0, choice, other), TVLM_OK);
        const bool is_used = count_launches(device) > before;
        tuner->defaults(device);
        assert_int_equal(count_launches(device), before);
        if (!is_used && has_usual_groups(device, stages[i], choice, usual, other))
            fail_msg("%s: its setting is not used", tvlm_tuned_name(stages[i]));
        used += is_used;
    }
    if (used == 0) printf("    no kernel here can have such groups\n");
    free(pixels);
    pixels = NULL;
}

/* On a GPU the source is made with its first levels, but not where levels are tuned to be made one by one, which would
 * make them a second time. */
static void source_follows_levels(const test_target *target) {
    const tvlm_texture shape = {.width = 256,
                                .height = 256,
                                .layers = 1,
                                .images = 1,
                                .levels = 9,
                                .extent_x = 256.0f,
                                .extent_y = 256.0f};
    const int32_t choice = choice_named("levels");
    opencl_device device = *(const opencl_device *)target->device;
    int32_t values[OPENCL_CHOICE_VALUES];
    device.base.info.type = TVLM_DEVICE_GPU;
    device.base.info.storage = TVLM_STORAGE_IMAGE;
    device.tuning = tvlm_opencl_tuning_default(true);
    device.tuned = NULL;
    for (int32_t setting = 0; setting < 3; ++setting) {
        assert_int_equal(tvlm_opencl_choice_values(&device.base, choice, setting, values), 3);
        assert_int_equal(values[1], setting < 2); /* tiled_mips */
        assert_int_equal(tvlm_opencl_tuner.use(&device.base, TVLM_TUNED_LEVELS, 0, choice, setting), TVLM_OK);
        OPENCL_TUNED(&device.base, TVLM_TUNED_SOURCE, 256 * 256);
        assert_int_equal(tvlm_opencl_mips_from_pixels_fits(&device, &shape), setting < 2);
    }
    free(device.tuned);
}

/* ---- The file ---- */

/* The only file in a folder: its key, or "". */
static void key_in(const char *folder, char key[80]) {
    DIR *all = opendir(folder);
    key[0] = '\0';
    if (all == NULL) return;
    for (struct dirent *entry = readdir(all); entry != NULL; entry = readdir(all)) {
        const char *suffix = strrchr(entry->d_name, '.');
        if (entry->d_name[0] == '.' || suffix == NULL || strcmp(suffix, ".tuning") != 0) continue;
        assert_string_equal(key, "");
        assert_int_equal(strlen(entry->d_name), 64 + 7);
        snprintf(key, 80, "%.64s", entry->d_name);
    }
    closedir(all);
}

/* Opens a device of a folder. Its warnings are counted. */
static tvlm_device *open_tuned(const test_target *target, const char *folder, tvlm_storage storage,
                               bool untuned, lines *l) {
    const tvlm_log log = {count_line, l};
    tvlm_device *device = NULL;
    *l = (lines){0};
    assert_int_equal(tvlm_device_open(tvlm_device_params(.name = name_of(target), .cache_dir = folder,
                                                         .storage = storage, .log = &log, .untuned = untuned),
                                      &device),
                     TVLM_OK);
    assert_int_equal(l->errors, 0);
    device->log = test_log;
    return device;
}

enum { CHOSEN_SIZE = 1 };

/* The first choice of the saliency that has several settings, and one that is not the default. */
static int32_t another(const tvlm_device *device, int32_t *choice) {
    for (*choice = 0; *choice < tuner_of(device)->choices; ++*choice)
        if (tuner_of(device)->settings(device, TVLM_GRID_SALIENCY, *choice) > 1)
            return tvlm_opencl_choice_default(device, *choice) == 0 ? 1 : 0;
    fail_msg("saliency has no choice");
    return -1;
}

static int32_t used_in(const tvlm_device *device) {
    int32_t choice;
    (void)another(device, &choice);
    return tuner_of(device)->used(device, TVLM_GRID_SALIENCY, CHOSEN_SIZE, choice);
}

static bool has_defaults(const tvlm_device *device) {
    return ((const opencl_device *)device)->tuned == NULL;
}

/* A device whose file is bad: it has its defaults, after one warning that names the file. */
static void check_ignored(const test_target *target, const char *folder, const char *what) {
    lines l;
    char key[80];
    tvlm_device *device = open_tuned(target, folder, TVLM_STORAGE_BUFFER, false, &l);
    key_in(folder, key);
    if (!has_defaults(device)) fail_msg("%s: the file is used", what);
    if (l.warnings != 1 || strstr(l.last, key) == NULL || strstr(l.last, "is not used") == NULL)
        fail_msg("%s: %d warnings: %s", what, l.warnings, l.last);
    check_luma(device, 1.0);
    tvlm_device_destroy(&device);
}

static void put_text(const char *folder, const char *key, const char *text) {
    tvlm_opencl_cache_write(folder, key, ".tuning", (const unsigned char *)text, strlen(text));
}

/* Files with the right hash that say what there is not. */
static void check_texts(const test_target *target, const char *folder, const char *key) {
    static const char *const bad[] = {
        "",
        "texturevlm tuning 1\n",
        "saliency 1 group 64 1\n",
        "texturevlm tuning 2\nsaliency 1 group 63 1\n",
        "texturevlm tuning 2\nsaliency 1 group 64\n",
        "texturevlm tuning 2\nsaliency 1 group 64 1 1\n",
        "texturevlm tuning 2\nsaliency 3 group 64 1\n",
        "texturevlm tuning 2\nsaliency -1 group 64 1\n",
        "texturevlm tuning 2\nsaliency 1 tile 1 1 64 16\n",
        "texturevlm tuning 2\nsaliency 1 run 0\n",
        "texturevlm tuning 2\nsaliency 1 run 99999999999999999999\n",
        "texturevlm tuning 2\nsaliency 1 run 1x\n",
        "texturevlm tuning 2\nsaliency 1 walk 1\n",
        "texturevlm tuning 2\nnothing 1 run 1\n",
        "texturevlm tuning 2\nsaliency\n",
        "texturevlm tuning 2\nlevels 1 group 64 1\nsaliency 1 run\n", /* a good line before a bad one */
        "texturevlm tuning 2\n1 2 3 4 5 6 7 8 9 10 11 12\n",
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; ++i) {
        put_text(folder, key, bad[i][0] != '\0' ? bad[i] : "\n");
        check_ignored(target, folder, bad[i]);
    }
}

/* Files that are damaged, or not what cache.c opens. */
static void check_damage(const test_target *target, const char *folder, const char *path) {
    size_t size;
    char *bytes = read_file(path, &size);
    for (size_t cut = 0; cut < size; cut += 11) {
        write_file(path, bytes, cut);
        check_ignored(target, folder, "cut short");
    }
    bytes[size / 2] ^= 1;
    write_file(path, bytes, size);
    check_ignored(target, folder, "one bit");
    bytes[size / 2] ^= 1;
    write_file(path, bytes, size);
    assert_int_equal(chmod(path, 0666), 0);
    check_ignored(target, folder, "open to others");
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkfifo(path, 0600), 0);
    check_ignored(target, folder, "a pipe");
    assert_int_equal(unlink(path), 0);
    write_file(path, bytes, size);
    assert_int_equal(chmod(path, 0600), 0);
    free(bytes);
}

/* What is written as another device's, under this one's name. */
static void check_other_device(const test_target *target, const char *folder, const char *path) {
    char other[512], from[512], key[80];
    lines l;
    size_t size;
    join(other, folder, "other");
    tvlm_device *device = open_tuned(target, other, TVLM_STORAGE_BUFFER, true, &l);
    snprintf(device->info.driver, sizeof device->info.driver, "another one");
    assert_int_equal(tuner_of(device)->keep(device, from, sizeof from), TVLM_OK);
    tvlm_device_destroy(&device);
    key_in(other, key);
    if (strstr(path, key) != NULL) fail_msg("the driver is not in the key");
    char *mine = read_file(path, &size);
    copy_file(from, path);
    check_ignored(target, folder, "another driver's");
    write_file(path, mine, size);
    free(mine);
}

static void files(const test_target *target) {
    char folder[64], path[512], again[512], key[80];
    lines l;
    struct stat about;
    int32_t choice;
    make_folder(folder);
    tvlm_device *device = open_tuned(target, folder, TVLM_STORAGE_BUFFER, false, &l);
    assert_int_equal(l.warnings, 0); /* there is no file yet */
    assert_true(has_defaults(device));
    const int32_t setting = another(device, &choice), usual = used_in(device);
    assert_int_not_equal(setting, usual);
    assert_int_equal(tuner_of(device)->use(device, TVLM_GRID_SALIENCY, CHOSEN_SIZE, choice, setting),
                     TVLM_OK);
    assert_int_equal(tuner_of(device)->keep(device, path, sizeof path), TVLM_OK);
    tvlm_device_destroy(&device);
    assert_int_equal(stat(path, &about), 0);
    assert_int_equal(about.st_mode & 0777, 0600);
    key_in(folder, key);
    assert_non_null(strstr(path, key));

    device = open_tuned(target, folder, TVLM_STORAGE_BUFFER, false, &l);
    assert_int_equal(l.warnings, 0);
    assert_non_null(strstr(l.told, "tuned by "));
    assert_int_equal(used_in(device), setting);
    assert_int_equal(tuner_of(device)->used(device, TVLM_GRID_SALIENCY, 0, choice), usual);
    check_luma(device, 1.0);
    assert_int_equal(tuner_of(device)->keep(device, again, sizeof again), TVLM_OK);
    assert_string_equal(again, path);
    tvlm_device_destroy(&device);
    device = open_tuned(target, folder, TVLM_STORAGE_BUFFER, true, &l);
    assert_true(has_defaults(device));
    tvlm_device_destroy(&device);

    check_other_device(target, folder, path);
    check_damage(target, folder, path);
    device = open_tuned(target, folder, TVLM_STORAGE_BUFFER, false, &l); /* mended */
    assert_int_equal(used_in(device), setting);
    tvlm_device_destroy(&device);
    check_texts(target, folder, key);
    remove_folder(folder);
}

/* The storage that is the fastest is taken where none is asked for. */
static void storage(const test_target *target) {
    char folder[64], path[512], key[80];
    lines l;
    make_folder(folder);
    tvlm_device *device = open_tuned(target, folder, TVLM_STORAGE_AUTO, false, &l);
    const tvlm_storage usual = device->info.storage;
    const tvlm_storage other = usual == TVLM_STORAGE_BUFFER ? TVLM_STORAGE_IMAGE : TVLM_STORAGE_BUFFER;
    if (other == TVLM_STORAGE_IMAGE && !device->info.images) {
        tvlm_device_destroy(&device);
        return;
    }
    assert_int_equal(tuner_of(device)->keep_storage(device, other), TVLM_OK);
    tvlm_device_destroy(&device);
    device = open_tuned(target, folder, TVLM_STORAGE_AUTO, false, &l);
    assert_int_equal(l.warnings, 0);
    assert_int_equal(device->info.storage, other);
    assert_non_null(strstr(device->info.storage_reason, "tuned"));
    tvlm_device_destroy(&device);
    device = open_tuned(target, folder, usual, false, &l);
    assert_int_equal(device->info.storage, usual);
    tvlm_device_destroy(&device);
    device = open_tuned(target, folder, TVLM_STORAGE_AUTO, true, &l);
    assert_int_equal(device->info.storage, usual);
    tvlm_device_destroy(&device);
    key_in(folder, key);
    put_text(folder, key, "storage drawer\n");
    device = open_tuned(target, folder, TVLM_STORAGE_AUTO, false, &l);
    assert_int_equal(device->info.storage, usual);
    assert_int_equal(l.warnings, 1);
    tvlm_device_destroy(&device);
    snprintf(path, sizeof path, "%s", folder);
    remove_folder(path);
}

/* ---- device.h ---- */

typedef struct watcher {
    int calls, most;
    float last;
    bool rises;
} watcher;

static bool watch(void *user, float share, const char *stage) {
    watcher *w = user;
    assert_non_null(stage);
    assert_true(share >= 0.0f && share <= 1.0f);
    w->rises = w->rises && share >= w->last;
    w->last = share;
    return ++w->calls < w->most;
}

static void tuning(const test_target *target) {
    char folder[64], key[80];
    lines l;
    tvlm_tuning *found = NULL;
    tvlm_tuning_info info;
    watcher w = {.most = 1, .rises = true};
    int32_t count = 0;
    make_folder(folder);
    tvlm_device *device = open_tuned(target, folder, TVLM_STORAGE_BUFFER, false, &l);
    assert_int_equal(tvlm_device_tune(device,
                                      tvlm_tune_params(.keep_storage = true, .progress = watch, .user = &w),
                                      &found),
                     TVLM_OK);
    assert_int_equal(tvlm_tuning_get_info(found, &info), TVLM_OK);
    assert_true(info.cancelled && !info.complete && w.calls == 1);
    assert_string_equal(info.path, "");
    assert_true(has_defaults(device));
    tvlm_tuning_destroy(&found);
    key_in(folder, key);
    assert_string_equal(key, "");

    w = (watcher){.most = 1 << 20, .rises = true};
    assert_int_equal(tvlm_device_tune(device,
                                      tvlm_tune_params(.seconds = 2.0f, .keep_storage = true,
                                                       .progress = watch, .user = &w),
                                      &found),
                     TVLM_OK);
    assert_true(w.calls > 0 && w.rises);
    assert_int_equal(tvlm_tuning_get_info(found, &info), TVLM_OK);
    const tvlm_tuned_stage *stages = tvlm_tuning_stages(found, &count);
    assert_true(count > 0 &&
                !info.cancelled); /* how many settings there was time for depends on the machine */
    assert_true(info.tried > 0 || !info.complete);
    for (int32_t i = 0; i < count; ++i) {
        assert_true(stages[i].before > 0.0 && stages[i].after > 0.0 && stages[i].side > 0);
        assert_true((stages[i].settings[0] != '\0') == (stages[i].after < stages[i].before));
    }
    key_in(folder, key);
    assert_non_null(strstr(info.path, key));
    check_luma(device, 1.0);
    tvlm_tuning_destroy(&found);
    tvlm_tuning_destroy(&found);
    tvlm_device_destroy(&device);
    remove_folder(folder);
}

static void refusals(const test_target *target) {
    tvlm_device *device = target->device;
    tvlm_tuning *found = NULL;
    struct tvlm_tune_params params = {.seconds = -1.0f};
    assert_int_equal(tvlm_device_tune(NULL, NULL, &found), TVLM_ERROR_ARGUMENT);
    assert_int_equal(tvlm_device_tune(device, NULL, NULL), TVLM_ERROR_ARGUMENT);
    assert_int_equal(tvlm_device_tune(device, &params, &found), TVLM_ERROR_ARGUMENT);
    params.seconds = NAN;
    assert_int_equal(tvlm_device_tune(device, &params, &found), TVLM_ERROR_ARGUMENT);
    params = (struct tvlm_tune_params){.reserved = {1}};
    assert_int_equal(tvlm_device_tune(device, &params, &found), TVLM_ERROR_ARGUMENT);
    assert_null(found);
    assert_int_equal(tvlm_tuning_get_info(NULL, NULL), TVLM_ERROR_ARGUMENT);
    int32_t count = 1;
    assert_null(tvlm_tuning_stages(NULL, &count));
    assert_int_equal(count, 0);
    tvlm_tuning_destroy(NULL);
    device = open_with(tvlm_device_params(.name = "reference"));
    assert_int_equal(tvlm_device_tune(device, NULL, &found), TVLM_ERROR_UNSUPPORTED);
    assert_non_null(strstr(test_last_log(), "nothing to tune"));
    tvlm_device_destroy(&device);
}

ONCE_PER_DEVICE(defaults_are_settings, settings_are_used, source_follows_levels, files, storage, refusals,
                tuning)

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_each_device), cmocka_unit_test(test_settings)};
    return test_exit(cmocka_run_group_tests(tests, NULL, NULL));
}

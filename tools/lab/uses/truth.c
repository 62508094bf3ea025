/* SPDX-License-Identifier: Apache-2.0 */
#include "truth.h"

#include <cJSON.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "platform/file.h"
#include "shapes.h"
#include "texturevlm/io.h"

#define PATH_SIZE 4096

/* How far outlines may reach beyond an image, in sides of the image. People also mark parts that the picture
 * cuts off. */
#define BEYOND 1.0

struct truth {
    const truth_options *options;
    const char *classes; /* the classes that count; NULL: all classes, or all things */
    cJSON *json;         /* the file of --coco */
    bool panoptic;
};

/* Where objects are drawn: all into one mask, or each one alone, to find its middle. */
typedef struct drawing {
    shape_mask mask;
    truth_middles *middles; /* NULL: no middles are asked for */
} drawing;

/* ---- Middles ---- */

/* The rows and columns in which an object has pixels; `right` and `bottom` are one after the last. All are 0
 * if the object has no pixel. */
typedef struct extent {
    int32_t left, right, top, bottom;
} extent;

static extent extent_of(const shape_mask *mask) {
    extent e = {.left = mask->width, .top = mask->height};
    for (int32_t y = 0; y < mask->height; ++y) {
        const uint8_t *const row = mask->pixels + (size_t)y * (size_t)mask->width;
        for (int32_t x = 0; x < mask->width; ++x) {
            if (row[x] != TRUTH_OBJECT) continue;
            e.left = x < e.left ? x : e.left;
            e.right = x >= e.right ? x + 1 : e.right;
            e.top = y < e.top ? y : e.top;
            e.bottom = y + 1;
        }
    }
    return e.bottom == 0 ? (extent){0} : e;
}

/* Takes the middle of the object that was just drawn, and removes the object from the mask. If there is no
 * more room, the smallest object is dropped. */
static void take_middle(const drawing *to) {
    truth_middles *const middles = to->middles;
    if (middles == NULL) return;
    const extent e = extent_of(&to->mask);
    const double area = (double)(e.right - e.left) * (double)(e.bottom - e.top);
    memset(to->mask.pixels, TRUTH_NOTHING, (size_t)to->mask.width * (size_t)to->mask.height);
    if (area == 0.0) return;
    int32_t at = middles->points.count;
    if (at == OPTION_POINTS_MAX) {
        at = 0;
        for (int32_t i = 1; i < OPTION_POINTS_MAX; ++i)
            if (middles->areas[i] < middles->areas[at]) at = i;
        if (middles->areas[at] >= area) return;
    } else {
        ++middles->points.count;
    }
    middles->areas[at] = area;
    middles->points.values[2 * at] = 0.5f * (float)(e.left + e.right);
    middles->points.values[2 * at + 1] = 0.5f * (float)(e.top + e.bottom);
}

/* ---- Files beside ---- */

/* Finds the file that belongs to a photo: FOLDER/STEM_mask.png, or else FOLDER/STEM.png. The latter may be
 * the photo itself if both are in one folder. */
static int find_file(struct tool *tool, const char *folder, const char *image, const char *suffix,
                     const char *extension, char *path) {
    char stem[512];
    tool_stem(image, stem, sizeof stem);
    for (int i = 0; i < 2; ++i) {
        const int length =
            snprintf(path, PATH_SIZE, "%s/%s%s%s", folder, stem, i == 0 ? suffix : "", extension);
        if (length >= PATH_SIZE) return tool_fail(tool, "%.64s...: the path is too long", folder);
        if (tvlm_path_exists(path)) return TOOL_DONE;
    }
    return tool_fail(tool, "there is neither %s%s nor %s%s%s in %s", stem, extension, stem, suffix, extension,
                     folder);
}

/* Notes the two files that may belong to a photo, if they exist. */
static int note_beside(struct tool *tool, const char *folder, const char *image, const char *suffix,
                       const char *extension) {
    char stem[512], path[PATH_SIZE];
    int code = TOOL_DONE;
    if (folder == NULL) return TOOL_DONE;
    tool_stem(image, stem, sizeof stem);
    for (int i = 0; code == TOOL_DONE && i < 2; ++i) {
        const int length =
            snprintf(path, PATH_SIZE, "%s/%s%s%s", folder, stem, i == 0 ? suffix : "", extension);
        if (length < PATH_SIZE && tvlm_path_exists(path)) code = files_input(tool, path);
    }
    return code;
}

static int load_map(struct tool *tool, const char *path, int32_t width, int32_t height, tvlm_image **map) {
    TOOL_TRY(tool_status(tool, tvlm_image_load(path, &tool->log, map)));
    if ((*map)->width != width || (*map)->height != height)
        return tool_fail(tool, "%s: %dx%d, the image is %dx%d", path, (*map)->width, (*map)->height, width,
                         height);
    return TOOL_DONE;
}

/* ---- Masks ---- */

static bool is_black(const tvlm_image *map, size_t pixel) {
    const size_t channels = (size_t)map->channels, colours = channels >= 3 ? 3 : 1;
    for (size_t c = 0; c < colours; ++c) {
        const size_t at = pixel * channels + c;
        if (map->type == TVLM_PIXEL_U16 ? ((const uint16_t *)map->pixels)[at] != 0
                                        : ((const uint8_t *)map->pixels)[at] != 0)
            return false;
    }
    return true;
}

static int mask_of_picture(struct tool *tool, const truth *from, const char *image, const drawing *to) {
    const shape_mask *const mask = &to->mask;
    char path[PATH_SIZE];
    tvlm_image *map = NULL;
    int code = find_file(tool, from->options->masks, image, "_mask", ".png", path);
    if (code == TOOL_DONE) code = load_map(tool, path, mask->width, mask->height, &map);
    for (size_t i = 0; code == TOOL_DONE && i < (size_t)mask->width * (size_t)mask->height; ++i)
        mask->pixels[i] = is_black(map, i) ? TRUTH_NOTHING : TRUTH_OBJECT;
    if (code == TOOL_DONE) take_middle(to);
    tvlm_image_destroy(&map);
    return code;
}

/* ---- Classes ---- */

/* Whether a list such as "person,3" contains this name or number. */
static bool in_list(const char *list, const char *name, double number) {
    while (*list != '\0') {
        char item[128];
        int64_t value;
        const size_t length = strcspn(list, ",");
        snprintf(item, sizeof item, "%.*s", (int)(length < sizeof item ? length : sizeof item - 1), list);
        if (name != NULL && strcmp(item, name) == 0) return true;
        if (options_integer(item, &value) && (double)value == number) return true;
        list += length + (list[length] == ',');
    }
    return false;
}

static double number_of(const cJSON *object, const char *key) {
    const cJSON *const item = cJSON_GetObjectItemCaseSensitive(object, key);
    return cJSON_IsNumber(item) ? item->valuedouble : NAN;
}

static const char *text_of(const cJSON *object, const char *key) {
    const cJSON *const item = cJSON_GetObjectItemCaseSensitive(object, key);
    return cJSON_IsString(item) ? item->valuestring : NULL;
}

/* Whether objects of a category of the json count. */
static bool counts(const truth *from, double id) {
    const cJSON *category = NULL;
    const cJSON *const all = cJSON_GetObjectItemCaseSensitive(from->json, "categories");
    cJSON_ArrayForEach(category, all) if (number_of(category, "id") == id) break;
    if (from->classes != NULL) return in_list(from->classes, text_of(category, "name"), id);
    return !from->panoptic || number_of(category, "isthing") == 1.0;
}

/* ---- COCO ---- */

static bool names_image(const char *file, const char *image) {
    char a[512], b[512];
    if (file == NULL) return false;
    tool_stem(file, a, sizeof a);
    tool_stem(image, b, sizeof b);
    return strcmp(a, b) == 0;
}

static const cJSON *find_by_file(const truth *from, const char *list, const char *image) {
    const cJSON *item = NULL;
    const cJSON *const all = cJSON_GetObjectItemCaseSensitive(from->json, list);
    cJSON_ArrayForEach(item, all) if (names_image(text_of(item, "file_name"), image)) return item;
    return NULL;
}

static uint32_t segment_at(const tvlm_image *map, size_t pixel) {
    const uint8_t *const at = (const uint8_t *)map->pixels + pixel * (size_t)map->channels;
    return at[0] + 256u * at[1] + 65536u * at[2];
}

/* Returns the folder of the maps: the folder that the option names, or else the folder of the json. */
static const char *panoptic_folder(const truth_options *options, char folder[PATH_SIZE]) {
    const char *const slash = strrchr(options->coco, '/');
    if (options->panoptic != NULL) return options->panoptic;
    snprintf(folder, PATH_SIZE, "%.*s", slash != NULL ? (int)(slash - options->coco) : 1,
             slash != NULL ? options->coco : ".");
    return folder;
}

static int mask_of_panoptic(struct tool *tool, const truth *from, const char *image, const drawing *to) {
    const shape_mask *const mask = &to->mask;
    char path[PATH_SIZE], folder[PATH_SIZE];
    tvlm_image *map = NULL;
    const cJSON *const annotation = find_by_file(from, "annotations", image), *segment;
    if (annotation == NULL) return tool_fail(tool, "%s says nothing about this image", from->options->coco);
    int code = find_file(tool, panoptic_folder(from->options, folder), image, "_panoptic", ".png", path);
    if (code == TOOL_DONE) code = load_map(tool, path, mask->width, mask->height, &map);
    if (code == TOOL_DONE && (map->channels < 3 || map->type != TVLM_PIXEL_U8))
        code = tool_fail(tool, "%s: is no panoptic map: 8-bit RGB", path);
    const cJSON *const segments = cJSON_GetObjectItemCaseSensitive(annotation, "segments_info");
    const size_t count = (size_t)mask->width * (size_t)mask->height;
    for (size_t i = 0; code == TOOL_DONE && i < count; ++i)
        mask->pixels[i] = segment_at(map, i) == 0 ? TRUTH_UNKNOWN : TRUTH_NOTHING;
    if (code == TOOL_DONE) {
        cJSON_ArrayForEach(segment, segments) {
            const double id = number_of(segment, "id");
            if (!counts(from, number_of(segment, "category_id"))) continue;
            for (size_t i = 0; i < count; ++i)
                if ((double)segment_at(map, i) == id) mask->pixels[i] = TRUTH_OBJECT;
            take_middle(to);
        }
    }
    tvlm_image_destroy(&map);
    return code;
}

/* Returns the numbers of an array. The caller frees them. NULL: there is no memory, or an item is not a
 * number. */
static double *numbers_of(const cJSON *array, int32_t *count) {
    const cJSON *item = NULL;
    const int size = cJSON_GetArraySize(array);
    double *const values = malloc(sizeof *values * (size_t)(size + 1));
    *count = 0;
    cJSON_ArrayForEach(item, array) {
        if (values == NULL || !cJSON_IsNumber(item) || !isfinite(item->valuedouble)) {
            free(values);
            return NULL;
        }
        values[(*count)++] = item->valuedouble;
    }
    return values;
}

/* Whether points, whose x and y stand one after the other, lie on the image or not far beyond it. */
static bool are_near(const shape_mask *mask, const double *xy, int32_t count) {
    for (int32_t i = 0; i < count; ++i) {
        const double side = i % 2 == 0 ? mask->width : mask->height;
        if (!(xy[i] >= -BEYOND * side && xy[i] <= (1.0 + BEYOND) * side)) return false;
    }
    return true;
}

/* Whether a box has sides that are not negative, and lies on the image or not far beyond it. */
static bool is_box(const shape_mask *mask, double x, double y, double width, double height) {
    const double corners[] = {x, y, x + width, y + height};
    return width >= 0.0 && height >= 0.0 && are_near(mask, corners, 4);
}

static bool add_polygons(const cJSON *polygons, const shape_mask *mask) {
    const cJSON *polygon = NULL;
    cJSON_ArrayForEach(polygon, polygons) {
        int32_t count;
        double *const xy = numbers_of(polygon, &count);
        const bool good = xy != NULL && count >= 6 && count % 2 == 0 && are_near(mask, xy, count);
        if (good) shape_polygon(mask, xy, count / 2);
        free(xy);
        if (!good) return false;
    }
    return true;
}

static bool add_run_lengths(const cJSON *segmentation, const shape_mask *mask) {
    const cJSON *const runs = cJSON_GetObjectItemCaseSensitive(segmentation, "counts");
    const cJSON *const size = cJSON_GetObjectItemCaseSensitive(segmentation, "size");
    const cJSON *const height = cJSON_GetArrayItem(size, 0), *const width = cJSON_GetArrayItem(size, 1);
    int32_t count;
    if (!cJSON_IsNumber(height) || !cJSON_IsNumber(width) || height->valuedouble != mask->height ||
        width->valuedouble != mask->width)
        return false;
    if (cJSON_IsString(runs)) return shape_packed_runs(mask, runs->valuestring);
    if (!cJSON_IsArray(runs)) return false;
    double *const values = numbers_of(runs, &count);
    const bool good = values != NULL && shape_runs(mask, values, count);
    free(values);
    return good;
}

static bool add_bbox(const cJSON *bbox, const shape_mask *mask) {
    int32_t count;
    double *const box = numbers_of(bbox, &count);
    const bool good = box != NULL && count == 4 && is_box(mask, box[0], box[1], box[2], box[3]);
    if (good) shape_box(mask, box[0], box[1], box[2], box[3]);
    free(box);
    return good;
}

/* Draws an object: its outline if it has one, or else its box. */
static bool add_annotation(const cJSON *annotation, const shape_mask *mask) {
    const cJSON *const outline = cJSON_GetObjectItemCaseSensitive(annotation, "segmentation");
    if (cJSON_IsArray(outline) && cJSON_GetArraySize(outline) > 0) return add_polygons(outline, mask);
    if (cJSON_IsObject(outline)) return add_run_lengths(outline, mask);
    return add_bbox(cJSON_GetObjectItemCaseSensitive(annotation, "bbox"), mask);
}

static int mask_of_detection(struct tool *tool, const truth *from, const char *image, const drawing *to) {
    const shape_mask *const mask = &to->mask;
    const cJSON *const described = find_by_file(from, "images", image), *annotation;
    const cJSON *const all = cJSON_GetObjectItemCaseSensitive(from->json, "annotations");
    const char *const file = from->options->coco;
    int number = 0;
    if (described == NULL) return tool_fail(tool, "%s says nothing about this image", file);
    const double id = number_of(described, "id"), width = number_of(described, "width"),
                 height = number_of(described, "height");
    if ((!isnan(width) && width != mask->width) || (!isnan(height) && height != mask->height))
        return tool_fail(tool, "%s: the image has %gx%g there, but is %dx%d", file, width, height,
                         mask->width, mask->height);
    cJSON_ArrayForEach(annotation, all) {
        if (number_of(annotation, "image_id") == id && counts(from, number_of(annotation, "category_id"))) {
            if (!add_annotation(annotation, mask))
                return tool_fail(
                    tool, "%s: annotation %d has no outline or box that can be read and lies on the image",
                    file, number);
            take_middle(to);
        }
        ++number;
    }
    return TOOL_DONE;
}

/* ---- YOLO ---- */

/* Reads the numbers of a line. Returns how many there are, or -1 if there is anything else in the line, or if
 * there are too many. */
static int line_numbers(char *line, double *numbers, int capacity) {
    int count = 0;
    char *rest = NULL;
    for (char *word = strtok_r(line, " \t\r", &rest); word != NULL; word = strtok_r(NULL, " \t\r", &rest)) {
        if (count == capacity || !options_number(word, &numbers[count]) || !isfinite(numbers[count]))
            return -1;
        ++count;
    }
    return count;
}

static bool add_line(const truth *from, double *numbers, int count, const shape_mask *mask) {
    const double w = mask->width, h = mask->height;
    if (count == 0) return true; /* an empty line */
    if (count != 5 && (count < 7 || count % 2 == 0)) return false;
    if (from->classes != NULL && !in_list(from->classes, NULL, numbers[0])) return true;
    if (count == 5) {
        const double x = (numbers[1] - 0.5 * numbers[3]) * w, y = (numbers[2] - 0.5 * numbers[4]) * h;
        const bool good = is_box(mask, x, y, numbers[3] * w, numbers[4] * h);
        if (good) shape_box(mask, x, y, numbers[3] * w, numbers[4] * h);
        return good;
    }
    for (int i = 1; i < count; ++i) numbers[i] *= i % 2 == 1 ? w : h;
    if (!are_near(mask, numbers + 1, count - 1)) return false;
    shape_polygon(mask, numbers + 1, count / 2);
    return true;
}

static int mask_of_yolo(struct tool *tool, const truth *from, const char *image, const drawing *to) {
    enum { NUMBERS = 1025 };
    char path[PATH_SIZE], *rest = NULL;
    void *bytes = NULL;
    size_t size;
    int number = 0;
    int code = find_file(tool, from->options->yolo, image, "_yolo", ".txt", path);
    if (code == TOOL_DONE) code = tool_status(tool, tvlm_file_read(path, &tool->log, &bytes, &size));
    if (code != TOOL_DONE) return code;
    double *const numbers = malloc(NUMBERS * sizeof *numbers);
    if (numbers == NULL) code = tool_fail(tool, "no memory");
    for (char *line = strtok_r(bytes, "\n", &rest); code == TOOL_DONE && line != NULL;
         line = strtok_r(NULL, "\n", &rest)) {
        const int count = line_numbers(line, numbers, NUMBERS);
        if (++number > 0 && !add_line(from, numbers, count, &to->mask))
            code = tool_fail(
                tool,
                "%s: object %d is neither class cx cy w h nor class and a polygon, in shares of the image",
                path, number);
        take_middle(to);
    }
    free(numbers);
    free(bytes);
    return code;
}

/* ---- All of them ---- */

static int read_json(struct tool *tool, truth *made) {
    const char *const path = made->options->coco;
    void *bytes = NULL;
    size_t size;
    TOOL_TRY(tool_status(tool, tvlm_file_read(path, &tool->log, &bytes, &size)));
    made->json = cJSON_ParseWithLength(bytes, size);
    free(bytes);
    const cJSON *const all = cJSON_GetObjectItemCaseSensitive(made->json, "annotations");
    if (!cJSON_IsArray(all)) return tool_fail(tool, "%s: is no COCO json: it has no annotations", path);
    made->panoptic = cJSON_GetObjectItemCaseSensitive(cJSON_GetArrayItem(all, 0), "segments_info") != NULL;
    if (made->options->panoptic != NULL && !made->panoptic)
        return tool_fail(tool, "%s: is not panoptic: its annotations have no segments_info", path);
    return TOOL_DONE;
}

int truth_files(struct tool *tool, const truth_options *options, int count, char *const *images) {
    char folder[PATH_SIZE];
    const char *const maps = options->coco != NULL ? panoptic_folder(options, folder) : NULL;
    int code = TOOL_DONE;
    for (int i = 0; code == TOOL_DONE && i < count; ++i) {
        code = note_beside(tool, options->masks, images[i], "_mask", ".png");
        if (code == TOOL_DONE) code = note_beside(tool, options->yolo, images[i], "_yolo", ".txt");
        if (code == TOOL_DONE) code = note_beside(tool, maps, images[i], "_panoptic", ".png");
    }
    return code;
}

int truth_open(struct tool *tool, const truth_options *options, truth **opened) {
    const int sources = (options->masks != NULL) + (options->coco != NULL) + (options->yolo != NULL);
    if (sources != 1) return tool_usage(tool, "one of --masks, --coco and --yolo tells where objects are");
    if (options->panoptic != NULL && options->coco == NULL)
        return tool_usage(tool, "--set panoptic goes with --coco");
    if (options->classes != NULL && options->masks != NULL)
        return tool_usage(tool, "--classes and --masks exclude each other: masks have no classes");
    *opened = calloc(1, sizeof **opened);
    if (*opened == NULL) return tool_fail(tool, "no memory");
    (*opened)->options = options;
    (*opened)->classes = options->classes;
    return options->coco != NULL ? read_json(tool, *opened) : TOOL_DONE;
}

void truth_only(truth *from, const char *classes) {
    from->classes = classes;
}

static int draw(struct tool *tool, const truth *from, const char *image, const drawing *to) {
    memset(to->mask.pixels, TRUTH_NOTHING, (size_t)to->mask.width * (size_t)to->mask.height);
    if (from->options->masks != NULL) return mask_of_picture(tool, from, image, to);
    if (from->options->yolo != NULL) return mask_of_yolo(tool, from, image, to);
    return from->panoptic ? mask_of_panoptic(tool, from, image, to)
                          : mask_of_detection(tool, from, image, to);
}

int truth_mask(struct tool *tool, const truth *from, const char *image, int32_t width, int32_t height,
               uint8_t *mask) {
    return draw(tool, from, image, &(drawing){{mask, width, height, TRUTH_OBJECT}, NULL});
}

int truth_find_middles(struct tool *tool, const truth *from, const char *image, int32_t width, int32_t height,
                       truth_middles *middles) {
    uint8_t *const mask = malloc((size_t)width * (size_t)height);
    *middles = (truth_middles){.points.count = 0};
    if (mask == NULL) return tool_fail(tool, "no memory for a mask");
    const int code = draw(tool, from, image, &(drawing){{mask, width, height, TRUTH_OBJECT}, middles});
    free(mask);
    return code;
}

void truth_close(truth **opened) {
    if (*opened == NULL) return;
    cJSON_Delete((*opened)->json);
    free(*opened);
    *opened = NULL;
}

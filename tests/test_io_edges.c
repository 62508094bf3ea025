/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_io_edges.c: headers of files at the last value that is taken and at the first that is refused: those of NumPy,
 * of safetensors and of EXIF, and what the headers of pictures say of sizes and memory. What a file that is taken
 * holds is tested elsewhere.
 */
#include "io_image_helper.h"

#include "io/exif.h"
#include "io/picture.h"

/* That an array is read, or refused with these words, by both readers; returns the bytes of its data. */
static size_t read_npy(const void *bytes, size_t size, tvlm_status expected, const char *words) {
    const char *const path = io_put("a.npy", bytes, size);
    tvlm_npy *array = NULL, head = {0};
    tvlm_npy_reader *reader = NULL;
    io_expect(tvlm_npy_read(path, &io_log, &array), expected, words);
    io_expect(tvlm_npy_reader_open(path, &io_log, &head, &reader), expected, words);
    const size_t got = array != NULL ? array->size : 0;
    assert_int_equal(got, head.size);
    tvlm_npy_reader_destroy(&reader);
    tvlm_npy_destroy(&array);
    return got;
}

/* A file of version 1 whose header is this text, without data. */
static void read_text(const char *text, tvlm_status expected, const char *words) {
    char bytes[1000] = "\x93NUMPY\x01";
    const size_t length = strlen(text);
    bytes[8] = (char)(length & 255);
    bytes[9] = (char)(length >> 8);
    memcpy(bytes + 10, text, length);
    read_npy(bytes, 10 + length, expected, words);
}

#define EMPTY ", 'fortran_order': False, 'shape': (0,)}"

static void test_text_of_npy(void **state) {
    (void)state;
    /* Strings of up to 31 printable characters. */
    read_text("{'1234567890123456789012345678901'", TVLM_ERROR_FORMAT, "unknown key");
    read_text("{'12345678901234567890123456789012'", TVLM_ERROR_FORMAT,
              "a key of its header is not a string");
    read_text("{'descr': '<234567890123456789012345678901'", TVLM_ERROR_UNSUPPORTED, "'<2345678901234");
    read_text("{'descr': '<2345678901234567890123456789012'", TVLM_ERROR_FORMAT, "type is not a string");
    read_text("{' ~'", TVLM_ERROR_FORMAT, "unknown key");
    read_text("{'\x1f'", TVLM_ERROR_FORMAT, "not a string");
    read_text("{'\x7f'", TVLM_ERROR_FORMAT, "not a string");
    read_text("{'\\'", TVLM_ERROR_FORMAT, "not a string");
    /* Each sign of a type that is taken, and none; all blanks. */
    read_text("{'descr':'<f4'" EMPTY, TVLM_OK, NULL);
    read_text("{'descr':'|f4'" EMPTY, TVLM_OK, NULL);
    read_text("{'descr':'=f4'" EMPTY, TVLM_OK, NULL);
    read_text("{'descr':'f4'" EMPTY, TVLM_ERROR_UNSUPPORTED, "'f4'");
    read_text("{'descr':'<'" EMPTY, TVLM_ERROR_UNSUPPORTED, "'<'");
    read_text("\t\r\n {\t\r\n 'descr'\t\r\n :\t\r\n '<f4'\t\r\n " EMPTY, TVLM_OK, NULL);
    /* Where a header ends is known to the byte, and each key is needed. */
    read_text("{'descr':'<f4', 'fortran_order': False", TVLM_ERROR_FORMAT, "its header does not end");
    read_text("{'descr':'<f4', 'fortran_order': Fals", TVLM_ERROR_FORMAT, "neither True nor False");
    read_npy("\x93NUMPY\x01\0\x09\0{'descr':[", 20, TVLM_ERROR_FORMAT, "type is not a string");
    read_npy("\x93NUMPY\x01\0\x0C\0{'descr':'<f4'", 24, TVLM_ERROR_FORMAT, "type is not a string");
    read_npy("\x93NUMPY\x01\0\x0B\0{'shape':(12)", 22, TVLM_ERROR_FORMAT, "its shape does not end");
    read_text("{1: 2}", TVLM_ERROR_FORMAT, "a key of its header is not a string");
    read_text("{'fortran_order': False, 'shape': (0,)}", TVLM_ERROR_FORMAT, "lacks one of");
    read_text("{'descr':'<f4', 'shape': (0,)}", TVLM_ERROR_FORMAT, "lacks one of");
    read_text("{'descr':'<f4', 'fortran_order': False}", TVLM_ERROR_FORMAT, "lacks one of");
    /* As many sides as there are, and the largest number. */
    read_text("{'descr':'<f4', 'fortran_order':False, 'shape': (0,1,2,3,4,5,6,7)}", TVLM_OK, NULL);
    read_text("{'descr':'<f4', 'fortran_order':False, 'shape': (0,1,2,3,4,5,6,7,)}", TVLM_OK, NULL);
    read_text("{'descr':'<f4', 'fortran_order':False, 'shape': (0, 9223372036854775807)}", TVLM_OK, NULL);
    read_text("{'descr':'<f4', 'fortran_order':False, 'shape': (0, 9223372036854775808)}", TVLM_ERROR_FORMAT,
              "not a number");
    read_text("{'descr':'<f4', 'fortran_order':False, 'shape': (0, 1/, 2)}", TVLM_ERROR_FORMAT,
              "does not end");
    read_text("{'descr':'<f4', 'fortran_order':False, 'shape': (0, 1:, 2)}", TVLM_ERROR_FORMAT,
              "does not end");
}

/* A header of version 2 that blanks make so long, and one byte of data. */
static void read_long(size_t length, tvlm_status expected, const char *words) {
    static const char text[] = "{'descr': '|u1', 'fortran_order': False, 'shape': (1,)}";
    const size_t size = 12 + length + 1;
    char *const bytes = malloc(size);
    assert_non_null(bytes);
    memset(bytes, ' ', size);
    memcpy(bytes, "\x93NUMPY\x02", 8);
    for (int i = 0; i < 4; i++) bytes[8 + i] = (char)(length >> 8 * i & 255);
    memcpy(bytes + 12, text, sizeof text - 1);
    assert_int_equal(read_npy(bytes, size, expected, words), expected == TVLM_OK);
    free(bytes);
}

static void test_sizes_of_npy(void **state) {
    (void)state;
    read_npy("\x93NUMPY\x01", 7, TVLM_ERROR_FORMAT, "magic");
    read_npy("\x93NUMPY\x01", 8, TVLM_ERROR_FORMAT, "ends within its header");
    read_npy("\x93NUMPY\x01\0\0", 9, TVLM_ERROR_FORMAT, "ends within its header");
    read_npy("\x93NUMPY\x01\0\0", 10, TVLM_ERROR_FORMAT, "not a dictionary");
    read_npy("\x93NUMPY\x02\0\0\0\0", 11, TVLM_ERROR_FORMAT, "ends within its header");
    read_npy("\x93NUMPY\x02\0\0\0\0", 12, TVLM_ERROR_FORMAT, "not a dictionary");
    read_npy("\x93NUMPY\x03\0\0\0\0", 12, TVLM_ERROR_FORMAT, "not a dictionary");
    read_npy("\x93NUMPX\x02\0\0\0\0", 12, TVLM_ERROR_FORMAT, "magic");
    read_npy("\x93NUMPY\0\0\0\0\0", 12, TVLM_ERROR_FORMAT, "version");
    read_npy("\x93NUMPY\x01\x01\0\0\0", 12, TVLM_ERROR_FORMAT, "version");
    read_long((size_t)1 << 20, TVLM_OK, NULL);
    read_long(((size_t)1 << 20) + 1, TVLM_ERROR_FORMAT, "more than 1 MiB");
}

/* Data begin at a multiple of 64. The text of this shape fills 128 bytes to the last one, and with a digit more it takes 192. */
static void test_padding_of_npy(void **state) {
    int64_t shape[4] = {0, 1000000000000000000, 1000000000000000000, 10000000000000000};
    struct stat info;
    (void)state;
    for (int more = 0; more < 2; more++, shape[3] *= 10) {
        char bytes[192];
        const tvlm_element type = more ? TVLM_ELEMENT_I16 : TVLM_ELEMENT_U8;
        io_expect(tvlm_npy_write(io_path("a.npy"), type, 4, shape, NULL, &io_log), TVLM_OK, NULL);
        assert_int_equal(stat(io_path("a.npy"), &info), 0);
        assert_int_equal(info.st_size, more ? 192 : 128);
        FILE *const file = fopen(io_path("a.npy"), "rb");
        assert_non_null(file);
        assert_int_equal(fread(bytes, 1, sizeof bytes, file), info.st_size);
        fclose(file);
        assert_memory_equal(bytes + 10, more ? "{'descr': '<i2'" : "{'descr': '|u1'",
                            15); /* as NumPy writes them */
        assert_int_equal(bytes[info.st_size - 1], '\n');
        assert_int_equal((uint8_t)bytes[8] + 256 * (uint8_t)bytes[9] + 10, info.st_size);
        tvlm_npy *array = NULL;
        io_expect(tvlm_npy_read(io_path("a.npy"), &io_log, &array), TVLM_OK, NULL);
        assert_memory_equal(array->shape, shape, sizeof shape);
        tvlm_npy_destroy(&array);
    }
}

/* ---- Safetensors ---- */

static tvlm_safetensors *read_tensors(const char *header, const void *data, size_t size, tvlm_status expected,
                                      const char *words) {
    char bytes[2000] = {0};
    const size_t length = strlen(header);
    tvlm_safetensors *file = NULL;
    bytes[0] = (char)(length & 255);
    bytes[1] = (char)(length >> 8);
    memcpy(bytes + 8, header, length);
    memcpy(bytes + 8 + length, data, size);
    io_expect(tvlm_safetensors_read(io_put("a", bytes, 8 + length + size), &io_log, &file), expected, words);
    return file;
}

#define TENSOR(name, dtype, shape, offsets)                                                                  \
    "\"" name "\":{\"dtype\":\"" dtype "\",\"shape\":[" shape "],\"data_offsets\":[" offsets "]}"

static void take(const char *header, int count) {
    tvlm_safetensors *file = read_tensors(header, "1234", 4, TVLM_OK, NULL);
    assert_int_equal(file->tensor_count, count);
    tvlm_safetensors_destroy(&file);
}

static void test_headers_of_safetensors(void **state) {
    tvlm_safetensors *file = NULL;
    (void)state;
    /* 100 MB is the longest header: here it is only said to be so long. */
    io_expect(tvlm_safetensors_read(io_put("a", "\0\0\0\0\0\0\0\0", 8), &io_log, &file), TVLM_ERROR_FORMAT,
              "not a JSON object");
    io_expect(tvlm_safetensors_read(io_put("a", "\x00\xE1\xF5\x05\0\0\0\0{}", 10), &io_log, &file),
              TVLM_ERROR_FORMAT, "ends within its header");
    io_expect(tvlm_safetensors_read(io_put("a", "\x01\xE1\xF5\x05\0\0\0\0{}", 10), &io_log, &file),
              TVLM_ERROR_FORMAT, "more than 100 MB");
    io_expect(tvlm_safetensors_read(io_put("a", "\2\0\0\0\1\0\0\0{}", 10), &io_log, &file), TVLM_ERROR_FORMAT,
              "more than 100 MB");
    /* The last whole number that a double tells from the next. */
    read_tensors("{" TENSOR("a", "U8", "9007199254740991", "0,4") "}", "1234", 4, TVLM_ERROR_FORMAT,
                 "size that");
    read_tensors("{" TENSOR("a", "U8", "9007199254740992", "0,4") "}", "1234", 4, TVLM_ERROR_FORMAT,
                 "shape holds");
    /* A zero behind a backslash that is escaped itself, and what is nearly one. */
    read_tensors("{" TENSOR("a\\\\\\u0000", "U8", "4", "0,4") "}", "1234", 4, TVLM_ERROR_FORMAT,
                 "has a zero");
    take("{" TENSOR("\\u0009\\u0001", "U8", "4", "0,4") "}", 1);
    take("{" TENSOR("a", "U8", "4,1,1,1,1,1,1,1", "0,4") "}", 1);
    /* What is empty comes before what begins at the same place, whatever the order of names. */
    take("{" TENSOR("a", "U8", "4", "0,4") "," TENSOR("b", "U8", "0", "0,0") "," TENSOR("c", "U8", "0",
                                                                                        "4,4") "}",
         3);
    take("{" TENSOR("b", "U8", "4", "0,4") "," TENSOR("a", "U8", "0", "0,0") "," TENSOR("0", "U8", "0",
                                                                                        "0,0") "}",
         3);
}

/* Whatever lies at an odd place is copied to where it may be read, and none of the copies over another. */
static void test_copies_of_tensors(void **state) {
    static const char header[] =
        "{" TENSOR("a", "U8", "1", "0,1") "," TENSOR("b", "I16", "1", "1,3") "," TENSOR(
            "c", "F64", "1",
            "3,11") "," TENSOR("d", "I16", "5",
                               "11,21") "," TENSOR("e", "F64", "9",
                                                   "21,93") "," TENSOR("f", "F32", "1",
                                                                       "93,97") "," TENSOR("g", "I64", "1",
                                                                                           "97,105") "}";
    static const size_t begins[] = {0, 1, 3, 11, 21, 93, 97, 105};
    uint8_t data[105];
    (void)state;
    for (size_t i = 0; i < sizeof data; i++) data[i] = (uint8_t)(i * 7 + 1);
    tvlm_safetensors *file = read_tensors(header, data, sizeof data, TVLM_OK, NULL);
    assert_int_equal(file->tensor_count, 7);
    for (int i = 0; i < 7; i++) {
        const tvlm_tensor *const tensor = tvlm_safetensors_find(file, (const char[]){(char)('a' + i), 0});
        assert_non_null(tensor);
        assert_int_equal((uintptr_t)tensor->data % tvlm_element_size(tensor->type), 0);
        assert_int_equal(tensor->size, begins[i + 1] - begins[i]);
        assert_memory_equal(tensor->data, data + begins[i], tensor->size);
    }
    tvlm_safetensors_destroy(&file);
}

/* ---- EXIF ---- */

/* The orientation of a directory at `place` that is its one entry, of this type, count and value. */
static int orientation_of(size_t place, uint8_t type, uint8_t count, uint8_t value, size_t size) {
    uint8_t bytes[300] = {'I', 'I', 42, 0, (uint8_t)(place & 255), (uint8_t)(place >> 8), 0, 0};
    const uint8_t entry[14] = {1, 0, 0x12, 1, type, 0, count, 0, 0, 0, value};
    memcpy(bytes + place, entry, sizeof entry);
    return tvlm_io_exif_orientation(bytes, size);
}

static void test_exif(void **state) {
    uint8_t bytes[22] = {'M', 'M', 0, 42, 0, 0, 0, 8, 0, 1, 1, 0x12, 0, 3, 0, 0, 0, 1, 0, 6, 0, 0};
    (void)state;
    assert_int_equal(orientation_of(8, 3, 1, 8, 8 + 14), 8); /* nothing follows its one entry */
    assert_int_equal(orientation_of(8, 3, 1, 8, 8 + 13), 1);
    assert_int_equal(orientation_of(256 + 7, 3, 1, 5, 256 + 7 + 14), 5);
    assert_int_equal(orientation_of(8, 3, 1, 9, 22), 1);
    assert_int_equal(orientation_of(8, 3, 2, 6, 22), 1);
    assert_int_equal(orientation_of(8, 4, 1, 6, 22), 1);
    assert_int_equal(orientation_of(8, 2, 1, 6, 22), 1);
    assert_int_equal(tvlm_io_exif_orientation(bytes, sizeof bytes), 6);
    assert_int_equal(tvlm_io_exif_orientation(bytes, 7), 1);
    bytes[1] = 'I';
    assert_int_equal(tvlm_io_exif_orientation(bytes, sizeof bytes), 1);
    memcpy(bytes, "NN", 2);
    assert_int_equal(tvlm_io_exif_orientation(bytes, sizeof bytes), 1);
    memcpy(bytes, "MM\0\x2b", 4);
    assert_int_equal(tvlm_io_exif_orientation(bytes, sizeof bytes), 1);
}

/* ---- What the headers of pictures say ---- */

/* The memory that does not grow with the pixels: 256 KiB, and 256 bytes for each column. */
static uint64_t fixed(uint64_t width) {
    return 262144 + 256 * width;
}

typedef void measure(const tvlm_io_source *source, tvlm_io_extent *extent);

/* That a header says this size and this memory; a width of 0: that it says nothing. */
static void expect_extent(measure *of, const tvlm_io_source *source, uint32_t width, uint32_t height,
                          uint64_t memory) {
    tvlm_io_extent extent = {0};
    of(source, &extent);
    assert_int_equal(extent.width, width);
    assert_int_equal(extent.height, height);
    assert_int_equal(extent.memory, memory);
}

static void test_extents(void **state) {
    const tvlm_io_extent large = {.width = UINT32_MAX, .height = UINT32_MAX},
                         some = {.width = 1 << 29, .height = 1 << 29};
    (void)state;
    assert_int_equal(tvlm_io_extent_bytes(&(tvlm_io_extent){.width = 3, .height = 5}, 7), 105);
    assert_int_equal(tvlm_io_extent_bytes(&large, 1), ((uint64_t)1 << 60) - 1);
    assert_int_equal(tvlm_io_extent_bytes(&some, 3), (uint64_t)3 << 58);
    assert_int_equal(tvlm_io_extent_bytes(&some, 4), ((uint64_t)1 << 60) - 1);
}

static void test_fractions_of_jpeg(void **state) {
    (void)state;
    assert_int_equal(tvlm_io_jpeg_denominator(80, 40, 0), 1);
    assert_int_equal(tvlm_io_jpeg_denominator(80, 40, 10), 8);
    assert_int_equal(tvlm_io_jpeg_denominator(40, 80, 10), 8);
    assert_int_equal(tvlm_io_jpeg_denominator(80, 80, 11), 4);
    assert_int_equal(tvlm_io_jpeg_denominator(79, 40, 10), 4);
    assert_int_equal(tvlm_io_jpeg_denominator(80, 40, 20), 4);
    assert_int_equal(tvlm_io_jpeg_denominator(80, 40, 40), 2);
    assert_int_equal(tvlm_io_jpeg_denominator(80, 40, 41), 1);
    assert_int_equal(tvlm_io_jpeg_denominator(80, 40, 1), 8);
    assert_int_equal(tvlm_io_jpeg_denominator(80, 40, 81), 1);
}

/* The start of a JPEG: what may stand before a frame (`head`), the frame, and a scan of `scanned` components. The first
 * component has these factors, the others 1 x 1. Returns its size. */
static size_t make_jpeg(uint8_t *bytes, const char *head, size_t head_size, int marker, int width, int height,
                        int components, int factors, int scanned) {
    size_t size = head_size;
    memcpy(bytes, head, head_size);
    const uint8_t frame[] = {0xFF,
                             (uint8_t)marker,
                             0,
                             (uint8_t)(8 + 3 * components),
                             8,
                             (uint8_t)(height >> 8),
                             (uint8_t)height,
                             (uint8_t)(width >> 8),
                             (uint8_t)width,
                             (uint8_t)components};
    memcpy(bytes + size, frame, sizeof frame);
    size += sizeof frame;
    for (int i = 0; i < components; i++, size += 3)
        memcpy(bytes + size, (const uint8_t[]){(uint8_t)(i + 1), (uint8_t)(i == 0 ? factors : 0x11), 0}, 3);
    memcpy(bytes + size, (const uint8_t[]){0xFF, 0xDA, 0, 3, (uint8_t)scanned}, 5);
    return size + 5;
}

/* What a JPEG takes beside its pixels: its coefficients (libjpeg), or its planes, perhaps its coefficients, and a copy
 * of the file (stb_image). */
static uint64_t kept_of_jpeg(uint64_t blocks, bool progressive, size_t size) {
    if (decodes_by("JPEG", "libjpeg")) return progressive ? 128 * blocks : 0;
    return (progressive ? 192 : 64) * blocks + size;
}

static void test_size_of_jpeg(void **state) {
    static const struct {
        int marker, width, height, components, factors, scanned;
        uint64_t blocks;
        bool progressive;
    } rows[] = {{0xC0, 17, 9, 3, 0x22, 3, 12, false},  {0xC0, 16, 16, 3, 0x22, 3, 6, false},
                {0xC0, 16, 17, 3, 0x22, 3, 12, false}, {0xC0, 17, 9, 3, 0x21, 3, 16, false},
                {0xC0, 17, 9, 3, 0x12, 3, 12, false},  {0xC1, 257, 300, 1, 0x11, 1, 33 * 38, false},
                {0xC2, 17, 9, 3, 0x22, 3, 12, true},   {0xC0, 17, 9, 3, 0x22, 2, 12, true},
                {0xC0, 8, 8, 2, 0x11, 2, 2, false},    {0xC2, 8, 8, 4, 0x11, 4, 4, true}};
    uint8_t bytes[100];
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const int width = rows[i].width, height = rows[i].height;
        const size_t size = make_jpeg(bytes, "\xFF\xD8", 2, rows[i].marker, width, height, rows[i].components,
                                      rows[i].factors, rows[i].scanned);
        const uint64_t samples = (uint64_t)(rows[i].components < 3 ? rows[i].components : 3);
        const uint64_t pixels = samples * (uint64_t)width * (uint64_t)height;
        const uint64_t kept =
            kept_of_jpeg(rows[i].blocks, rows[i].progressive, size) + fixed((uint64_t)width);
        tvlm_io_source source = {.bytes = bytes, .size = size};
        expect_extent(tvlm_io_measure_jpeg, &source, (uint32_t)width, (uint32_t)height, pixels + kept);
        source.size = size - 1; /* its scan is cut off */
        expect_extent(tvlm_io_measure_jpeg, &source, 0, 0, 0);
        if (!decodes_by("JPEG", "libjpeg")) continue;
        source = (tvlm_io_source){.bytes = bytes, .size = size, .max_side = 1}; /* an eighth, rounded up */
        expect_extent(tvlm_io_measure_jpeg, &source, (uint32_t)width, (uint32_t)height,
                      samples * (uint64_t)((width + 7) / 8) * (uint64_t)((height + 7) / 8) + kept);
    }
}

/* Frames that are none, and what may stand before one. */
static void test_segments_of_jpeg(void **state) {
    static const char alone[] =
        "\xFF\xD8\xFF\xD0\xFF\xD7\xFF\x01\xFF\xD8\xFF\x00.\xFF\xFF\xFE\0\2\xFF\xE0\0\3.",
                      exif[] = "\xFF\xD8\xFF\xE1\0\x1E"
                               "Exif\0\0II*\0\x08\0\0\0\1\0\x12\1\3\0\1\0\0\0\6\0\0\0",
                      first[] = "\xFF\xD8\xFF\xE1\0\x1E"
                                "Exif\0\0II*\0\x08\0\0\0\1\0\x12\1\3\0\1\0\0\0\1\0\0\0"
                                "\xFF\xE1\0\x1E"
                                "Exif\0\0II*\0\x08\0\0\0\1\0\x12\1\3\0\1\0\0\0\6\0\0\0";
    uint8_t bytes[200];
    (void)state;
    const uint64_t pixels = 3 * 9 * 7;
    size_t size = make_jpeg(bytes, alone, sizeof alone - 1, 0xC0, 9, 7, 3, 0x11, 3);
    tvlm_io_source source = {.bytes = bytes, .size = size};
    expect_extent(tvlm_io_measure_jpeg, &source, 9, 7, pixels + kept_of_jpeg(6, false, size) + fixed(9));
    source.size = size = make_jpeg(bytes, exif, sizeof exif - 1, 0xC0, 9, 7, 3, 0x11, 3);
    expect_extent(tvlm_io_measure_jpeg, &source, 9, 7, 2 * pixels + kept_of_jpeg(6, false, size) + fixed(9));
    source.size = size = make_jpeg(bytes, first, sizeof first - 1, 0xC0, 9, 7, 3, 0x11, 3);
    expect_extent(tvlm_io_measure_jpeg, &source, 9, 7, pixels + kept_of_jpeg(6, false, size) + fixed(9));
    for (int marker = 0xC3; marker <= 0xCF; marker++) {
        source.size = make_jpeg(bytes, "\xFF\xD8", 2, marker, 9, 7, 3, 0x11, 3);
        expect_extent(tvlm_io_measure_jpeg, &source, 0, 0, 0);
    }
    for (int components = 0; components <= 5; components += 5) {
        source.size = make_jpeg(bytes, "\xFF\xD8", 2, 0xC0, 9, 7, components, 0x11, 1);
        expect_extent(tvlm_io_measure_jpeg, &source, 0, 0, 0);
    }
    source.size = make_jpeg(bytes, "\xFF\xD8", 2, 0xC0, 9, 0, 1, 0x11, 1);
    expect_extent(tvlm_io_measure_jpeg, &source, 0, 0, 0);
    source.size = make_jpeg(bytes, "\xFF\xD8", 2, 0xC0, 0, 9, 1, 0x11, 1);
    expect_extent(tvlm_io_measure_jpeg, &source, 0, 0, 0);
    source.size = make_jpeg(bytes, "\xFF\xD8", 2, 0xC0, 9, 7, 1, 0x11, 1);
    bytes[5] = 10; /* a byte less than its one component needs */
    memmove(bytes + 14, bytes + 15, 5);
    --source.size;
    expect_extent(tvlm_io_measure_jpeg, &source, 0, 0, 0);
}

/* A PNG of 3 x 5 pixels with a chunk of these letters and content before its pixels. */
static size_t make_png(uint8_t *bytes, uint8_t depth, uint8_t colour, const char *letters,
                       const void *content, size_t size) {
    static const uint8_t head[] = "\x89PNG\r\n\x1A\n\0\0\0\rIHDR\0\0\0\3\0\0\0\5\0\0\0\0\0\0\0\0",
                         tail[] = "\0\0\0\1IDAT.\0\0\0\0\0\0\0\0IEND\0\0\0";
    memcpy(bytes, head, 33);
    bytes[24] = depth;
    bytes[25] = colour;
    memset(bytes + 33, 0, 12 + size);
    bytes[36] = (uint8_t)size;
    memcpy(bytes + 37, letters, 4);
    if (size > 0) memcpy(bytes + 41, content, size);
    memcpy(bytes + 45 + size, tail, sizeof tail);
    return 45 + size + sizeof tail;
}

/* What stb_image takes beside the pixels: the compressed data twice over, and what they inflate to. */
static uint64_t kept_of_png(size_t size) {
    return fixed(3) + (decodes_by("PNG", "libpng") ? 0 : 2 * size + 4096 + 15 * 24);
}

static void expect_png(const uint8_t *bytes, size_t size, uint64_t pixel) {
    expect_extent(tvlm_io_measure_png, &(tvlm_io_source){.bytes = bytes, .size = size}, 3, 5,
                  15 * pixel + kept_of_png(size));
}

static void test_size_of_png(void **state) {
    static const int channels[8] = {1, 0, 3, 3, 2, 0, 4, 0};
    static const char turned[] = "II*\0\x08\0\0\0\1\0\x12\1\3\0\1\0\0\0\2\0\0",
                      upright[] = "II*\0\x08\0\0\0\1\0\x12\1\3\0\1\0\0\0\1\0\0";
    uint8_t bytes[200];
    (void)state;
    for (uint8_t colour = 0; colour < 8; colour++)
        for (uint8_t depth = 8; depth <= 16; depth += 8) {
            size_t size = make_png(bytes, depth, colour, "tEXt", "some", 4);
            const uint64_t pixel = (uint64_t)(channels[colour] * depth / 8),
                           more = colour < 4 ? depth / 8 : 0;
            tvlm_io_source source = {.bytes = bytes, .size = size};
            if (pixel == 0) {
                expect_extent(tvlm_io_measure_png, &source, 0, 0, 0);
                continue;
            }
            expect_png(bytes, size, pixel);
            /* Where its end is not there, it may have to be turned; where no pixels are, some may be transparent, too. */
            expect_png(bytes, size - 12, 2 * pixel);
            expect_png(bytes, 33 + 16, 2 * (pixel + more));
            expect_png(bytes, 33, 2 * (pixel + more));
            source.size = 32;
            expect_extent(tvlm_io_measure_png, &source, 0, 0, 0);
            size = make_png(bytes, depth, colour, "tRNS", "", 0);
            expect_png(bytes, size, pixel + more);
            size = make_png(bytes, depth, colour, "eXIf", turned, sizeof turned);
            expect_png(bytes, size, 2 * pixel);
            size = make_png(bytes, depth, colour, "eXIf", upright, sizeof upright);
            expect_png(bytes, size, pixel);
        }
}

static void test_size_of_bmp(void **state) {
    uint8_t bytes[26] = {[14] = 12, [18] = 3, [20] = 5};
    tvlm_io_source source = {.bytes = bytes, .size = 26};
    (void)state;
    expect_extent(tvlm_io_measure_bmp, &source, 3, 5, 60 + fixed(3));
    bytes[14] = 40, bytes[19] = 1, bytes[20] = 0, bytes[22] = 5;
    expect_extent(tvlm_io_measure_bmp, &source, 259, 5, 4 * 259 * 5 + fixed(259));
    memset(bytes + 22, 0xFF, 4); /* -1: one row, from the top */
    expect_extent(tvlm_io_measure_bmp, &source, 259, 1, 4 * 259 + fixed(259));
    bytes[25] = 0x7F;
    expect_extent(tvlm_io_measure_bmp, &source, 259, INT32_MAX, 4 * (uint64_t)259 * INT32_MAX + fixed(259));
    source.size = 25;
    expect_extent(tvlm_io_measure_bmp, &source, 0, 0, 0);
}

static void test_size_of_webp(void **state) {
    uint8_t bytes[30] = "RIFF....WEBPVP8X";
    tvlm_io_source source = {.bytes = bytes, .size = 30};
    (void)state;
    memcpy(bytes + 24, "\x02\x01\0\x04\0\1", 6); /* one less than 0x103 x 0x10005 */
    expect_extent(tvlm_io_measure_webp, &source, 0x103, 0x10005,
                  13 * (uint64_t)0x103 * 0x10005 + fixed(0x103));
    memcpy(bytes + 12, "VP8L", 4);
    memcpy(bytes + 21, "\xFF\xFF\xFF\xFF", 4); /* 14 bits each, all of them set, and four more */
    expect_extent(tvlm_io_measure_webp, &source, 16384, 16384, 13 * (uint64_t)16384 * 16384 + fixed(16384));
    memcpy(bytes + 21, "\x02\x00\x01\0", 4);
    expect_extent(tvlm_io_measure_webp, &source, 3, 5, 13 * 15 + fixed(3));
    memcpy(bytes + 12, "VP8 ", 4);
    memcpy(bytes + 26, "\x03\xC1\x05\x42", 4); /* 14 bits each, and two of a scale */
    expect_extent(tvlm_io_measure_webp, &source, 0x103, 0x205, 13 * 0x103 * 0x205 + fixed(0x103));
    source.size = 29;
    expect_extent(tvlm_io_measure_webp, &source, 0, 0, 0);
    source.size = 30;
    memcpy(bytes + 12, "VP9 ", 4);
    expect_extent(tvlm_io_measure_webp, &source, 0, 0, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        io_test(test_text_of_npy),       io_test(test_sizes_of_npy),
        io_test(test_padding_of_npy),    io_test(test_headers_of_safetensors),
        io_test(test_copies_of_tensors), io_test(test_exif),
        io_test(test_extents),           io_test(test_fractions_of_jpeg),
        io_test(test_size_of_jpeg),      io_test(test_segments_of_jpeg),
        io_test(test_size_of_png),       io_test(test_size_of_bmp),
        io_test(test_size_of_webp),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * .safetensors: what is written is read, and what the format's own library refuses is refused.
 */
#include "io/order.h"
#include "io_helper.h"

static const char *put_file(const char *header, const void *data, size_t size) {
    uint8_t bytes[2000] = {0};
    size_t length = strlen(header);
    bytes[0] = (uint8_t)(length & 255);
    bytes[1] = (uint8_t)(length >> 8);
    snprintf((char *)bytes + 8, sizeof bytes - 8, "%s", header);
    memcpy(bytes + 8 + length, data, size);
    return io_put("a.safetensors", bytes, 8 + length + size);
}

static tvlm_safetensors *read_file(const char *path) {
    tvlm_safetensors *file = NULL;
    io_expect(tvlm_safetensors_read(path, &io_log, &file), TVLM_OK, NULL);
    assert_non_null(file);
    for (int32_t i = 0; i < file->tensor_count; i++)
        assert_int_equal((uintptr_t)file->tensors[i].data % tvlm_element_size(file->tensors[i].type), 0);
    return file;
}

static void refuse(const char *path, tvlm_status expected, const char *words) {
    tvlm_safetensors *file = NULL;
    tvlm_status status = tvlm_safetensors_read(path, &io_log, &file);
    assert_non_null(strstr(io_logged, "a.safetensors"));
    io_expect(status, expected, words);
    assert_null(file);
}

static void assert_tensor(const tvlm_safetensors *file, const tvlm_tensor *expected) {
    const tvlm_tensor *tensor = tvlm_safetensors_find(file, expected->name);
    size_t elements = 1;
    assert_non_null(tensor);
    assert_int_equal(tensor->type, expected->type);
    assert_int_equal(tensor->rank, expected->rank);
    for (int i = 0; i < expected->rank; i++) {
        assert_int_equal(tensor->shape[i], expected->shape[i]);
        elements *= (size_t)expected->shape[i];
    }
    assert_int_equal(tensor->size, elements * tvlm_element_size(expected->type));
    if (tensor->size > 0) assert_memory_equal(tensor->data, expected->data, tensor->size);
}

static void reads_what_was_written(void **state) {
    const float floats[] = {1, -2, 3.5f, 0, 5, 6};
    const int64_t longs[] = {INT64_MIN, 7};
    const uint8_t bytes[] = {1, 2, 3};
    const tvlm_tensor tensors[] = {
        {.name = "bytes", .type = TVLM_ELEMENT_U8, .rank = 1, .shape = {3}, .data = bytes},
        {.name = "floats", .type = TVLM_ELEMENT_F32, .rank = 2, .shape = {2, 3}, .data = floats},
        {.name = "half \"quoted\" \xC3\xA9\n",
         .type = TVLM_ELEMENT_F16,
         .rank = 1,
         .shape = {5},
         .data = floats},
        {.name = "brain", .type = TVLM_ELEMENT_BF16, .rank = 1, .shape = {1}, .data = floats},
        {.name = "nothing", .type = TVLM_ELEMENT_F32, .rank = 2, .shape = {0, 7}, .data = NULL},
        {.name = "scalar", .type = TVLM_ELEMENT_I32, .rank = 0, .data = floats},
        {.name = "longs", .type = TVLM_ELEMENT_I64, .rank = 1, .shape = {2}, .data = longs},
    };
    const tvlm_metadata metadata[] = {{"format", "pt"}, {"empty", ""}, {"\xC3\xBC", "a \"b\"\n"}};
    (void)state;
    io_expect(tvlm_safetensors_write(io_path("a"), tensors, 7, metadata, 3, &io_log), TVLM_OK, NULL);
    tvlm_safetensors *file = read_file(io_path("a"));
    assert_int_equal(file->tensor_count, 7);
    for (int i = 0; i < 7; i++) assert_tensor(file, &tensors[i]);
    assert_int_equal(file->metadata_count, 3);
    for (int i = 0; i < 3; i++)
        assert_string_equal(tvlm_safetensors_metadata(file, metadata[i].key), metadata[i].value);
    assert_null(tvlm_safetensors_find(file, "none"));
    assert_null(tvlm_safetensors_find(file, NULL));
    assert_null(tvlm_safetensors_find(NULL, "floats"));
    assert_null(tvlm_safetensors_metadata(file, "none"));
    tvlm_safetensors_destroy(&file);
    assert_null(file);
    tvlm_safetensors_destroy(&file);
    tvlm_safetensors_destroy(NULL);
}

static void writes_an_empty_file(void **state) {
    (void)state;
    io_expect(tvlm_safetensors_write(io_path("a"), NULL, 0, NULL, 0, &io_log), TVLM_OK, NULL);
    io_assert_content(io_path("a"), "\x08\0\0\0\0\0\0\0{}      ", 16);
    tvlm_safetensors *file = read_file(io_path("a"));
    assert_int_equal(file->tensor_count, 0);
    assert_int_equal(file->metadata_count, 0);
    tvlm_safetensors_destroy(&file);
}

static void aligns_what_the_file_does_not(void **state) {
    static const char header[] = "{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]},"
                                 "\"b\":{\"dtype\":\"F64\",\"shape\":[2],\"data_offsets\":[1,17]},"
                                 "\"c\":{\"dtype\":\"I16\",\"shape\":[1],\"data_offsets\":[17,19]}}";
    uint8_t data[19];
    (void)state;
    for (size_t i = 0; i < sizeof data; i++) data[i] = (uint8_t)(i * 3);
    tvlm_safetensors *file = read_file(put_file(header, data, sizeof data));
    tvlm_io_from_file(data + 1, 16, 8);
    tvlm_io_from_file(data + 17, 2, 2);
    assert_memory_equal(tvlm_safetensors_find(file, "a")->data, data, 1);
    assert_memory_equal(tvlm_safetensors_find(file, "b")->data, data + 1, 16);
    assert_memory_equal(tvlm_safetensors_find(file, "c")->data, data + 17, 2);
    tvlm_safetensors_destroy(&file);
}

#define TENSOR(name, dtype, shape, offsets)                                                                  \
    "\"" name "\":{\"dtype\":\"" dtype "\",\"shape\":[" shape "],\"data_offsets\":[" offsets "]}"

static void refuses_bad_headers(void **state) {
    static const struct {
        const char *header;
        tvlm_status status;
        const char *words;
    } bad[] = {
        {"", TVLM_ERROR_FORMAT, "not a JSON object"},
        {"[]", TVLM_ERROR_FORMAT, "not a JSON object"},
        {"{", TVLM_ERROR_FORMAT, "not a JSON object"},
        {"{} x", TVLM_ERROR_FORMAT, "not a JSON object"},
        {"{\"a\":1}", TVLM_ERROR_FORMAT, "not an object"},
        {"{\"a\":{}}", TVLM_ERROR_FORMAT, "dtype"},
        {"{" TENSOR("a", "F8_E4M3", "4", "0,4") "}", TVLM_ERROR_UNSUPPORTED, "F8_E4M3"},
        {"{\"a\":{\"dtype\":\"U8\",\"data_offsets\":[0,4]}}", TVLM_ERROR_FORMAT, "shape"},
        {"{\"a\":{\"dtype\":\"U8\",\"shape\":[4]}}", TVLM_ERROR_FORMAT, "data_offsets"},
        {"{" TENSOR("a", "U8", "1,1,1,1,1,1,1,1,4", "0,4") "}", TVLM_ERROR_UNSUPPORTED, "dimensions"},
        {"{" TENSOR("a", "U8", "-4", "0,4") "}", TVLM_ERROR_FORMAT, "shape holds"},
        {"{" TENSOR("a", "U8", "4.5", "0,4") "}", TVLM_ERROR_FORMAT, "shape holds"},
        {"{" TENSOR("a", "U8", "\"4\"", "0,4") "}", TVLM_ERROR_FORMAT, "shape holds"},
        {"{" TENSOR("a", "U8", "1e300", "0,4") "}", TVLM_ERROR_FORMAT, "shape holds"},
        {"{" TENSOR("a", "U8", "4", "0") "}", TVLM_ERROR_FORMAT, "two integers"},
        {"{" TENSOR("a", "U8", "4", "0,4,4") "}", TVLM_ERROR_FORMAT, "two integers"},
        {"{" TENSOR("a", "U8", "4", "-1,3") "}", TVLM_ERROR_FORMAT, "two integers"},
        {"{" TENSOR("a", "U8", "4", "4,0") "}", TVLM_ERROR_FORMAT, "within the file"},
        {"{" TENSOR("a", "U8", "5", "0,5") "}", TVLM_ERROR_FORMAT, "within the file"},
        {"{" TENSOR("a", "U8", "4", "4,8") "}", TVLM_ERROR_FORMAT, "within the file"},
        {"{" TENSOR("a", "U8", "3", "0,4") "}", TVLM_ERROR_FORMAT, "size that its shape needs"},
        {"{" TENSOR("a", "F32", "2", "0,4") "}", TVLM_ERROR_FORMAT, "size that its shape needs"},
        {"{" TENSOR("a", "U8", "9007199254740991,9007199254740991", "0,4") "}", TVLM_ERROR_FORMAT,
         "size that"},
        {"{" TENSOR("a", "U8", "3", "0,3") "}", TVLM_ERROR_FORMAT, "belong to no tensor"},
        {"{" TENSOR("a", "U8", "3", "1,4") "}", TVLM_ERROR_FORMAT, "gap"},
        {"{" TENSOR("a", "U8", "3", "0,3") "," TENSOR("b", "U8", "2", "2,4") "}", TVLM_ERROR_FORMAT,
         "overlap"},
        {"{" TENSOR("a", "U8", "4", "0,4") "," TENSOR("b", "U8", "4", "0,4") "}", TVLM_ERROR_FORMAT,
         "overlap"},
        {"{" TENSOR("a", "U8", "2", "0,2") "," TENSOR("a", "U8", "2", "2,4") "}", TVLM_ERROR_FORMAT,
         "same name"},
        {"{\"__metadata__\":5," TENSOR("a", "U8", "4", "0,4") "}", TVLM_ERROR_FORMAT, "__metadata__"},
        {"{\"__metadata__\":{\"a\":5}," TENSOR("a", "U8", "4", "0,4") "}", TVLM_ERROR_FORMAT, "not a string"},
        {"{\"__metadata__\":{},\"__metadata__\":{}}", TVLM_ERROR_FORMAT, "twice"},
        {"{\"__metadata__\":{\"k\":\"1\",\"\\u006b\":\"2\"}," TENSOR("a", "U8", "4", "0,4") "}",
         TVLM_ERROR_FORMAT, "a key twice"},
        {"{\"a\":{\"dtype\":\"U8\",\"shape\":[4],\"shape\":[2,2],\"data_offsets\":[0,4]}}", TVLM_ERROR_FORMAT,
         "tensor \"a\": it has its dtype, shape or data_offsets twice"},
        {"{" TENSOR("a\xFF", "U8", "4", "0,4") "}", TVLM_ERROR_FORMAT, "not UTF-8"},
        {"{" TENSOR("\xC0\x80", "U8", "4", "0,4") "}", TVLM_ERROR_FORMAT, "not UTF-8"},
        {"{" TENSOR("\xED\xA0\x80", "U8", "4", "0,4") "}", TVLM_ERROR_FORMAT, "not UTF-8"},
        {"{" TENSOR("\xF4\x90\x80\x80", "U8", "4", "0,4") "}", TVLM_ERROR_FORMAT, "not UTF-8"},
        {"{" TENSOR("\xC1\xBF", "U8", "4", "0,4") "}", TVLM_ERROR_FORMAT, "not UTF-8"},
        {"{" TENSOR("\xC2\x7F", "U8", "4", "0,4") "}", TVLM_ERROR_FORMAT, "not UTF-8"},
        {"{" TENSOR("\xC2\xC0", "U8", "4", "0,4") "}", TVLM_ERROR_FORMAT, "not UTF-8"},
        {"{" TENSOR("\xE0\x9F\xBF", "U8", "4", "0,4") "}", TVLM_ERROR_FORMAT, "not UTF-8"},
        {"{" TENSOR("\xE1\x80\x7F", "U8", "4", "0,4") "}", TVLM_ERROR_FORMAT, "not UTF-8"},
        {"{" TENSOR("\xE1\x80\xC0", "U8", "4", "0,4") "}", TVLM_ERROR_FORMAT, "not UTF-8"},
        {"{" TENSOR("\xF0\x8F\xBF\xBF", "U8", "4", "0,4") "}", TVLM_ERROR_FORMAT, "not UTF-8"},
        {"{" TENSOR("\xF5\x80\x80\x80", "U8", "4", "0,4") "}", TVLM_ERROR_FORMAT, "not UTF-8"},
        {"{" TENSOR("\x80", "U8", "4", "0,4") "}", TVLM_ERROR_FORMAT, "not UTF-8"},
        {"{" TENSOR("a\xC3", "U8", "4", "0,4") "}", TVLM_ERROR_FORMAT, "not UTF-8"},
        {"{" TENSOR("a\\u0000b", "U8", "4", "0,4") "}", TVLM_ERROR_FORMAT, "a string in it has a zero"},
        {"{" TENSOR("a\\u001b[2Jb\\nc\\u009b", "U8", "3", "0,4") "}", TVLM_ERROR_FORMAT,
         "tensor \"a?[2Jb c??\": its data"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        refuse(put_file(bad[i].header, "1234", 4), bad[i].status, bad[i].words);
}

/* A backslash before what looks like an escaped zero, and the first and last characters of each length. */
static void reads_names_of_all_kinds(void **state) {
    tvlm_safetensors *file = read_file(put_file(
        "{" TENSOR("\\\\u0000", "U8", "1", "0,1") "," TENSOR(
            "\xC2\x80\xDF\xBF\xE0\xA0\x80\xED\x9F\xBF\xEE\x80\x80\xEF\xBF\xBF\xF0\x90\x80\x80\xF4\x8F\xBF\xBF",
            "U8", "3", "1,4") "}",
        "1234", 4));
    (void)state;
    assert_non_null(tvlm_safetensors_find(file, "\\u0000"));
    assert_int_equal(file->tensor_count, 2);
    tvlm_safetensors_destroy(&file);
}

static void refuses_bad_files(void **state) {
    (void)state;
    refuse(io_put("a.safetensors", "", 0), TVLM_ERROR_FORMAT, "too short");
    refuse(io_put("a.safetensors", "1234567", 7), TVLM_ERROR_FORMAT, "too short");
    refuse(io_put("a.safetensors", "\x03\0\0\0\0\0\0\0{}", 10), TVLM_ERROR_FORMAT, "ends within its header");
    refuse(io_put("a.safetensors", "\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF{}", 10), TVLM_ERROR_FORMAT, "100 MB");
    refuse(io_put("a.safetensors", "\x03\0\0\0\0\0\0\0{}\0", 11), TVLM_ERROR_FORMAT, "not a JSON object");
    unlink(io_path("a.safetensors"));
    refuse(io_path("a.safetensors"), TVLM_ERROR_IO, "No such file");
    io_expect(tvlm_safetensors_read(NULL, &io_log, NULL), TVLM_ERROR_ARGUMENT, "NULL");
}

static void refuses_bad_arguments(void **state) {
    const tvlm_tensor good = {.name = "a", .type = TVLM_ELEMENT_U8, .rank = 1, .shape = {1}, .data = "x"};
    const tvlm_metadata twice[] = {{"k", "1"}, {"k", "2"}}, null = {"k", NULL}, latin = {"k", "\xE9"};
    tvlm_tensor bad[2] = {good, good};
    (void)state;
    const char *path = io_path("a");
    io_expect(tvlm_safetensors_write(path, bad, 2, NULL, 0, &io_log), TVLM_ERROR_ARGUMENT, "occurs twice");
    io_expect(tvlm_safetensors_write(path, bad, 1, twice, 2, &io_log), TVLM_ERROR_ARGUMENT, "occurs twice");
    io_expect(tvlm_safetensors_write(path, bad, 1, &null, 1, &io_log), TVLM_ERROR_ARGUMENT, "NULL");
    bad[0].name = NULL;
    io_expect(tvlm_safetensors_write(path, bad, 1, NULL, 0, &io_log), TVLM_ERROR_ARGUMENT, "NULL");
    bad[0].name = "\xFF";
    io_expect(tvlm_safetensors_write(path, bad, 1, NULL, 0, &io_log), TVLM_ERROR_ARGUMENT, "not UTF-8");
    io_expect(tvlm_safetensors_write(path, &good, 1, &latin, 1, &io_log), TVLM_ERROR_ARGUMENT, "not UTF-8");
    bad[0].name = "__metadata__";
    io_expect(tvlm_safetensors_write(path, bad, 1, NULL, 0, &io_log), TVLM_ERROR_ARGUMENT, "__metadata__");
    bad[0] = good;
    bad[0].data = NULL;
    io_expect(tvlm_safetensors_write(path, bad, 1, NULL, 0, &io_log), TVLM_ERROR_ARGUMENT, "data is NULL");
    bad[0].rank = 9;
    io_expect(tvlm_safetensors_write(path, bad, 1, NULL, 0, &io_log), TVLM_ERROR_ARGUMENT, "rank");
    io_expect(tvlm_safetensors_write(path, NULL, 1, NULL, 0, &io_log), TVLM_ERROR_ARGUMENT, "NULL");
    io_expect(tvlm_safetensors_write(path, NULL, -1, NULL, 0, &io_log), TVLM_ERROR_ARGUMENT, "negative");
    io_expect(tvlm_safetensors_write(io_path("none/a"), &good, 1, NULL, 0, &io_log), TVLM_ERROR_IO,
              "No such");
    assert_int_equal(io_files(false), 0);
}

static void refuses_every_truncation(void **state) {
    const float floats[] = {1, 2, 3};
    const tvlm_tensor tensor = {
        .name = "t", .type = TVLM_ELEMENT_F32, .rank = 1, .shape = {3}, .data = floats};
    const tvlm_metadata pair = {"key", "value"};
    void *bytes;
    size_t size;
    (void)state;
    io_expect(tvlm_safetensors_write(io_path("b"), &tensor, 1, &pair, 1, &io_log), TVLM_OK, NULL);
    io_expect(tvlm_file_read(io_path("b"), &io_log, &bytes, &size), TVLM_OK, NULL);
    for (size_t cut = 0; cut < size; cut++)
        refuse(io_put("a.safetensors", bytes, cut), TVLM_ERROR_FORMAT, NULL);
    free(bytes);
}

static void survives_damage(void **state) {
    const uint8_t data[24] = {0};
    const tvlm_tensor tensors[] = {
        {.name = "one", .type = TVLM_ELEMENT_F32, .rank = 2, .shape = {2, 2}, .data = data},
        {.name = "two", .type = TVLM_ELEMENT_U8, .rank = 1, .shape = {5}, .data = data},
    };
    const tvlm_metadata pair = {"key", "value"};
    void *bytes;
    size_t size;
    uint64_t seed = 4711;
    (void)state;
    io_expect(tvlm_safetensors_write(io_path("b"), tensors, 2, &pair, 1, &io_log), TVLM_OK, NULL);
    io_expect(tvlm_file_read(io_path("b"), &io_log, &bytes, &size), TVLM_OK, NULL);
    for (int i = 0; i < 4000; i++) {
        uint8_t damaged[1000], copy[1000];
        tvlm_safetensors *file = NULL;
        memcpy(damaged, bytes, size);
        io_damage(&seed, damaged, size);
        tvlm_status status = tvlm_safetensors_read(io_put("a", damaged, size), &io_log, &file);
        assert_true((status == TVLM_OK) == (file != NULL));
        io_expect(status, status, NULL);
        for (int32_t k = 0; file != NULL && k < file->tensor_count; k++)
            memcpy(copy, file->tensors[k].data, file->tensors[k].size);
        tvlm_safetensors_destroy(&file);
    }
    free(bytes);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        io_test(reads_what_was_written),
        io_test(writes_an_empty_file),
        io_test(aligns_what_the_file_does_not),
        io_test(refuses_bad_headers),
        io_test(reads_names_of_all_kinds),
        io_test(refuses_bad_files),
        io_test(refuses_bad_arguments),
        io_test(refuses_every_truncation),
        io_test(survives_damage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

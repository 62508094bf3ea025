/* SPDX-License-Identifier: Apache-2.0 */
/*
 * .npy: what is written is read, what NumPy writes is read, and all else is refused.
 */
#include <errno.h>

#include "io/order.h"
#include "io_helper.h"

/* Everything but the data of a file: the magic bytes, the version, the length, the text as it is given. */
static const char *put_npy(int version, const char *text, size_t length, const void *data, size_t size) {
    uint8_t bytes[1000] = "\x93NUMPY";
    size_t offset = version == 1 ? 10 : 12;
    bytes[6] = (uint8_t)version;
    bytes[8] = (uint8_t)(length & 255);
    bytes[9] = (uint8_t)(length >> 8);
    snprintf((char *)bytes + offset, sizeof bytes - offset, "%s", text);
    memcpy(bytes + offset + strlen(text), data, size);
    return io_put("a.npy", bytes, offset + strlen(text) + size);
}

static tvlm_npy *read_npy(const char *path) {
    tvlm_npy *array = NULL;
    io_expect(tvlm_npy_read(path, &io_log, &array), TVLM_OK, NULL);
    assert_non_null(array);
    assert_int_equal((uintptr_t)array->data % tvlm_element_size(array->type), 0);
    return array;
}

static void refuse(const char *path, tvlm_status expected, const char *words) {
    tvlm_npy *array = NULL;
    tvlm_status status = tvlm_npy_read(path, &io_log, &array);
    assert_non_null(strstr(io_logged, "a.npy"));
    io_expect(status, expected, words);
    assert_null(array);
    tvlm_npy head = {0};
    tvlm_npy_reader *reader = NULL;
    status = tvlm_npy_reader_open(path, &io_log, &head, &reader);
    assert_non_null(strstr(io_logged, "a.npy"));
    io_expect(status, expected, words);
    assert_null(reader);
}

static void names_every_type(void **state) {
    (void)state;
    assert_int_equal(tvlm_element_size(TVLM_ELEMENT_F32), 4);
    assert_int_equal(tvlm_element_size(TVLM_ELEMENT_BF16), 2);
    assert_int_equal(tvlm_element_size(TVLM_ELEMENT_BOOL), 1);
    assert_int_equal(tvlm_element_size((tvlm_element)99), 0);
    assert_int_equal(tvlm_element_size((tvlm_element)-1), 0);
    assert_string_equal(tvlm_element_name(TVLM_ELEMENT_F16), "float16");
    assert_string_equal(tvlm_element_name((tvlm_element)99), "unknown");
}

static void reads_what_was_written(void **state) {
    const int64_t shape[] = {2, 3, 1, 4, 1, 1, 1, 1};
    uint8_t data[24 * 8];
    (void)state;
    for (size_t i = 0; i < sizeof data; i++) data[i] = (uint8_t)(i * 11);
    for (int type = 0; type <= TVLM_ELEMENT_BOOL; type++)
        for (int32_t rank = 0; rank <= TVLM_MAX_RANK; rank++) {
            size_t count = rank == 0 ? 1 : rank == 1 ? 2 : rank <= 3 ? 6 : 24;
            if (type == TVLM_ELEMENT_BF16) continue;
            io_expect(tvlm_npy_write(io_path("a.npy"), (tvlm_element)type, rank, shape, data, &io_log),
                      TVLM_OK, NULL);
            tvlm_npy *array = read_npy(io_path("a.npy"));
            assert_int_equal(array->type, type);
            assert_int_equal(array->rank, rank);
            for (int i = 0; i < TVLM_MAX_RANK; i++)
                assert_int_equal(array->shape[i], i < rank ? shape[i] : 1);
            assert_int_equal(array->size, count * tvlm_element_size((tvlm_element)type));
            assert_memory_equal(array->data, data, array->size);
            tvlm_npy_destroy(&array);
            assert_null(array);
        }
    tvlm_npy_destroy(NULL);
}

static void writes_what_numpy_writes(void **state) {
    static const char *const text = "{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }";
    const int64_t shape[] = {3};
    const float data[] = {1, 2, 3};
    uint8_t expected[128 + sizeof data];
    (void)state;
    snprintf((char *)expected, sizeof expected, "\x93NUMPY\x01%c\x76%c%-117s", 0, 0, text);
    expected[127] = '\n';
    memcpy(expected + 128, "\0\0\x80\x3f\0\0\0\x40\0\0\x40\x40", sizeof data); /* the least byte first */
    io_expect(tvlm_npy_write(io_path("a.npy"), TVLM_ELEMENT_F32, 1, shape, data, &io_log), TVLM_OK, NULL);
    io_assert_content(io_path("a.npy"), expected, sizeof expected);
}

static void holds_arrays_without_elements(void **state) {
    const int64_t shape[] = {0, INT64_MAX};
    (void)state;
    io_expect(tvlm_npy_write(io_path("a.npy"), TVLM_ELEMENT_F16, 2, shape, NULL, &io_log), TVLM_OK, NULL);
    tvlm_npy *array = read_npy(io_path("a.npy"));
    assert_int_equal(array->size, 0);
    assert_int_equal(array->shape[1], INT64_MAX);
    tvlm_npy_destroy(&array);
}

static void reads_other_spellings(void **state) {
    static const char *const texts[] = {
        "{'descr': '<u2', 'fortran_order': False, 'shape': (2, 1), }",
        "{\"shape\":(2L,1L),\"fortran_order\":False,\"descr\":\"<u2\"}",
        " { 'shape' : ( 2 , 1 , ) , 'descr' : '=u2' , 'fortran_order' : False } \n\n",
    };
    static const unsigned char bytes[] = {0x34, 0x12, 0xCD, 0xAB}; /* the least byte first */
    const uint16_t data[] = {0x1234, 0xABCD};
    (void)state;
    for (int version = 1; version <= 3; version++)
        for (int i = 0; i < 3; i++) {
            tvlm_npy *array = read_npy(put_npy(version, texts[i], strlen(texts[i]), bytes, sizeof bytes));
            assert_int_equal(array->type, TVLM_ELEMENT_U16);
            assert_int_equal(array->rank, 2);
            assert_int_equal(array->shape[0], 2);
            assert_memory_equal(array->data, data, sizeof data);
            tvlm_npy_destroy(&array);
        }
}

static void refuses_bad_headers(void **state) {
    static const struct {
        const char *text;
        tvlm_status status;
        const char *words;
    } bad[] = {
        {"{'descr': '<f4', 'fortran_order': True, 'shape': (1,), }", TVLM_ERROR_UNSUPPORTED, "column-major"},
        {"{'descr': '>f4', 'fortran_order': False, 'shape': (1,), }", TVLM_ERROR_UNSUPPORTED, "big-endian"},
        {"{'descr': '<c8', 'fortran_order': False, 'shape': (1,), }", TVLM_ERROR_UNSUPPORTED, "'<c8'"},
        {"{'descr': '<U5', 'fortran_order': False, 'shape': (1,), }", TVLM_ERROR_UNSUPPORTED, "'<U5'"},
        {"{'descr': '|O', 'fortran_order': False, 'shape': (1,), }", TVLM_ERROR_UNSUPPORTED, "'|O'"},
        {"{'descr': [('x', '<f4')], 'fortran_order': False, 'shape': (1,)}", TVLM_ERROR_UNSUPPORTED,
         "records"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1,1,1,1,1,1,1,1,1)}", TVLM_ERROR_UNSUPPORTED,
         "dimensions"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1)}", TVLM_ERROR_FORMAT, "tuple"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': [1]}", TVLM_ERROR_FORMAT, "tuple"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (-1,)}", TVLM_ERROR_FORMAT, "number"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (9999999999999999999,)}", TVLM_ERROR_FORMAT,
         "number"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (9223372036854775807, 4)}", TVLM_ERROR_FORMAT,
         "too large"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904,)}", TVLM_ERROR_FORMAT,
         "too large"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1, ", TVLM_ERROR_FORMAT, "number"},
        {"{'descr': '<f4', 'fortran_order': False}", TVLM_ERROR_FORMAT, "lacks one of"},
        {"{'descr': '<f4', 'descr': '<f4'}", TVLM_ERROR_FORMAT, "twice"},
        {"{'descr': '<f4', 'extra': 1}", TVLM_ERROR_FORMAT, "unknown key"},
        {"{'descr': '<f4', 'fortran_order': 0, 'shape': ()}", TVLM_ERROR_FORMAT, "fortran_order"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': ()} x", TVLM_ERROR_FORMAT, "after its end"},
        {"{'descr': '<f4", TVLM_ERROR_FORMAT, "not a string"},
        {"[1, 2]", TVLM_ERROR_FORMAT, "dictionary"},
        {"{'descr' '<f4'}", TVLM_ERROR_FORMAT, "colon"},
        {"", TVLM_ERROR_FORMAT, "dictionary"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        refuse(put_npy(1, bad[i].text, strlen(bad[i].text), "1234", 4), bad[i].status, bad[i].words);
}

static void refuses_bad_files(void **state) {
    static const char *const text = "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }";
    (void)state;
    refuse(put_npy(1, text, strlen(text), "123", 3), TVLM_ERROR_FORMAT,
           "3 bytes of data where its shape needs 4");
    refuse(put_npy(1, text, strlen(text), "12345", 5), TVLM_ERROR_FORMAT, "5 bytes of data");
    refuse(put_npy(1, text, 500, "1234", 4), TVLM_ERROR_FORMAT, "ends within its header");
    refuse(put_npy(4, text, strlen(text), "1234", 4), TVLM_ERROR_FORMAT, "version");
    refuse(io_put("a.npy", "", 0), TVLM_ERROR_FORMAT, "magic");
    refuse(io_put("a.npy", "\x93NUMPY\x01\x00\x01", 9), TVLM_ERROR_FORMAT, "ends within");
    refuse(io_put("a.npy", "\x93NUMPY\x02\x00\xFF\xFF\xFF\xFF", 12), TVLM_ERROR_FORMAT, "1 MiB");
    refuse(io_put("a.npy", "PK\x03\x04 a zip file, such as .npz", 20), TVLM_ERROR_FORMAT, "magic");
    unlink(io_path("a.npy"));
    refuse(io_path("a.npy"), TVLM_ERROR_IO, "No such file");
    io_expect(tvlm_npy_read(NULL, &io_log, NULL), TVLM_ERROR_ARGUMENT, "NULL");
}

static void refuses_every_truncation(void **state) {
    const int64_t shape[] = {3, 2};
    const float data[6] = {0};
    void *bytes;
    size_t size;
    (void)state;
    io_expect(tvlm_npy_write(io_path("a.npy"), TVLM_ELEMENT_F32, 2, shape, data, &io_log), TVLM_OK, NULL);
    io_expect(tvlm_file_read(io_path("a.npy"), &io_log, &bytes, &size), TVLM_OK, NULL);
    for (size_t cut = 0; cut < size; cut++) refuse(io_put("a.npy", bytes, cut), TVLM_ERROR_FORMAT, NULL);
    free(bytes);
}

static void refuses_bad_arguments(void **state) {
    const int64_t shape[] = {1, 1}, negative[] = {-1}, large[] = {INT64_MAX, INT64_MAX};
    (void)state;
    const char *path = io_path("a.npy");
    io_expect(tvlm_npy_write(path, (tvlm_element)99, 1, shape, "", &io_log), TVLM_ERROR_ARGUMENT,
              "unknown type");
    io_expect(tvlm_npy_write(path, TVLM_ELEMENT_U8, 9, shape, "", &io_log), TVLM_ERROR_ARGUMENT, "rank");
    io_expect(tvlm_npy_write(path, TVLM_ELEMENT_U8, -1, shape, "", &io_log), TVLM_ERROR_ARGUMENT, "rank");
    io_expect(tvlm_npy_write(path, TVLM_ELEMENT_U8, 1, NULL, "", &io_log), TVLM_ERROR_ARGUMENT,
              "shape is NULL");
    io_expect(tvlm_npy_write(path, TVLM_ELEMENT_U8, 1, negative, "", &io_log), TVLM_ERROR_ARGUMENT,
              "negative");
    io_expect(tvlm_npy_write(path, TVLM_ELEMENT_U8, 2, large, "", &io_log), TVLM_ERROR_ARGUMENT, "too large");
    io_expect(tvlm_npy_write(path, TVLM_ELEMENT_U8, 1, shape, NULL, &io_log), TVLM_ERROR_ARGUMENT,
              "data is NULL");
    io_expect(tvlm_npy_write(NULL, TVLM_ELEMENT_U8, 1, shape, "", &io_log), TVLM_ERROR_ARGUMENT, "NULL");
    io_expect(tvlm_npy_write(path, TVLM_ELEMENT_BF16, 1, shape, "", &io_log), TVLM_ERROR_UNSUPPORTED,
              "bfloat16");
    io_expect(tvlm_npy_write(io_path("none/a"), TVLM_ELEMENT_U8, 1, shape, "x", &io_log), TVLM_ERROR_IO,
              "No such");
    assert_int_equal(io_files(false), 0);
}

static tvlm_npy_writer *open_writer(void) {
    const int64_t shape[] = {2, 3};
    tvlm_npy_writer *writer = NULL;
    io_expect(tvlm_npy_writer_open(io_path("a.npy"), TVLM_ELEMENT_I32, 2, shape, &io_log, &writer), TVLM_OK,
              NULL);
    assert_non_null(writer);
    return writer;
}

static void writes_in_pieces(void **state) {
    const int32_t data[] = {1, 2, 3, 4, 5, 6};
    (void)state;
    tvlm_npy_writer *writer = open_writer();
    io_expect(tvlm_npy_writer_append(writer, data, 1), TVLM_OK, NULL);
    io_expect(tvlm_npy_writer_append(writer, NULL, 0), TVLM_OK, NULL);
    io_expect(tvlm_npy_writer_append(writer, data + 1, 4), TVLM_OK, NULL);
    io_expect(tvlm_npy_writer_append(writer, data, 2), TVLM_ERROR_ARGUMENT, "has 1 left");
    io_expect(tvlm_npy_writer_append(writer, data + 5, 1), TVLM_OK, NULL);
    assert_int_equal(access(io_path("a.npy"), F_OK), -1);
    io_expect(tvlm_npy_writer_finish(writer), TVLM_OK, NULL);
    io_expect(tvlm_npy_writer_finish(writer), TVLM_ERROR_ARGUMENT, "finished already");
    io_expect(tvlm_npy_writer_append(writer, NULL, 0), TVLM_ERROR_ARGUMENT, "finished already");
    tvlm_npy_writer_destroy(&writer);
    assert_null(writer);
    tvlm_npy *array = read_npy(io_path("a.npy"));
    assert_int_equal(array->size, sizeof data);
    assert_memory_equal(array->data, data, sizeof data);
    tvlm_npy_destroy(&array);
}

static void reads_in_pieces(void **state) {
    const int64_t shape[] = {2, 3};
    const int32_t data[] = {1, 2, 3, 4, 5, 6};
    int32_t got[6] = {0};
    tvlm_npy array = {0};
    tvlm_npy_reader *reader = NULL;
    (void)state;
    io_expect(tvlm_npy_write(io_path("a.npy"), TVLM_ELEMENT_I32, 2, shape, data, &io_log), TVLM_OK, NULL);
    io_expect(tvlm_npy_reader_open(io_path("a.npy"), &io_log, &array, &reader), TVLM_OK, NULL);
    assert_int_equal(array.type, TVLM_ELEMENT_I32);
    assert_int_equal(array.rank, 2);
    assert_int_equal(array.shape[0] * 10 + array.shape[1], 23);
    assert_int_equal(array.size, sizeof data);
    assert_null(array.data);
    io_expect(tvlm_npy_reader_read(reader, got, 1), TVLM_OK, NULL);
    io_expect(tvlm_npy_reader_read(reader, NULL, 0), TVLM_OK, NULL);
    io_expect(tvlm_npy_reader_read(reader, NULL, 1), TVLM_ERROR_ARGUMENT, "NULL");
    io_expect(tvlm_npy_reader_read(reader, got + 1, 4), TVLM_OK, NULL);
    io_expect(tvlm_npy_reader_read(reader, got, 2), TVLM_ERROR_ARGUMENT, "has 1 left");
    io_expect(tvlm_npy_reader_read(reader, got + 5, 1), TVLM_OK, NULL);
    assert_memory_equal(got, data, sizeof data);
    tvlm_npy_reader_destroy(&reader);
    assert_null(reader);
    tvlm_npy_reader_destroy(&reader);

    /* A file that is cut while it is read. */
    io_expect(tvlm_npy_reader_open(io_path("a.npy"), &io_log, &array, &reader), TVLM_OK, NULL);
    assert_int_equal(truncate(io_path("a.npy"), 128 + 20), 0);
    io_expect(tvlm_npy_reader_read(reader, got, 6), TVLM_ERROR_IO, "became shorter");
    tvlm_npy_reader_destroy(&reader);
    io_expect(tvlm_npy_reader_open(io_path("none"), &io_log, &array, &reader), TVLM_ERROR_IO, "No such");
    io_expect(tvlm_npy_reader_open("/dev/null", &io_log, &array, &reader), TVLM_ERROR_IO, "no ordinary file");
    if (mkfifo(io_path("fifo"), 0600) != 0 && errno == ENOSYS) return; /* as Windows has none */
    alarm(20); /* nobody writes to it: opening must not wait */
    io_expect(tvlm_npy_reader_open(io_path("fifo"), &io_log, &array, &reader), TVLM_ERROR_IO,
              "no ordinary file");
    alarm(0);
    io_expect(tvlm_npy_reader_open(NULL, &io_log, &array, &reader), TVLM_ERROR_ARGUMENT, "NULL");
    assert_null(reader);
}

static void leaves_no_unfinished_file(void **state) {
    const int32_t data[6] = {0};
    (void)state;
    tvlm_npy_writer *writer = open_writer();
    io_expect(tvlm_npy_writer_append(writer, data, 5), TVLM_OK, NULL);
    io_expect(tvlm_npy_writer_append(writer, NULL, 1), TVLM_ERROR_ARGUMENT, "NULL");
    io_expect(tvlm_npy_writer_finish(writer), TVLM_ERROR_ARGUMENT, "1 elements of the shape are missing");
    tvlm_npy_writer_destroy(&writer);
    assert_null(writer);
    writer = open_writer();
    tvlm_npy_writer_destroy(&writer);
    assert_null(writer);
    tvlm_npy_writer_destroy(&writer);
    assert_int_equal(tvlm_npy_writer_finish(writer), TVLM_ERROR_ARGUMENT);
    assert_int_equal(io_files(false), 0);
}

static void survives_damage(void **state) {
    const int64_t shape[] = {3, 2};
    const float data[6] = {0};
    void *bytes;
    size_t size;
    uint64_t seed = 42;
    (void)state;
    io_expect(tvlm_npy_write(io_path("b"), TVLM_ELEMENT_F32, 2, shape, data, &io_log), TVLM_OK, NULL);
    io_expect(tvlm_file_read(io_path("b"), &io_log, &bytes, &size), TVLM_OK, NULL);
    for (int i = 0; i < 4000; i++) {
        uint8_t damaged[256];
        tvlm_npy *array = NULL;
        memcpy(damaged, bytes, size);
        io_damage(&seed, damaged, i % 2 ? 80 : size);
        tvlm_status status = tvlm_npy_read(io_put("a.npy", damaged, size), &io_log, &array);
        assert_true((status == TVLM_OK) == (array != NULL));
        io_expect(status, status, NULL);
        if (array != NULL) memset(array->data, 0, array->size);
        tvlm_npy_destroy(&array);
        tvlm_npy head;
        tvlm_npy_reader *reader = NULL;
        io_expect(tvlm_npy_reader_open(io_path("a.npy"), &io_log, &head, &reader), status, NULL);
        tvlm_npy_reader_destroy(&reader);
    }
    free(bytes);
}

/* Reads every array of a folder and returns how many there were. */
static int read_folder(const char *path) {
    int count = 0;
    DIR *folder = opendir(path);
    assert_non_null(folder);
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        char name[1000];
        const char *end = strrchr(entry->d_name, '.');
        if (end == NULL || strcmp(end, ".npy") != 0) continue;
        snprintf(name, sizeof name, "%s/%s", path, entry->d_name);
        tvlm_npy *array = read_npy(name);
        assert_int_equal(array->type, TVLM_ELEMENT_F16);
        assert_int_equal(array->shape[array->rank - 1], 512);
        tvlm_npy_destroy(&array);
        count++;
    }
    closedir(folder);
    return count;
}

static void reads_real_arrays(void **state) {
    char path[600];
    (void)state;
    if (!io_shared("clip/painted", path)) skip();
    assert_true(read_folder(path) > 0);
}

/* Machines of the other order do this with all they read and write. */
static void turns_elements_round(void **state) {
    unsigned char bytes[] = {1, 2, 3, 4, 5, 6, 7, 8};
    (void)state;
    tvlm_io_turn(bytes, 8, 1);
    assert_memory_equal(bytes, "\1\2\3\4\5\6\7\10", 8);
    tvlm_io_turn(bytes, 8, 2);
    assert_memory_equal(bytes, "\2\1\4\3\6\5\10\7", 8);
    tvlm_io_turn(bytes, 8, 4);
    assert_memory_equal(bytes, "\3\4\1\2\7\10\5\6", 8);
    tvlm_io_turn(bytes, 8, 8);
    assert_memory_equal(bytes, "\6\5\10\7\2\1\4\3", 8);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        io_test(names_every_type),         io_test(reads_what_was_written),
        io_test(writes_what_numpy_writes), io_test(holds_arrays_without_elements),
        io_test(reads_other_spellings),    io_test(refuses_bad_headers),
        io_test(refuses_bad_files),        io_test(refuses_every_truncation),
        io_test(refuses_bad_arguments),    io_test(writes_in_pieces),
        io_test(reads_in_pieces),          io_test(leaves_no_unfinished_file),
        io_test(survives_damage),          io_test(reads_real_arrays),
        io_test(turns_elements_round),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

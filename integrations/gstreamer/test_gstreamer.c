/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_gstreamer.c: the element `texturevlm`: frames go through it as they are, the tokens of slots come with them and on the
 * bus, and what cannot be is an error on the bus.
 */
#include <gst/check/gstharness.h>
#include <gst/gst.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { WIDTH = 96, HEIGHT = 64, TILES = 24 };

static GstHarness *open_harness(const gchar *launch, GstBus **bus) {
    GstHarness *const h = gst_harness_new_parse(launch);
    *bus = gst_bus_new();
    gst_element_set_bus(h->element, *bus);
    gst_harness_set_src_caps_str(h, "video/x-raw,format=RGB,width=96,height=64,framerate=10/1");
    return h;
}

static void close_harness(GstHarness *h, GstBus *bus) {
    gst_harness_teardown(h);
    gst_object_unref(bus);
}

/* A frame with a texture, and a bright thing that moves with the number of the frame. */
static GstBuffer *make_frame(GstHarness *h, gint number) {
    GstBuffer *const buffer = gst_harness_create_buffer(h, WIDTH * HEIGHT * 3);
    GstMapInfo map;
    gst_buffer_map(buffer, &map, GST_MAP_WRITE);
    for (gint i = 0; i < WIDTH * HEIGHT; ++i) {
        const gint x = i % WIDTH - number / 2 * 16, y = i / WIDTH - 16;
        memset(map.data + 3 * i, x >= 0 && x < 16 && y >= 0 && y < 16 ? 255 * (x / 2 % 2) : i * 7919 % 61, 3);
    }
    gst_buffer_unmap(buffer, &map);
    return buffer;
}

/* The tokens of the messages that are on the bus. *slots becomes how many there are. */
static gint take_messages(GstBus *bus, gint *slots) {
    gint tokens = 0;
    GstMessage *message;
    *slots = 0;
    while ((message = gst_bus_pop_filtered(bus, GST_MESSAGE_ELEMENT)) != NULL) {
        const GstStructure *const s = gst_message_get_structure(message);
        gint own = 0, slot = -1;
        if (gst_structure_has_name(s, "texturevlm-tokens")) {
            assert_true(gst_structure_get(s, "slot", G_TYPE_INT, &slot, "tokens", G_TYPE_INT, &own, NULL));
            assert_int_equal(gst_value_array_get_size(gst_structure_get_value(s, "x")), own);
            assert_int_equal(gst_value_array_get_size(gst_structure_get_value(s, "rows")), own);
            tokens += own;
            ++*slots;
        }
        gst_message_unref(message);
    }
    return tokens;
}

/* Pushes frames, and returns how many tokens came with them. */
static gint push_frames(GstHarness *h, gint count) {
    gint tokens = 0;
    for (gint i = 0; i < count; ++i) {
        GstBuffer *const buffer = make_frame(h, i);
        GstMapInfo before, after;
        gint own = 0;
        GstBuffer *const copy = gst_buffer_copy_deep(buffer);
        GstBuffer *const out = gst_harness_push_and_pull(h, buffer);
        assert_non_null(out);
        gst_buffer_map(copy, &before, GST_MAP_READ);
        gst_buffer_map(out, &after, GST_MAP_READ);
        assert_memory_equal(before.data, after.data, before.size);
        gst_buffer_unmap(copy, &before);
        gst_buffer_unmap(out, &after);
        GstCustomMeta *const meta = gst_buffer_get_custom_meta(out, "texturevlm-tokens");
        if (meta != NULL) assert_true(gst_structure_get_int(gst_custom_meta_get_structure(meta), "tokens", &own));
        tokens += own;
        gst_buffer_unref(copy);
        gst_buffer_unref(out);
    }
    return tokens;
}

static void test_tokens(void **unused) {
    GstBus *bus;
    gint slots;
    (void)unused;
    GstHarness *const h = open_harness("texturevlm device=reference budget=0.3", &bus);
    const gint came = push_frames(h, 13);
    assert_int_equal(take_messages(bus, &slots), came);
    assert_int_equal(slots, 6);
    assert_true(came > 6 && came <= (gint)(0.3 * TILES * 6));
    assert_true(gst_harness_push_event(h, gst_event_new_eos()));
    (void)take_messages(bus, &slots); /* of the slot that lacks a frame */
    assert_int_equal(slots, 1);
    close_harness(h, bus);
}

static void test_latency_and_rate(void **unused) {
    GstBus *bus;
    gint slots;
    (void)unused;
    GstHarness *const h = open_harness("texturevlm device=reference tokens-per-second=30 latency=2 slot=1", &bus);
    const gint came = push_frames(h, 20);
    assert_int_equal(take_messages(bus, &slots), came);
    assert_int_equal(slots, 18);
    assert_true(came <= 3 * 18 && came > 18);
    assert_true(gst_harness_push_event(h, gst_event_new_eos()));
    (void)take_messages(bus, &slots);
    assert_int_equal(slots, 2);
    close_harness(h, bus);
}

/* What is set while a video runs counts for the next one: slots go on with their own frames. */
static void test_settings(void **unused) {
    GstBus *bus;
    (void)unused;
    GstHarness *const h = open_harness("texturevlm device=reference slot=2", &bus);
    GstElement *const element = gst_harness_find_element(h, "texturevlm");
    (void)push_frames(h, 4);
    g_object_set(element, "slot", 5, NULL);
    (void)push_frames(h, 4);
    gst_object_unref(element);
    guint64 expected = 0;
    GstMessage *message;
    while ((message = gst_bus_pop_filtered(bus, GST_MESSAGE_ELEMENT)) != NULL) {
        guint64 frame;
        assert_true(gst_structure_get_uint64(gst_message_get_structure(message), "frame", &frame));
        assert_int_equal(frame, expected);
        expected += 2;
        gst_message_unref(message);
    }
    assert_int_equal(expected, 8);
    close_harness(h, bus);
}

/* Another size begins another video. */
static void test_caps(void **unused) {
    GstBus *bus;
    gint slots;
    (void)unused;
    GstHarness *const h = open_harness("texturevlm device=reference", &bus);
    (void)push_frames(h, 4);
    gst_harness_set_src_caps_str(h, "video/x-raw,format=GRAY8,width=64,height=32,framerate=10/1");
    for (gint i = 0; i < 4; ++i) {
        GstBuffer *const buffer = gst_harness_create_buffer(h, 64 * 32);
        gst_buffer_memset(buffer, 0, (guint8)(40 * i), 64 * 32);
        gst_buffer_unref(gst_harness_push_and_pull(h, buffer));
    }
    (void)take_messages(bus, &slots);
    assert_int_equal(slots, 4);
    close_harness(h, bus);
}

/* A frame of a texture that moves by two pixels to the left with each frame. */
static GstBuffer *make_panned(GstHarness *h, gint number) {
    GstBuffer *const buffer = gst_harness_create_buffer(h, WIDTH * HEIGHT * 3);
    GstMapInfo map;
    gst_buffer_map(buffer, &map, GST_MAP_WRITE);
    for (gint i = 0; i < WIDTH * HEIGHT; ++i) {
        const gdouble x = i % WIDTH + 2 * number, y = (gdouble)(i / WIDTH);
        memset(map.data + 3 * i, (gint)(128 + 50 * sin(x / 5) * cos(y / 7) + 40 * sin(x / 11 + y / 3)), 3);
    }
    gst_buffer_unmap(buffer, &map);
    return buffer;
}

/* With motion the map of each slot comes, too; two frames of two pixels are four. */
static void test_motion(void **unused) {
    GstBus *bus;
    gint found = 0;
    (void)unused;
    GstHarness *const h = open_harness("texturevlm device=reference budget=0.3 motion=true", &bus);
    for (gint i = 0; i < 8; ++i) {
        GstBuffer *const out = gst_harness_push_and_pull(h, make_panned(h, i));
        GstCustomMeta *const meta = gst_buffer_get_custom_meta(out, "texturevlm-tokens");
        if (meta != NULL) {
            const GValue *const motion = gst_structure_get_value(gst_custom_meta_get_structure(meta), "motion");
            assert_int_equal(gst_value_array_get_size(motion), 6);
            const gfloat across = g_value_get_float(gst_value_array_get_value(motion, 2));
            if (found > 0) assert_float_equal(across, 4.0f, 0.25f);
            if (found == 0) assert_float_equal(across, 0.0f, 0.0f);
            ++found;
        }
        gst_buffer_unref(out);
    }
    assert_int_equal(found, 4);
    close_harness(h, bus);
}

static void expect_error(GstBus *bus, const gchar *words) {
    GError *error = NULL;
    GstMessage *const message = gst_bus_pop_filtered(bus, GST_MESSAGE_ERROR);
    assert_non_null(message);
    gst_message_parse_error(message, &error, NULL);
    if (strstr(error->message, words) == NULL) fail_msg("\"%s\" does not say \"%s\"", error->message, words);
    g_error_free(error);
    gst_message_unref(message);
}

static void test_errors(void **unused) {
    GstBus *bus = gst_bus_new();
    (void)unused;
    GstElement *const element = gst_element_factory_make("texturevlm", NULL);
    assert_non_null(element);
    g_object_set(element, "device", "no such device", NULL);
    gst_element_set_bus(element, bus);
    assert_int_equal(gst_element_set_state(element, GST_STATE_PAUSED), GST_STATE_CHANGE_FAILURE);
    expect_error(bus, "no such device");
    gst_element_set_state(element, GST_STATE_NULL);
    gst_object_unref(element);
    gst_object_unref(bus);

    GstHarness *const h = open_harness("texturevlm device=reference tokens-per-second=30", &bus);
    gst_harness_set_src_caps_str(h, "video/x-raw,format=RGB,width=96,height=64,framerate=0/1");
    assert_int_equal(gst_harness_push(h, make_frame(h, 0)), GST_FLOW_ERROR);
    expect_error(bus, "frame rate");
    close_harness(h, bus);

    GstHarness *const late = open_harness("texturevlm device=reference motion=true latency=2", &bus);
    assert_int_equal(gst_harness_push(late, make_frame(late, 0)), GST_FLOW_ERROR);
    expect_error(bus, "without a latency");
    close_harness(late, bus);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_tokens), cmocka_unit_test(test_latency_and_rate),
                                       cmocka_unit_test(test_settings), cmocka_unit_test(test_caps), cmocka_unit_test(test_motion),
                                       cmocka_unit_test(test_errors)};
    gst_init(&argc, &argv);
    return cmocka_run_group_tests(tests, NULL, NULL);
}

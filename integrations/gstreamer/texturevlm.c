/* SPDX-License-Identifier: Apache-2.0 */
/*
 * texturevlm.c: the GStreamer element `texturevlm`. Frames go through it as they are, and with the last frame of each slot
 * comes what of the video a model should be given: tokens, each of which is shown until another one takes its place
 * (texturevlm/clip.h, a stream).
 *
 *     gst-launch-1.0 -m filesrc location=clip.mp4 ! decodebin ! videoconvert ! texturevlm budget=0.1 ! fakesink
 *
 * The tokens of a slot are a GstCustomMeta of the buffer with which they were decided, and an element message on the bus.
 * Both have the structure "texturevlm-tokens":
 *   - slot, frame: int and uint64, the number of the slot and of its first frame; tokens: int, how many it buys;
 *   - lost: double, predicted so far, as a share of what one token a slot would lose;
 *   - x, y, width, height: GstValueArrays of float, the middle and the sides of each token's square in pixels;
 *   - columns, rows: GstValueArrays of int, of the thumbnail whose cell a token is, and 0 of a tile;
 *   - motion: with motion=true, a GstValueArray of six floats, the map by which what is held moves along with the camera
 *     (tvlm_clip_info.motion).
 */
#include <gst/base/gstbasetransform.h>
#include <gst/gst.h>
#include <gst/video/video.h>
#include <string.h>
#include <texturevlm/clip.h>
#include <texturevlm/texturevlm.h>

#define NAME "texturevlm-tokens"

GST_DEBUG_CATEGORY_STATIC(category);
#define GST_CAT_DEFAULT category

#define TEXTUREVLM_TYPE (texturevlm_get_type())
G_DECLARE_FINAL_TYPE(Texturevlm, texturevlm, TEXTUREVLM, ELEMENT, GstBaseTransform)

/* What the application sets. A video is worked on by a copy that is made when it begins. */
typedef struct settings {
    gdouble share;
    guint per_second, patch, slot, latency;
    gboolean motion;
    gchar *device;
} settings;

struct _Texturevlm {
    GstBaseTransform parent;
    settings settings; /* under the object's lock */
    settings used;     /* those of the present video, but for the device */
    tvlm_device *device;
    tvlm_clip *clip; /* NULL before the first frame */
    GstVideoInfo info;
    gchar *said; /* the library's last line of error */
    gint told;   /* slots that have their message */
};

G_DEFINE_TYPE(Texturevlm, texturevlm, GST_TYPE_BASE_TRANSFORM)

static GstStaticPadTemplate sink_template = GST_STATIC_PAD_TEMPLATE(
    "sink", GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS(GST_VIDEO_CAPS_MAKE("{ RGB, RGBA, GRAY8 }")));
static GstStaticPadTemplate src_template = GST_STATIC_PAD_TEMPLATE(
    "src", GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS(GST_VIDEO_CAPS_MAKE("{ RGB, RGBA, GRAY8 }")));

/* ---- Properties ---- */

enum { SHARE = 1, PER_SECOND, PATCH, SLOT, LATENCY, MOTION, DEVICE };

static void set_property(GObject *object, guint id, const GValue *value, GParamSpec *spec) {
    settings *const s = &TEXTUREVLM_ELEMENT(object)->settings;
    GST_OBJECT_LOCK(object);
    switch (id) {
    case SHARE: s->share = g_value_get_double(value); break;
    case PER_SECOND: s->per_second = g_value_get_uint(value); break;
    case PATCH: s->patch = g_value_get_uint(value); break;
    case SLOT: s->slot = g_value_get_uint(value); break;
    case LATENCY: s->latency = g_value_get_uint(value); break;
    case MOTION: s->motion = g_value_get_boolean(value); break;
    case DEVICE:
        g_free(s->device);
        s->device = g_value_dup_string(value);
        break;
    default: G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec);
    }
    GST_OBJECT_UNLOCK(object);
}

static void get_property(GObject *object, guint id, GValue *value, GParamSpec *spec) {
    const settings *const s = &TEXTUREVLM_ELEMENT(object)->settings;
    GST_OBJECT_LOCK(object);
    switch (id) {
    case SHARE: g_value_set_double(value, s->share); break;
    case PER_SECOND: g_value_set_uint(value, s->per_second); break;
    case PATCH: g_value_set_uint(value, s->patch); break;
    case SLOT: g_value_set_uint(value, s->slot); break;
    case LATENCY: g_value_set_uint(value, s->latency); break;
    case MOTION: g_value_set_boolean(value, s->motion); break;
    case DEVICE: g_value_set_string(value, s->device); break;
    default: G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec);
    }
    GST_OBJECT_UNLOCK(object);
}

static void install_properties(GObjectClass *object) {
    const GParamFlags flags = G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_READY;
    g_object_class_install_property(
        object, SHARE,
        g_param_spec_double("budget", "Budget", "The share of all tokens that is spent, if tokens-per-second is 0", 0.0001, 1.0,
                            0.1, flags));
    g_object_class_install_property(
        object, PER_SECOND,
        g_param_spec_uint("tokens-per-second", "Tokens per second", "So many tokens a second, in place of a share; 0: the share", 0,
                          1000000, 0, flags));
    g_object_class_install_property(
        object, PATCH, g_param_spec_uint("patch", "Patch", "The side of a token in pixels", 4, 64, 16, flags));
    g_object_class_install_property(
        object, SLOT, g_param_spec_uint("slot", "Slot", "How many frames a model takes at a time", 1, 16, 2, flags));
    g_object_class_install_property(
        object, LATENCY,
        g_param_spec_uint("latency", "Latency", "A slot is decided when so many further ones are there", 0, 8, 0, flags));
    g_object_class_install_property(
        object, MOTION,
        g_param_spec_boolean("motion", "Motion", "What is held moves along with the camera, for models that are told how; without latency",
                             FALSE, flags));
    g_object_class_install_property(
        object, DEVICE,
        g_param_spec_string("device", "Device", "The name of an OpenCL device, or \"reference\"; NULL: the first GPU, else the first CPU",
                            NULL, flags));
}

/* ---- The library ---- */

static void keep_line(void *user, tvlm_log_level level, const char *message) {
    Texturevlm *const self = user;
    if (level == TVLM_LOG_ERROR) {
        g_free(self->said);
        self->said = g_strdup(message);
    } else if (level == TVLM_LOG_WARNING) {
        GST_WARNING_OBJECT(self, "%s", message);
    }
}

/* Posts the library's last error. Returns whether there was none. */
static gboolean check(Texturevlm *self, tvlm_status status) {
    if (status == TVLM_OK) return TRUE;
    GST_ELEMENT_ERROR(self, LIBRARY, FAILED, ("%s", self->said != NULL ? self->said : tvlm_status_string(status)), (NULL));
    return FALSE;
}

static gboolean start(GstBaseTransform *base) {
    Texturevlm *const self = TEXTUREVLM_ELEMENT(base);
    GST_OBJECT_LOCK(self);
    gchar *const name = g_strdup(self->settings.device);
    GST_OBJECT_UNLOCK(self);
    const struct tvlm_device_params params = {.name = name, .log = &(tvlm_log){keep_line, self}};
    const gboolean fine = check(self, tvlm_device_open(&params, &self->device));
    g_free(name);
    return fine;
}

static gboolean stop(GstBaseTransform *base) {
    Texturevlm *const self = TEXTUREVLM_ELEMENT(base);
    tvlm_clip_destroy(&self->clip);
    tvlm_device_destroy(&self->device);
    return TRUE;
}

static void finalize(GObject *object) {
    Texturevlm *const self = TEXTUREVLM_ELEMENT(object);
    g_free(self->settings.device);
    g_free(self->said);
    G_OBJECT_CLASS(texturevlm_parent_class)->finalize(object);
}

/* Tells tokens a second as a number of tokens for one of frames, both for about so many seconds that they are whole. */
static void tokens_of_frames(guint64 per_second, guint64 rate_n, guint64 rate_d, gint32 *tokens, gint32 *frames) {
    enum { SECONDS = 1000 };
    const guint64 own = per_second * rate_d, times = MIN(G_MAXINT32 / MAX(rate_n, own), MAX(SECONDS / rate_d, 1));
    *tokens = (gint32)(times > 0 ? own * times : G_MAXINT32);
    *frames = (gint32)(times > 0 ? rate_n * times : MAX(gst_util_uint64_scale(G_MAXINT32, rate_n, own), 1));
}

/* Begins a video. */
static gboolean begin(Texturevlm *self) {
    GST_OBJECT_LOCK(self);
    self->used = self->settings;
    GST_OBJECT_UNLOCK(self);
    self->used.device = NULL; /* it may be freed at any time; the device is open already */
    const settings *const s = &self->used;
    const gint rate_n = GST_VIDEO_INFO_FPS_N(&self->info), rate_d = GST_VIDEO_INFO_FPS_D(&self->info);
    struct tvlm_clip_params params = {
        .patch = (float)s->patch, .temporal = (gint32)s->slot, .causal = true, .latency = (gint32)s->latency, .motion = s->motion};
    if (s->per_second == 0) {
        params.share = (float)s->share;
    } else if (rate_n <= 0 || rate_d <= 0) {
        GST_ELEMENT_ERROR(self, STREAM, FORMAT, ("tokens-per-second needs a video that has a frame rate"), (NULL));
        return FALSE;
    } else {
        tokens_of_frames(s->per_second, (guint64)rate_n, (guint64)rate_d, &params.k, &params.frames);
    }
    self->told = 0;
    return check(self, tvlm_clip_create(self->device, GST_VIDEO_INFO_WIDTH(&self->info), GST_VIDEO_INFO_HEIGHT(&self->info),
                                        &params, &self->clip));
}

/* ---- Tokens ---- */

static void add_float(GValue *array, gfloat number) {
    GValue value = G_VALUE_INIT;
    g_value_init(&value, G_TYPE_FLOAT);
    g_value_set_float(&value, number);
    gst_value_array_append_and_take_value(array, &value);
}

static void add_int(GValue *array, gint number) {
    GValue value = G_VALUE_INIT;
    g_value_init(&value, G_TYPE_INT);
    g_value_set_int(&value, number);
    gst_value_array_append_and_take_value(array, &value);
}

/* Writes the tokens of a slot into a structure. `info` is that of the clip, in which the slot was decided last where there is motion. */
static void describe(const Texturevlm *self, GstStructure *structure, gint slot, const tvlm_clip_token *tokens, gint count,
                     const tvlm_clip_info *info) {
    static const gchar *const names[] = {"x", "y", "width", "height", "columns", "rows"};
    GValue arrays[G_N_ELEMENTS(names)] = {G_VALUE_INIT};
    gst_structure_set(structure, "slot", G_TYPE_INT, slot, "frame", G_TYPE_UINT64, (guint64)slot * self->used.slot, "tokens",
                      G_TYPE_INT, count, "lost", G_TYPE_DOUBLE, info->lost, NULL);
    for (guint i = 0; i < G_N_ELEMENTS(names); ++i) g_value_init(&arrays[i], GST_TYPE_ARRAY);
    for (gint i = 0; i < count; ++i) {
        add_float(&arrays[0], tokens[i].x);
        add_float(&arrays[1], tokens[i].y);
        add_float(&arrays[2], tokens[i].width);
        add_float(&arrays[3], tokens[i].height);
        add_int(&arrays[4], tokens[i].columns);
        add_int(&arrays[5], tokens[i].rows);
    }
    for (guint i = 0; i < G_N_ELEMENTS(names); ++i) gst_structure_take_value(structure, names[i], &arrays[i]);
    if (self->used.motion) {
        GValue motion = G_VALUE_INIT;
        g_value_init(&motion, GST_TYPE_ARRAY);
        for (guint i = 0; i < G_N_ELEMENTS(info->motion); ++i) add_float(&motion, info->motion[i]);
        gst_structure_take_value(structure, "motion", &motion);
    }
}

/* Posts the slots that were decided, and hands them on with the buffer, unless that is NULL. */
static gboolean tell(Texturevlm *self, GstBuffer *buffer) {
    gint32 count, first = 0;
    tvlm_clip_info info;
    const tvlm_clip_token *const tokens = tvlm_clip_tokens(self->clip, &count);
    if (!check(self, tvlm_clip_get_info(self->clip, &info))) return FALSE;
    for (; self->told < info.decided; ++self->told) {
        GstStructure *const structure = gst_structure_new_empty(NAME);
        gint own = 0;
        while (first + own < count && tokens[first + own].slot == self->told) ++own;
        describe(self, structure, self->told, tokens + first, own, &info);
        if (buffer != NULL) {
            GstCustomMeta *const meta = gst_buffer_add_custom_meta(buffer, NAME);
            describe(self, gst_custom_meta_get_structure(meta), self->told, tokens + first, own, &info);
        }
        gst_element_post_message(GST_ELEMENT(self), gst_message_new_element(GST_OBJECT(self), structure));
        first += own;
    }
    return TRUE;
}

/* Ends the present video. The tokens of slots that were not decided yet come as messages. */
static gboolean end(Texturevlm *self) {
    gboolean fine = TRUE;
    if (self->clip != NULL) fine = check(self, tvlm_clip_end(self->clip)) && tell(self, NULL);
    tvlm_clip_destroy(&self->clip);
    return fine;
}

/* ---- Frames ---- */

static gboolean set_caps(GstBaseTransform *base, GstCaps *in, GstCaps *out) {
    Texturevlm *const self = TEXTUREVLM_ELEMENT(base);
    (void)out;
    return end(self) && gst_video_info_from_caps(&self->info, in);
}

static GstFlowReturn transform_ip(GstBaseTransform *base, GstBuffer *buffer) {
    Texturevlm *const self = TEXTUREVLM_ELEMENT(base);
    GstVideoFrame frame;
    if (self->clip == NULL && !begin(self)) return GST_FLOW_ERROR;
    if (!gst_video_frame_map(&frame, &self->info, buffer, GST_MAP_READ)) {
        GST_ELEMENT_ERROR(self, RESOURCE, READ, ("a frame cannot be read"), (NULL));
        return GST_FLOW_ERROR;
    }
    const tvlm_image image = {.pixels = GST_VIDEO_FRAME_PLANE_DATA(&frame, 0),
                              .width = GST_VIDEO_FRAME_WIDTH(&frame),
                              .height = GST_VIDEO_FRAME_HEIGHT(&frame),
                              .channels = (gint32)GST_VIDEO_FRAME_N_COMPONENTS(&frame),
                              .row_stride = (size_t)GST_VIDEO_FRAME_PLANE_STRIDE(&frame, 0)};
    const tvlm_status status = tvlm_clip_push(self->clip, &image);
    gst_video_frame_unmap(&frame);
    return check(self, status) && tell(self, buffer) ? GST_FLOW_OK : GST_FLOW_ERROR;
}

static gboolean sink_event(GstBaseTransform *base, GstEvent *event) {
    Texturevlm *const self = TEXTUREVLM_ELEMENT(base);
    if (GST_EVENT_TYPE(event) == GST_EVENT_EOS) (void)end(self); /* an error is on the bus */
    if (GST_EVENT_TYPE(event) == GST_EVENT_FLUSH_STOP) tvlm_clip_destroy(&self->clip);
    return GST_BASE_TRANSFORM_CLASS(texturevlm_parent_class)->sink_event(base, event);
}

/* ---- The class ---- */

static void texturevlm_class_init(TexturevlmClass *class) {
    static const gchar *const tags[] = {GST_META_TAG_VIDEO_STR, GST_META_TAG_VIDEO_SIZE_STR, NULL};
    GObjectClass *const object = G_OBJECT_CLASS(class);
    GstElementClass *const element = GST_ELEMENT_CLASS(class);
    GstBaseTransformClass *const base = GST_BASE_TRANSFORM_CLASS(class);
    const gchar *own_tags[G_N_ELEMENTS(tags)];
    memcpy(own_tags, tags, sizeof tags);
    object->set_property = set_property;
    object->get_property = get_property;
    object->finalize = finalize;
    install_properties(object);
    gst_element_class_set_static_metadata(element, "texturevlm", "Filter/Analyzer/Video",
                                          "Finds what of a video a vision-language model should be given, within a budget of tokens",
                                          "the texturevlm project");
    gst_element_class_add_static_pad_template(element, &sink_template);
    gst_element_class_add_static_pad_template(element, &src_template);
    base->start = start;
    base->stop = stop;
    base->set_caps = set_caps;
    base->transform_ip = transform_ip;
    base->sink_event = sink_event;
    gst_meta_register_custom(NAME, own_tags, NULL, NULL, NULL);
}

static void texturevlm_init(Texturevlm *self) {
    self->settings = (settings){.share = 0.1, .patch = 16, .slot = 2};
    gst_base_transform_set_in_place(GST_BASE_TRANSFORM(self), TRUE);
    gst_base_transform_set_passthrough(GST_BASE_TRANSFORM(self), FALSE);
}

static gboolean plugin_init(GstPlugin *plugin) {
    GST_DEBUG_CATEGORY_INIT(category, "texturevlm", 0, "tokens of a video");
    return gst_element_register(plugin, "texturevlm", GST_RANK_NONE, TEXTUREVLM_TYPE);
}

/* GStreamer loads no plugin whose licence is not in its own list, which has no Apache-2.0; "unknown" is in it. */
#define PACKAGE "texturevlm"
GST_PLUGIN_DEFINE(GST_VERSION_MAJOR, GST_VERSION_MINOR, texturevlm, "Tokens of a video for vision-language models", plugin_init,
                  VERSION, GST_LICENSE_UNKNOWN, PACKAGE, PACKAGE)

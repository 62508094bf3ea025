/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lab/operations.h: what the lab asks of a backend beside the operations of the core (core/operations.h). Each
 * backend has a table of these, to which tvlm_backend.lab points. Only the lab calls them, so nothing misses
 * them in a build without it.
 */
#ifndef TVLM_LAB_OPERATIONS_H
#define TVLM_LAB_OPERATIONS_H

#include "core/backend.h"
#include "lab/attention.h"
#include "texturevlm/lab/network.h"

/* ---- Operands ---- */

/*
 * Gradients of samples of one image of a texture, in the layers from first_layer on, `layers` of them. All
 * components of these layers are reduced by MEAN, or nobody looks at them. `points` is host memory. The
 * `image` of all points is the same image of the texture.
 */
typedef struct tvlm_backward {
    const tvlm_texture *texture;
    int32_t first_layer, layers;
    const tvlm_point *points;
    int32_t count;
    tvlm_buffer *gradients; /* [count][4 * layers] floats: the gradients of what was sampled */
    tvlm_buffer
        *texels; /* [height][width][4 * layers] floats: becomes the gradient of level 0; NULL: not wanted */
    tvlm_buffer
        *steps; /* [count][4] floats: becomes the gradient of x, y and the level, and 0; NULL: not wanted */
} tvlm_backward;

/* Probes along a line that is centred on a point: the step from one probe to the next in pixels, and how many
 * probes there are. It has the layout of two float4. */
typedef struct tvlm_footprint_place {
    tvlm_point at;
    float step_x, step_y, probes, unused;
} tvlm_footprint_place;

/* ---- Operations ---- */

/* Finds the gradients of samples: tvlm_backward. The same bits come out of the same input on every run. */
typedef tvlm_status tvlm_sample_backward_operation(tvlm_device *device, const tvlm_backward *backward);

/* Averages the probes at each tvlm_footprint_place; `out` is laid out as for sample. */
typedef tvlm_status tvlm_footprint_operation(tvlm_device *device, const tvlm_bundle *bundle,
                                             const int32_t *refs, int32_t count4, tvlm_buffer *places,
                                             int32_t count, tvlm_buffer *out);

/* Makes attention over the vectors of grids: tvlm_attention says of what, and where the results go. */
typedef tvlm_status tvlm_attend_operation(tvlm_device *device, const tvlm_attention *attention);

/* Runs a network on the only image of a texture, whose channels it reads in order. The result is
 * planes[output][row][column], floats, of the size of the last layer (core/learned.h). */
typedef tvlm_status tvlm_network_operation(tvlm_device *device, const tvlm_network *network,
                                           const tvlm_texture *inputs, tvlm_buffer *planes);

/* ---- The list ---- */

/* X(name, test, row), as in core/operations.h. */
#define TVLM_LAB_OPERATIONS(X)                                                                               \
    X(sample_backward, "test_backward", "sample backward")                                                   \
    X(footprint, "test_footprint", "footprint 273")                                                          \
    X(network, "test_learned", "score by a network")                                                         \
    X(attend, "test_attend_reference", "attention")

struct tvlm_lab_operations {
#define TVLM_MEMBER(operation, ...) tvlm_##operation##_operation *operation;
    TVLM_LAB_OPERATIONS(TVLM_MEMBER)
#undef TVLM_MEMBER
};

#define TVLM_OF_BACKENDS(operation, ...)                                                                     \
    tvlm_##operation##_operation tvlm_opencl_##operation, tvlm_reference_##operation;
TVLM_LAB_OPERATIONS(TVLM_OF_BACKENDS)
#undef TVLM_OF_BACKENDS

/* The families that the lab makes. */
#define TVLM_OF_BACKENDS(ID, name, ...) tvlm_generate_operation tvlm_opencl_##name, tvlm_reference_##name;
TVLM_LAB_GRIDS(TVLM_OF_BACKENDS)
#undef TVLM_OF_BACKENDS

#endif

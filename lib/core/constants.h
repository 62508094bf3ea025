/* SPDX-License-Identifier: Apache-2.0 */
/*
 * constants.h: numbers that the kernels and the C reference share, each with its source. The file is compiled
 * as C11 and as OpenCL C 1.2, so it has nothing but preprocessor lines.
 */
#ifndef TVLM_CONSTANTS_H
#define TVLM_CONSTANTS_H

/* Luma of encoded values (ITU-R BT.601). */
#define TVLM_LUMA_R 0.299f
#define TVLM_LUMA_G 0.587f
#define TVLM_LUMA_B 0.114f

/* From encoded sRGB (IEC 61966-2-1) to linear light, then to XYZ divided by the D65 white, then to CIE L*a*b*
 * (CIE 15). The comment beside a number of XYZ shows it as an element of the matrix, divided by the white
 * where that is not 1. */
#define TVLM_SRGB_KNEE   0.04045f
#define TVLM_SRGB_SLOPE  12.92f
#define TVLM_SRGB_OFFSET 0.055f
#define TVLM_SRGB_GAMMA  2.4f
#define TVLM_XYZ_XR      0.43395292f /* 0.4124564 / 0.9504700 */
#define TVLM_XYZ_XG      0.37621942f /* 0.3575761 / 0.9504700 */
#define TVLM_XYZ_XB      0.18982783f /* 0.1804375 / 0.9504700 */
#define TVLM_XYZ_YR      0.2126729f
#define TVLM_XYZ_YG      0.7151522f
#define TVLM_XYZ_YB      0.0721750f
#define TVLM_XYZ_ZR      0.01775632f  /* 0.0193339 / 1.0888300 */
#define TVLM_XYZ_ZG      0.10946796f  /* 0.1191920 / 1.0888300 */
#define TVLM_XYZ_ZB      0.87277572f  /* 0.9503041 / 1.0888300 */
#define TVLM_LAB_EPSILON 0.008856452f /* (6/29)^3 */
#define TVLM_LAB_SLOPE   7.787037f    /* (29/6)^2 / 3 */
#define TVLM_LAB_OFFSET  0.13793103f  /* 4/29 */

/* The side of a cell in pixels, in every grid that has one texel for each cell (TVLM_SIZE_CELLS). */
#define TVLM_CELL 16

/* Entropy: a histogram of a cell's luma in 16 bins, which hold at most 4 bits. */
#define TVLM_ENTROPY_BINS 16
#define TVLM_ENTROPY_BITS 4.0f

/*
 * Centre-surround contrast (Itti, Koch & Niebur 1998). A texel of the quarter-size grid is compared at three
 * centre levels of the source, CENTRE_LEVEL and the two after it, each with a surround SURROUND_STEP levels
 * coarser. The difference is Euclidean in L*a*b*, over RANGE, the distance of black from white. A map whose
 * largest value is below FLOOR is flat: it holds rounding and no signal.
 */
#define TVLM_SALIENCY_SCALES        3
#define TVLM_SALIENCY_CENTRE_LEVEL  2
#define TVLM_SALIENCY_SURROUND_STEP 3
#define TVLM_SALIENCY_RANGE         100.0f
#define TVLM_SALIENCY_FLOOR         1e-3f

/*
 * What stands out from the image's border. It is found at the first level, from CENTRE_LEVEL on, whose longer
 * side is at most SIDE. Distances of colour are in L*a*b*. There are two cues:
 *
 *   - the cost of the cheapest path to the border (geodesic saliency: Wei, Wen, Zhu & Sun 2012). A step
 *     between texels costs the amount by which their colour difference exceeds STEP_FREE. Paths are found in
 *     ROUNDS passes down, up, right and left. A texel costs UNREACHED until a path to it is found.
 *   - the Mahalanobis distance from the colours along the border, the least over its four sides. The strip of
 *     colours along a side is one STRIP-th of the longer side deep. SPREAD is added to the variances of the
 *     colours, so that colours nearer than that count as one.
 *
 * Each cue is divided by its largest value in the image, or by its floor (PATH_FLOOR, BORDER_FLOOR) where
 * even the largest is smaller. The first cue has weight 1, the second BORDER_WEIGHT, and the mean contrast
 * CONTRAST_WEIGHT. Leave-one-out cross-validation on people's masks (bench/saliency.py) chooses these values
 * of STEP_FREE, SPREAD and BORDER_WEIGHT. For CONTRAST_WEIGHT it would choose 0, by 0.002 of AUC, but then
 * the map would show nothing finer than SIDE texels.
 */
#define TVLM_SALIENCY_SIDE            80
#define TVLM_SALIENCY_STRIP           10
#define TVLM_SALIENCY_SPREAD          2.5f
#define TVLM_SALIENCY_STEP_FREE       2.0f
#define TVLM_SALIENCY_ROUNDS          2
#define TVLM_SALIENCY_UNREACHED       1e30f
#define TVLM_SALIENCY_PATH_FLOOR      10.0f
#define TVLM_SALIENCY_BORDER_FLOOR    1.0f
#define TVLM_SALIENCY_BORDER_WEIGHT   1.0f
#define TVLM_SALIENCY_CONTRAST_WEIGHT 0.25f

/* Distance: a pixel is an edge pixel if it is on a ridge of the channel `edges` that is above EDGE. The
 * distance is divided by max(W, H) / SHARE. */
#define TVLM_DISTANCE_EDGE  0.25f
#define TVLM_DISTANCE_SHARE 8.0f

/* Fixation: a Gaussian counts as 0 beyond this many sigmas, where it would be 4e-6. */
#define TVLM_FIXATION_REACH 5.0f

/* The level at which the temporal channels read the image: the log2 of TVLM_CELL. */
#define TVLM_TEMPORAL_LEVEL 4.0f

/* When vectors are moved into the next frame, each is interpolated between the cells around its old place. A
 * cell gets a vector if those old cells that have one carry at least this share of the filter's weights. */
#define TVLM_WARP_SHARE 0.5f

/*
 * Regions. Colours are L*a*b* in whole steps, LAB_STEPS to a unit, packed into 32 bits as L << 22 | a << 11 |
 * b. a and b count from LAB_ZERO. What is made from them is in whole numbers, and therefore the same on every
 * device.
 *
 * SLIC (Achanta, Shaji, Smith, Lucchi, Fua & Suesstrunk 2012) takes COARSE_PASSES passes on level 1 if its
 * cells have a side of COARSE_SIDE pixels or more, else on level 0, and then FULL_PASSES on level 0. This
 * measures as well as ten passes on level 0. A pixel's candidates are the centres of its cell and of the
 * eight around it.
 *
 * MAX is the largest number of regions; their numbers, up to 2047, are exact in half. Centroids are kept to 1
 * / PLACES of a pixel, and mean colours to 1 / TINTS of a step. SUMS is the number of words of a region's
 * sums (cl/regions.clh).
 */
#define TVLM_LAB_STEPS             8.0f
#define TVLM_LAB_ZERO              1024
#define TVLM_CLUSTER_MAX           2048
#define TVLM_CLUSTER_COARSE_PASSES 4
#define TVLM_CLUSTER_FULL_PASSES   2
#define TVLM_CLUSTER_COARSE_SIDE   16
#define TVLM_CLUSTER_SUMS          20
#define TVLM_CLUSTER_PLACES        256
#define TVLM_CLUSTER_TINTS         16
#define TVLM_CLUSTER_NONE          0x7fffffff

/* The table of regions. WORDS is the size of a tvlm_region in words. Before the first region stand HEADER
 * words: how many regions there are, 1 if their labels were handed in, 0, 0. */
#define TVLM_REGION_WORDS  16
#define TVLM_REGION_HEADER 4

/*
 * Boundaries of regions. A pixel lies on one if it is on a ridge of the colour gradient m (L*a*b* units a
 * pixel, of the binomial 3x3 filter and Sobel's) and
 *
 *     (m / (TEXTURE + e))^2 c > STRENGTH^2
 *
 * where e is the mean of m in the region. c is the difference of the mean colours on the two sides, in L*a*b*.
 * Each mean is over nine pixels TAP apart, around a point FAR pixels away (DIAGONAL in x and in y where the
 * gradient is diagonal). m is kept in STEPS of a unit. Measured on people's boundaries (bench/cluster.py),
 * these values lie on a wide plateau.
 */
#define TVLM_BOUNDARY_STEPS    256.0f
#define TVLM_BOUNDARY_TEXTURE  2.0f
#define TVLM_BOUNDARY_STRENGTH 6.0f
#define TVLM_BOUNDARY_FAR      7
#define TVLM_BOUNDARY_DIAGONAL 5
#define TVLM_BOUNDARY_TAP      3

/*
 * Text: strokes along x on four levels of the source, so that words of some 8 to 220 pixels are found. Luma
 * is in whole STEPS. Six sums are taken over blocks of BLOCK x BLOCK pixels:
 *
 *   - thin strokes (at most THIN pixels) that are bright, and thin strokes that are dark. A stroke counts
 *     with the amount by which the differences of luma across a pixel exceed FLOOR;
 *   - rises of luma, and falls of luma;
 *   - luma, and its square.
 *
 * A block is text where, in the window of RX blocks to each side and RY above and below (AREA pixels),
 *
 *     thin > STRENGTH (quiet + QUIET)^2 contrast
 *
 *   - thin is the lesser of bright and dark strokes.
 *   - contrast is the standard deviation of luma. The square of CONTRAST is added to the variance, for flat
 *     windows.
 *   - quiet is the least value of several places. The value of a place is the lesser of its rises and its
 *     falls. Places are the windows APART blocks above and below, and single rows of blocks, GAP_FIRST to
 *     GAP_LAST blocks above and below. The value of a row is multiplied by GAP. Such a row may be the gap
 *     between two lines. Without these rows pages of text would not be found.
 *
 * Marked blocks then grow by GROW_X and GROW_Y blocks. Leave-one-out cross-validation chooses these values,
 * on a wide plateau (bench/text.py).
 */
#define TVLM_TEXT_LEVELS    4
#define TVLM_TEXT_STEPS     1023
#define TVLM_TEXT_BLOCK     4
#define TVLM_TEXT_FLOOR     25
#define TVLM_TEXT_THIN      4
#define TVLM_TEXT_RX        3
#define TVLM_TEXT_RY        1
#define TVLM_TEXT_AREA      336
#define TVLM_TEXT_APART     6
#define TVLM_TEXT_GAP_FIRST 2
#define TVLM_TEXT_GAP_LAST  3
#define TVLM_TEXT_GAP       1.5f
#define TVLM_TEXT_QUIET     0.008f
#define TVLM_TEXT_CONTRAST  0.01f
#define TVLM_TEXT_STRENGTH  713.0f
#define TVLM_TEXT_GROW_X    2
#define TVLM_TEXT_GROW_Y    1

/* The numbers of the six sums. */
#define TVLM_TEXT_BRIGHT 0
#define TVLM_TEXT_DARK   1
#define TVLM_TEXT_RISE   2
#define TVLM_TEXT_FALL   3
#define TVLM_TEXT_LUMA   4
#define TVLM_TEXT_SQUARE 5
#define TVLM_TEXT_SUMS   6

/*
 * Optical flow: inverse-compositional patches (Baker & Matthews 2004) and densification as in DIS (Kroeger,
 * Timofte, Dai & Van Gool 2016), then the variational refinement of Brox, Bruhn, Papenberg & Weickert (2004)
 * with normalised constraints (Zimmer, Bruhn & Weickert 2011), solved by Chebyshev's semi-iteration over
 * Jacobi's (Golub & Varga 1961). Lengths are in texels of the level at hand. The values are chosen on the
 * three pairs of bench/flow.py, and lie on wide plateaus.
 *
 * Levels: a plane has PAD texels of replicated border. The coarsest level is the last one whose longer side
 * is at least COARSE.
 *
 * Patches of PATCH x PATCH texels stand STRIDE apart:
 *
 *   - A patch starts from the coarser level's flow at its centre, or SPREAD to one of the four sides.
 *   - It takes up to STEPS Gauss-Newton steps as long as its error falls, and up to FIRST at the coarsest
 *     level, where it begins at rest.
 *   - An error counts as better than the least so far if it is below GAIN times that, less NOTHING. Without
 *     this margin rounding would decide where there is no texture.
 *   - REGULAR, and CONDITION times the trace, are added to the diagonal of a patch's Hessian (luma in [0,
 *     1]), so that float can tell the determinant of a straight edge from 0.
 *   - Where patches are weighted by the inverse of a texel's difference, that difference is at least FLOOR.
 *
 * The refinement counts luma in units of 1 / LUMA:
 *
 *   - SMOOTH, GRADIENT and BRIGHTNESS are the weights of its three terms.
 *   - ZETA keeps the normalisation finite. EPSILON is the constant of the robust norm. Both are squares
 *     already.
 *   - It is done REFINEMENTS times. Each has SWEEPS sweeps, which assume a spectral radius of RADIUS.
 */
#define TVLM_FLOW_PATCH       8
#define TVLM_FLOW_STRIDE      4
#define TVLM_FLOW_PAD         16
#define TVLM_FLOW_COARSE      24
#define TVLM_FLOW_SPREAD      12.0f
#define TVLM_FLOW_STEPS       3
#define TVLM_FLOW_FIRST       12
#define TVLM_FLOW_REGULAR     1e-4f
#define TVLM_FLOW_CONDITION   1e-3f
#define TVLM_FLOW_GAIN        0.9999f
#define TVLM_FLOW_NOTHING     1e-8f
#define TVLM_FLOW_FLOOR       1.2e-3f
#define TVLM_FLOW_LUMA        255.0f
#define TVLM_FLOW_SMOOTH      20.0f
#define TVLM_FLOW_GRADIENT    10.0f
#define TVLM_FLOW_BRIGHTNESS  5.0f
#define TVLM_FLOW_ZETA        1e-2f
#define TVLM_FLOW_EPSILON     1e-6f
#define TVLM_FLOW_SWEEPS      8
#define TVLM_FLOW_RADIUS      0.99f
#define TVLM_FLOW_REFINEMENTS 4

/*
 * The confidence of a flow vector f is the product of two factors:
 *
 *     1 / (1 + e^2 / (RELATIVE (|f|^2 + |b|^2) + ABSOLUTE))
 *     1 / (1 + r^2 / (TEXTURE variance + NOISE))
 *
 * b is the flow back from where f leads, and e = |f + b|, all in pixels of level 0. The first factor is a
 * half where Sundaram, Brox & Keutzer (2010) call a point occluded. r^2 is the mean square of luma's
 * difference along the flow. The variance is that of luma. Both are taken over (2 WINDOW + 1)^2 texels.
 */
#define TVLM_FLOW_RELATIVE 0.01f
#define TVLM_FLOW_ABSOLUTE 0.5f
#define TVLM_FLOW_TEXTURE  0.25f
#define TVLM_FLOW_NOISE    1e-3f
#define TVLM_FLOW_WINDOW   2

/*
 * The weights of the built-in scores, and the gain of the edges. A part of a score whose values span less
 * than FLOOR is equal everywhere but for rounding.
 */
#define TVLM_SCORE_ENTROPY      0.5f
#define TVLM_SCORE_EDGES        0.5f
#define TVLM_SCORE_EDGES_GAIN   4.0f
#define TVLM_SCORE_SALIENCY     0.7f
#define TVLM_SCORE_ECCENTRICITY 0.3f
#define TVLM_SCORE_FLOOR        1e-5f

/*
 * Footprints (anisotropic filtering). RATIO is the largest ratio of the two axes; graphics hardware has the
 * same limit. There are PROBES probes for each unit of the ratio, and they read BIAS levels from the level of
 * the shorter axis. Both numbers were measured (test_footprint_stack). The direction of a footprint is noise
 * where gradients are weaker than FLOOR, in luma between two samples.
 */
#define TVLM_FOOTPRINT_RATIO  16
#define TVLM_FOOTPRINT_PROBES 1
#define TVLM_FOOTPRINT_BIAS   (-0.5f)
#define TVLM_FOOTPRINT_FLOOR  0.01f

/*
 * What is done to the values of a grid that is handed in (tvlm_input):
 *
 *   - CLAMP clamps each component to its range.
 *   - UNIT scales the vector of all channels of a cell to unit length.
 *   - BINARY makes values 1 from a half on, and 0 below.
 */
#define TVLM_INPUT_CLAMP  0
#define TVLM_INPUT_UNIT   1
#define TVLM_INPUT_BINARY 2

/* The layout of a tvlm_position (texturevlm/select.h) in memory: how many words of 32 bits it has, and which
 * word holds what. */
#define TVLM_POSITION_WORDS  12
#define TVLM_POSITION_X      0
#define TVLM_POSITION_Y      1
#define TVLM_POSITION_LEVEL  2
#define TVLM_POSITION_SCORE  3
#define TVLM_POSITION_SIZE   4
#define TVLM_POSITION_COLUMN 5
#define TVLM_POSITION_ROW    6 /* the words behind it are 0 where the position is a cell */
#define TVLM_POSITION_HEIGHT 7

/* Takes the place of the index of the first value that is not finite, if all values are finite. */
#define TVLM_INPUT_NONE 0x7fffffff

/*
 * The encoder's vectors. Components beyond LIMIT are clamped, so that their squares stay finite in float. A
 * vector shorter than FLOOR is the zero vector, whatever a device makes of numbers that small.
 */
#define TVLM_FEATURE_LIMIT 1e15f
#define TVLM_FEATURE_FLOOR 1e-15f

/* Networks: the activations, numbered as in tvlm_activation, and the largest magnitude that an output is
 * stored with. In half that is the largest number of the format. */
#define TVLM_NETWORK_RELU       1
#define TVLM_NETWORK_SIGMOID    2
#define TVLM_NETWORK_LIMIT      1e15f
#define TVLM_NETWORK_LIMIT_HALF 65504.0f

/* What becomes of several similarities of a cell: each is a channel of its own, or their largest or their
 * mean is one channel. */
#define TVLM_MAPS_EACH 0
#define TVLM_MAPS_MAX  1
#define TVLM_MAPS_MEAN 2

/* An average of unit vectors that is shorter than this has no direction, since the vectors cancel out. It is
 * read as 0. */
#define TVLM_UNIT_FLOOR 1e-3f

/*
 * Occlusion from depth marks the far side of a step in depth. It goes from 0 to 1 while the share by which a
 * texel is farther away than its neighbour goes from STEP to FULL. A plane that continues on the texel's
 * other side is no step; it is told apart by 1 / depth, which is linear on planes.
 */
#define TVLM_SCENE_STEP 0.05f
#define TVLM_SCENE_FULL 0.25f

/* How each component of a level is made from the level before. GAUSSIAN first smooths the level before by the
 * binomial (1 2 1) / 4 along both axes, with edges repeated, and then takes the mean. */
#define TVLM_REDUCE_MEAN     0
#define TVLM_REDUCE_MAX      1
#define TVLM_REDUCE_MIN      2
#define TVLM_REDUCE_MODE     3
#define TVLM_REDUCE_GAUSSIAN 4

/*
 * A reference to a channel, in the form in which kernels that read many textures get it (cl/bundle.clh):
 * texture in the bundle, layer and component in one int.
 *
 *   - Texture TVLM_BUNDLE_FORMULA stands for the position channels, which are computed. Its layer 0 has x, y
 *     and eccentricity. From layer TVLM_FORMULA_ROPE on, each layer has the four channels of one frequency of
 *     rotary positions.
 *   - A reference below 0 is a channel that is 0 everywhere.
 *   - Some channels belong to a vector that is scaled to unit length. TVLM_REF_UNIT(layers) is added to the
 *     reference of such a channel, where `layers` is the number of the vector's layers. For all other
 *     channels TVLM_REF_LAYERS is 0.
 */
#define TVLM_BUNDLE_MAX                     16
#define TVLM_BUNDLE_FORMULA                 31
#define TVLM_FORMULA_ROPE                   1
#define TVLM_REF_ZERO                       (-1)
#define TVLM_REF(texture, layer, component) (((texture) << 16) | ((layer) << 2) | (component))
#define TVLM_REF_UNIT(layers)               ((layers) << 21)
#define TVLM_REF_TEXTURE(ref)               (((ref) >> 16) & 31)
#define TVLM_REF_LAYERS(ref)                (((ref) >> 21) & 31)
#define TVLM_REF_LAYER(ref)                 (((ref) >> 2) & 0x3fff)
#define TVLM_REF_COMPONENT(ref)             ((ref)&3)

/* Scoring programs (tvlm_score_group in operands.h): the taps of a layer, and the parts of a score. */
#define TVLM_SCORE_TAPS  9
#define TVLM_SCORE_PARTS 3

/* Resizing for encoders: weights are whole numbers of 2^-BITS, as in Pillow's 8-bit resampling. HEAD ints
 * stand before the weights of a place: the first source place, and how many there are. */
#define TVLM_RESIZE_BITS 22
#define TVLM_RESIZE_HEAD 2

/*
 * Budgets: pictures and what they lose of each tile (lib/core/budget.h).
 *
 *   - A picture is PICTURE ints for kernels, at the places below.
 *   - HEAD floats stand before the weights of a place: the first source place, and how many there are.
 *   - A tile has BLOCKS x BLOCKS blocks. A window is WINDOW x WINDOW of them. There is a window at each block
 *     from which one fits into the tile.
 *
 * The second loss is about detail (doc/ideas.md):
 *
 *   - A variance below FLOOR is noise. A variance of SEEN counts half. Both are variances of values in [0, 1];
 *     of bytes they are 2 and 50.
 *   - A window of 8 pixels is read half of the time where its correlation is LEGIBLE. That correlation is
 *     higher by WIDER for each doubling of the window's side.
 *   - At a correlation that is higher by SOFT, the odds that the window is read are e to 1.
 */
#define TVLM_BUDGET_PICTURE   16
#define TVLM_BUDGET_WIDTH     0
#define TVLM_BUDGET_HEIGHT    1
#define TVLM_BUDGET_FROM      2
#define TVLM_BUDGET_REDUCE_X  4
#define TVLM_BUDGET_REDUCE_Y  6
#define TVLM_BUDGET_ENLARGE_X 8
#define TVLM_BUDGET_ENLARGE_Y 10
#define TVLM_BUDGET_BETWEEN   12
#define TVLM_BUDGET_TEXELS    13
#define TVLM_BUDGET_HEAD      2
/* How far apart lines of `length` values lie: a whole number of vectors of 16 values, and an odd number of
 * them. Lines that lie a power of 2 apart would share few places of a cache. */
#define TVLM_BUDGET_LINE(length)   ((((length) + 15) / 16 | 1) * 16)
#define TVLM_BUDGET_BLOCKS         4
#define TVLM_BUDGET_EDGE(b, patch) ((b) * (patch) / TVLM_BUDGET_BLOCKS)
#define TVLM_BUDGET_WINDOW         2
/* How many floats are known of a tile, whatever the picture (cl/losses.cl). */
#define TVLM_BUDGET_KNOWN (3 * TVLM_BUDGET_BLOCKS * TVLM_BUDGET_BLOCKS + 3)
/* Kernels read up to so many floats behind the last texel, and do not use them. They read whole runs, and the columns of a tile
 * in whole vectors. */
#define TVLM_BUDGET_BEYOND  32
#define TVLM_BUDGET_FLOOR   3.076e-5f
#define TVLM_BUDGET_SEEN    7.689e-4f
#define TVLM_BUDGET_LEGIBLE 0.60f
#define TVLM_BUDGET_WIDER   0.05f
#define TVLM_BUDGET_SOFT    0.09f

/* Ink: what is seen at level LEVEL of the source, in BYTES bytes for each texel. */
#define TVLM_INK_LEVEL 2
#define TVLM_INK_BYTES 4

/* The type of the pixels' components. */
#define TVLM_PIXELS_U8  0
#define TVLM_PIXELS_U16 1
#define TVLM_PIXELS_F32 2

#endif

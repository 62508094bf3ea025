/* SPDX-License-Identifier: Apache-2.0 */
/*
 * constants.h: numbers that the kernels and the C reference share. Compiled as C11 and as OpenCL C 1.2:
 * nothing but the preprocessor in here. Each number's source stands beside it.
 */
#ifndef TVLM_CONSTANTS_H
#define TVLM_CONSTANTS_H

/* Luma of encoded values (ITU-R BT.601). */
#define TVLM_LUMA_R 0.299f
#define TVLM_LUMA_G 0.587f
#define TVLM_LUMA_B 0.114f

/* sRGB (IEC 61966-2-1) to linear, to XYZ divided by the D65 white, to CIE L*a*b* (CIE 15). */
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

/* Entropy: Y in 16 bins over cells of 16 x 16 pixels; 4 bits is the most 16 bins can hold. */
#define TVLM_ENTROPY_BINS 16
#define TVLM_ENTROPY_CELL 16
#define TVLM_ENTROPY_BITS 4.0f

/*
 * Centre-surround (Itti, Koch & Niebur 1998): a texel of the quarter-size grid at three centre levels of the
 * source, each against a surround this many levels coarser. The difference is Euclidean in L*a*b*, over the
 * distance of black from white.
 */
#define TVLM_SALIENCY_SCALES        3
#define TVLM_SALIENCY_CENTRE_LEVEL  2 /* fine; mid and coarse one more each */
#define TVLM_SALIENCY_SURROUND_STEP 3
#define TVLM_SALIENCY_RANGE         100.0f
#define TVLM_SALIENCY_FLOOR                                                                                  \
    1e-3f /* an image whose largest contrast is below it is flat: rounding, no signal */

/*
 * What stands out from the image's border, at the first of these levels of which no side is longer than SIDE:
 * the cost of the cheapest path to the border (geodesic saliency: Wei, Wen, Zhu & Sun 2012), and the distance
 * from the colours along it (Mahalanobis; the least over the four sides). Each over its largest in the image,
 * or over its floor where even the largest is small. Distances of colour in L*a*b*. Of STEP_FREE, SPREAD and
 * BORDER_WEIGHT leave-one-out on people's masks chooses these values (bench/saliency.py); of CONTRAST_WEIGHT
 * it would choose 0, by 0.002 of AUC, but then nothing finer than SIDE texels were left in the map.
 */
#define TVLM_SALIENCY_SIDE 80
#define TVLM_SALIENCY_STRIP                                                                                  \
    10 /* a tenth of the longer side: how deep the strip of colours along a side is                          \
        */
#define TVLM_SALIENCY_SPREAD          2.5f /* added to their variances: colours nearer than that are one colour */
#define TVLM_SALIENCY_STEP_FREE       2.0f /* a step between texels costs what its difference exceeds this by */
#define TVLM_SALIENCY_ROUNDS          2    /* of passes down, up, right and left */
#define TVLM_SALIENCY_UNREACHED       1e30f /* before a path is found */
#define TVLM_SALIENCY_PATH_FLOOR      10.0f
#define TVLM_SALIENCY_BORDER_FLOOR    1.0f
#define TVLM_SALIENCY_BORDER_WEIGHT   1.0f /* beside 1 for the path */
#define TVLM_SALIENCY_CONTRAST_WEIGHT 0.25f

/* Distance: ridges of `edges` above this are edge pixels; the distance is over max(W, H) /
 * TVLM_DISTANCE_SHARE. */
#define TVLM_DISTANCE_EDGE  0.25f
#define TVLM_DISTANCE_SHARE 8.0f

/* Fixation: what is beyond so many sigmas of a Gaussian (4e-6) is 0. Temporal cells; the level of the image
 * they read. */
#define TVLM_FIXATION_REACH 5.0f
#define TVLM_TEMPORAL_CELL  TVLM_ENTROPY_CELL
#define TVLM_TEMPORAL_LEVEL 4.0f /* log2 of a cell's side */

/* Vectors moved into the next frame: a cell has one where cells that had one weigh so much in the filter. */
#define TVLM_WARP_SHARE 0.5f

/*
 * Regions. Colours are L*a*b* in whole steps packed into 32 bits, L << 22 | a << 11 | b (a and b from
 * TVLM_LAB_ZERO), so that all that follows is the same on every device. SLIC (Achanta et al. 2012): passes on
 * level 1, where its cells have this side or more, then on level 0; four and two measure as well as ten on
 * level 0. A pixel's candidates are the centres of its cell and of the eight around it.
 */
#define TVLM_LAB_STEPS             8.0f
#define TVLM_LAB_ZERO              1024
#define TVLM_CLUSTER_MAX           2048 /* regions; ids up to 2047 are exact in half */
#define TVLM_CLUSTER_COARSE_PASSES 4
#define TVLM_CLUSTER_FULL_PASSES   2
#define TVLM_CLUSTER_COARSE_SIDE   16  /* pixels */
#define TVLM_CLUSTER_SUMS          20  /* words of a region's sums: cl/regions.clh */
#define TVLM_CLUSTER_PLACES        256 /* steps of a pixel to which centroids are kept */
#define TVLM_CLUSTER_TINTS         16  /* steps of a colour step to which means are kept */
#define TVLM_CLUSTER_NONE          0x7fffffff
#define TVLM_REGION_WORDS          12 /* tvlm_region */
#define TVLM_REGION_HEADER         4  /* words before an image's table: count, handed in, 0, 0 */

/*
 * boundary: on a ridge of the colour gradient m (L*a*b* a pixel; binomial 3x3, Sobel) where what lies on both
 * sides, nine taps TAP apart around points FAR (diagonally DIAGONAL) pixels away, differs by c: (m / (TEXTURE
 * + e))^2 c > STRENGTH^2, e the mean of m in the region. Measured on people's boundaries (bench/cluster.py):
 * a wide plateau.
 */
#define TVLM_BOUNDARY_STEPS    256.0f /* of m */
#define TVLM_BOUNDARY_TEXTURE  2.0f
#define TVLM_BOUNDARY_STRENGTH 6.0f
#define TVLM_BOUNDARY_FAR      7
#define TVLM_BOUNDARY_DIAGONAL 5
#define TVLM_BOUNDARY_TAP      3

/*
 * Text: strokes along x on four levels of the source, so that words of some 8 to 220 pixels are in reach.
 * Sums over blocks of BLOCK x BLOCK pixels: thin strokes (at most THIN pixels) that are bright and dark,
 * rises and falls, luma and its square. A window (RX, RY blocks about one) is text where thin > STRENGTH
 * (quiet + QUIET)^2 contrast: thin the lesser of bright and dark, contrast the deviation of luma, quiet the
 * lesser of rises and falls where that is least: in the windows APART blocks above and below, or, GAP times,
 * in a row of blocks that may lie between two lines (GAP_FIRST to GAP_LAST blocks away; else pages of text
 * would be none). Chosen by leave-one-out, on a wide plateau (bench/text.py).
 */
#define TVLM_TEXT_LEVELS    4
#define TVLM_TEXT_STEPS     1023 /* of luma */
#define TVLM_TEXT_BLOCK     4
#define TVLM_TEXT_FLOOR     25 /* steps; differences across a pixel count from here on */
#define TVLM_TEXT_THIN      4
#define TVLM_TEXT_RX        3
#define TVLM_TEXT_RY        1
#define TVLM_TEXT_AREA      336 /* pixels of a window */
#define TVLM_TEXT_APART     6
#define TVLM_TEXT_GAP_FIRST 2
#define TVLM_TEXT_GAP_LAST  3
#define TVLM_TEXT_GAP       1.5f
#define TVLM_TEXT_QUIET     0.008f
#define TVLM_TEXT_CONTRAST  0.01f /* the deviation of a flat window */
#define TVLM_TEXT_STRENGTH  713.0f
#define TVLM_TEXT_GROW_X    2 /* blocks by which marked ones grow */
#define TVLM_TEXT_GROW_Y    1
#define TVLM_TEXT_BRIGHT    0 /* the sums */
#define TVLM_TEXT_DARK      1
#define TVLM_TEXT_RISE      2
#define TVLM_TEXT_FALL      3
#define TVLM_TEXT_LUMA      4
#define TVLM_TEXT_SQUARE    5
#define TVLM_TEXT_SUMS      6

/*
 * Optical flow: inverse-compositional patches (Baker & Matthews 2004) and densification as in DIS (Kroeger,
 * Timofte, Dai & Van Gool 2016), then the variational refinement of Brox, Bruhn, Papenberg & Weickert (2004)
 * with normalised constraints (Zimmer, Bruhn & Weickert 2011), solved by Chebyshev's semi-iteration over
 * Jacobi's (Golub & Varga 1961). Lengths in texels of the level at hand. Chosen on the three pairs of
 * bench/flow.py, on wide plateaus.
 */
#define TVLM_FLOW_PATCH   8
#define TVLM_FLOW_STRIDE  4
#define TVLM_FLOW_PAD     16    /* texels of replicated border around each plane */
#define TVLM_FLOW_COARSE  24    /* the longer side of the coarsest level is at least this */
#define TVLM_FLOW_SPREAD  12.0f /* where a patch also looks for its start: so far to each side */
#define TVLM_FLOW_STEPS   3     /* Gauss-Newton steps of a patch, as long as its error falls */
#define TVLM_FLOW_FIRST   12    /* the same at the coarsest level, where patches begin from 0 */
#define TVLM_FLOW_REGULAR 1e-4f /* added to a patch's Hessian; luma in [0, 1] */
#define TVLM_FLOW_CONDITION                                                                                  \
    1e-3f /* and so much of its trace: float can tell the determinant of edges from 0 */
#define TVLM_FLOW_GAIN        0.9999f /* an error is better below this share of the least, less NOTHING: */
#define TVLM_FLOW_NOTHING     1e-8f   /* otherwise rounding decides where there is no texture */
#define TVLM_FLOW_FLOOR       1.2e-3f /* of a texel's difference, when patches are weighted by its inverse */
#define TVLM_FLOW_LUMA        255.0f  /* the refinement's unit of luma */
#define TVLM_FLOW_SMOOTH      20.0f   /* weights: smoothness, gradients, brightness */
#define TVLM_FLOW_GRADIENT    10.0f
#define TVLM_FLOW_BRIGHTNESS  5.0f
#define TVLM_FLOW_ZETA        1e-2f /* squared; keeps the normalisation finite */
#define TVLM_FLOW_EPSILON     1e-6f /* squared; of the robust norm */
#define TVLM_FLOW_SWEEPS      8
#define TVLM_FLOW_RADIUS      0.99f /* the spectral radius that the semi-iteration reckons with */
#define TVLM_FLOW_REFINEMENTS 4
/*
 * Confidence: 1 / (1 + e^2 / (RELATIVE (|f|^2 + |b|^2) + ABSOLUTE)), e the forward-backward error in pixels
 * of level 0 (a half where Sundaram, Brox & Keutzer 2010 call a point occluded), times 1 / (1 + r^2 /
 * (TEXTURE variance + NOISE)), r^2 the mean square of luma's difference along the flow and the variance of
 * luma, both over (2 WINDOW + 1)^2 texels.
 */
#define TVLM_FLOW_RELATIVE 0.01f
#define TVLM_FLOW_ABSOLUTE 0.5f
#define TVLM_FLOW_TEXTURE  0.25f
#define TVLM_FLOW_NOISE    1e-3f
#define TVLM_FLOW_WINDOW   2

/* Scores (CHANNELS.md). */
#define TVLM_SCORE_ENTROPY      0.5f
#define TVLM_SCORE_EDGES        0.5f
#define TVLM_SCORE_EDGES_GAIN   4.0f
#define TVLM_SCORE_SALIENCY     0.7f
#define TVLM_SCORE_ECCENTRICITY 0.3f
#define TVLM_SCORE_FLOOR        1e-5f /* a part that spans less is equal everywhere, but for rounding */

/*
 * Footprints: the longest ratio of axes (what graphics hardware does); probes for a ratio of 1, and how far
 * below the level of the shorter axis they read, by measurement (test_footprint). The strength of gradients,
 * as steps of luma between two samples, below which a direction is noise.
 */
#define TVLM_FOOTPRINT_RATIO  16
#define TVLM_FOOTPRINT_PROBES 1
#define TVLM_FOOTPRINT_BIAS   (-0.5f)
#define TVLM_FOOTPRINT_FLOOR  0.01f

/* What becomes of a grid handed in (tvlm_input). */
#define TVLM_INPUT_CLAMP  0          /* each component to its range */
#define TVLM_INPUT_UNIT   1          /* all channels of a cell are one vector: to unit length */
#define TVLM_INPUT_BINARY 2          /* 1 from a half on, 0 below */
#define TVLM_INPUT_NONE   0x7fffffff /* every value is finite */

/*
 * The encoder's vectors: components beyond LIMIT are clamped, so that their squares stay finite in float; a
 * vector shorter than FLOOR is the zero vector, whatever a device makes of numbers that small.
 */
#define TVLM_FEATURE_LIMIT 1e15f
#define TVLM_FEATURE_FLOOR 1e-15f

/* What becomes of several similarities of a cell. */
#define TVLM_MAPS_EACH 0 /* each is a channel of its own */
#define TVLM_MAPS_MAX  1
#define TVLM_MAPS_MEAN 2

/* A vector shorter than this has no direction (unit vectors that cancel out): it stays 0 when it is read. */
#define TVLM_UNIT_FLOOR 1e-3f

/*
 * Occlusion from depth: the farther side of a step. The share by which a texel is farther than its neighbour,
 * less what goes on beyond it (1 / depth is linear on planes): none up to STEP, full from FULL on.
 */
#define TVLM_SCENE_STEP 0.05f
#define TVLM_SCENE_FULL 0.25f

/* How one level follows from the last; per component. */
#define TVLM_REDUCE_MEAN 0
#define TVLM_REDUCE_MAX  1
#define TVLM_REDUCE_MIN  2
#define TVLM_REDUCE_MODE 3

/*
 * A channel reference, as readers of several families get it: texture in the bundle, layer and component in
 * one int. The formula (position) stands where a texture would; below 0 is a channel that is 0.
 */
#define TVLM_BUNDLE_MAX                     16
#define TVLM_BUNDLE_FORMULA                 31
#define TVLM_REF_ZERO                       (-1)
#define TVLM_REF(texture, layer, component) (((texture) << 16) | ((layer) << 2) | (component))
#define TVLM_REF_UNIT(layers)               ((layers) << 21) /* added: one of a vector of so many layers, made unit */
#define TVLM_REF_TEXTURE(ref)               (((ref) >> 16) & 31)
#define TVLM_REF_LAYERS(ref)                (((ref) >> 21) & 31) /* of such a vector; 0: it is none */
#define TVLM_REF_LAYER(ref)                 (((ref) >> 2) & 0x3fff)
#define TVLM_REF_COMPONENT(ref)             ((ref)&3)

/* Scoring programs: see tvlm_score_group in backend.h. */
#define TVLM_SCORE_TAPS  9
#define TVLM_SCORE_PARTS 3

/* Resizing for encoders: weights are whole numbers of 2^-BITS, as Pillow's 8-bit resampling has them. */
#define TVLM_RESIZE_BITS 22
#define TVLM_RESIZE_HEAD 2 /* ints before the weights: first source pixel, how many */

/* The pixels handed in. */
#define TVLM_PIXELS_U8  0
#define TVLM_PIXELS_U16 1
#define TVLM_PIXELS_F32 2

#endif

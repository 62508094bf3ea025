/*
 * constants.h: numbers that the kernels and the C reference share. Compiled as C11 and as OpenCL C 1.2: nothing but
 * the preprocessor in here. Each number's source stands beside it.
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
#define TVLM_XYZ_ZR      0.01775632f /* 0.0193339 / 1.0888300 */
#define TVLM_XYZ_ZG      0.10946796f /* 0.1191920 / 1.0888300 */
#define TVLM_XYZ_ZB      0.87277572f /* 0.9503041 / 1.0888300 */
#define TVLM_LAB_EPSILON 0.008856452f /* (6/29)^3 */
#define TVLM_LAB_SLOPE   7.787037f    /* (29/6)^2 / 3 */
#define TVLM_LAB_OFFSET  0.13793103f  /* 4/29 */

/* Entropy: Y in 16 bins over cells of 16 x 16 pixels; 4 bits is the most 16 bins can hold. */
#define TVLM_ENTROPY_BINS 16
#define TVLM_ENTROPY_CELL 16
#define TVLM_ENTROPY_BITS 4.0f

/*
 * Centre-surround (Itti, Koch & Niebur 1998): a texel of the quarter-size grid at three centre levels of the source,
 * each against a surround this many levels coarser. The difference is Euclidean in L*a*b*, over the distance of black
 * from white.
 */
#define TVLM_SALIENCY_SCALES        3
#define TVLM_SALIENCY_CENTRE_LEVEL  2 /* fine; mid and coarse one more each */
#define TVLM_SALIENCY_SURROUND_STEP 3
#define TVLM_SALIENCY_RANGE         100.0f
#define TVLM_SALIENCY_FLOOR         1e-3f /* an image whose largest contrast is below it is flat: rounding, no signal */

/*
 * What stands out from the image's border, at the first of these levels of which no side is longer than SIDE: the cost
 * of the cheapest path to the border (geodesic saliency: Wei, Wen, Zhu & Sun 2012), and the distance from the colours
 * along it (Mahalanobis; the least over the four sides). Each over its largest in the image, or over its floor where
 * even the largest is small. Distances of colour in L*a*b*. The values are those that leave-one-out chooses on people's
 * masks (bench/saliency.py), but for the contrast's weight: 0 and a quarter are equal there, and it brings the detail.
 */
#define TVLM_SALIENCY_SIDE            80
#define TVLM_SALIENCY_STRIP           10    /* the colours along a side: a strip as deep as a tenth of the longer side */
#define TVLM_SALIENCY_SPREAD          5.0f  /* added to their variances: colours nearer than that are one colour */
#define TVLM_SALIENCY_STEP_FREE       2.0f  /* a step between texels costs what its difference exceeds this by */
#define TVLM_SALIENCY_ROUNDS          2     /* of passes down, up, right and left */
#define TVLM_SALIENCY_UNREACHED       1e30f /* before a path is found */
#define TVLM_SALIENCY_PATH_FLOOR      10.0f
#define TVLM_SALIENCY_BORDER_FLOOR    1.0f
#define TVLM_SALIENCY_BORDER_WEIGHT   1.0f /* beside 1 for the path */
#define TVLM_SALIENCY_CONTRAST_WEIGHT 0.25f

/* Distance: ridges of `edges` above this are edge pixels; the distance is over max(W, H) / TVLM_DISTANCE_SHARE. */
#define TVLM_DISTANCE_EDGE  0.25f
#define TVLM_DISTANCE_SHARE 8.0f

/* Scores (CHANNELS.md). */
#define TVLM_SCORE_ENTROPY      0.5f
#define TVLM_SCORE_EDGES        0.5f
#define TVLM_SCORE_EDGES_GAIN   4.0f
#define TVLM_SCORE_SALIENCY     0.7f
#define TVLM_SCORE_ECCENTRICITY 0.3f
#define TVLM_SCORE_FLOOR        1e-5f /* a part that spans less is equal everywhere, but for rounding */

/* How one level follows from the last; per component. */
#define TVLM_REDUCE_MEAN 0
#define TVLM_REDUCE_MAX  1
#define TVLM_REDUCE_MIN  2
#define TVLM_REDUCE_MODE 3

/*
 * A channel reference, as readers of several families get it: texture in the bundle, layer and component in one int.
 * The formula (position) stands where a texture would; below 0 is a channel that is 0.
 */
#define TVLM_BUNDLE_MAX     16
#define TVLM_BUNDLE_FORMULA 31
#define TVLM_REF_ZERO       (-1)
#define TVLM_REF(texture, layer, component) (((texture) << 16) | ((layer) << 2) | (component))
#define TVLM_REF_TEXTURE(ref)               ((ref) >> 16)
#define TVLM_REF_LAYER(ref)                 (((ref) >> 2) & 0x3fff)
#define TVLM_REF_COMPONENT(ref)             ((ref) & 3)

/* Scoring programs: see tvlm_score_group in backend.h. */
#define TVLM_SCORE_TAPS  9
#define TVLM_SCORE_PARTS 3
#define TVLM_GROUP_INTS   8  /* refs 4, part 1, taps 1, unused 2 */
#define TVLM_GROUP_FLOATS 40 /* caps 4, weights 9 x 4 */

/* The pixels handed in. */
#define TVLM_PIXELS_U8  0
#define TVLM_PIXELS_U16 1
#define TVLM_PIXELS_F32 2

#endif

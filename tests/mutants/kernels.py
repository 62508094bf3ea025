# SPDX-License-Identifier: Apache-2.0
"""kernels.py: the places in which run.py breaks the kernels, one at a time. Each is

    (file of cl/, test, storage, what is wrong, the text, what takes its place)

The text stands exactly once in the file. `test` is the program that must notice (test_<test>), `storage` the only storage that
it runs on. For constants (lib/core/constants.h), which kernels and the reference share, a test that compares the two sees
nothing; the check that must notice (run.py, CHECKS) knows answers from elsewhere.
"""

KERNELS = [
    # ---- Families of the source ----
    ("pixels.clh", "source", "buffer", "blue is composited on black", "b = b * alpha + white;", "b = b * alpha;"),
    ("source.cl", "source", "buffer", "gray is read with two channels to a pixel", "(pixels + offset + y * row_stride) + x * PIXEL_CHANNELS",
     "(pixels + offset + y * row_stride) + x * 2"),
    ("visual.cl", "visual", "buffer", "Sobel's sign above", "const float gy = (down[-1] - up[-1])", "const float gy = (down[-1] + up[-1])"),
    ("visual.cl", "visual", "buffer", "a binomial weight is one too small", "6.0f * r[0]", "5.0f * r[0]"),
    ("visual.cl", "visual", "image", "what is high has the wrong sign", "0.5f * (at[0] - low)", "0.5f * (low - at[0])"),
    ("gradient.cl", "gradient", "buffer", "the squared mean is added", "27.0f - mean * mean", "27.0f + mean * mean"),
    ("gradient.cl", "gradient", "buffer", "x and y are exchanged", "(float4)(0.25f * gx, 0.25f * gy,", "(float4)(0.25f * gy, 0.25f * gx,"),
    ("detail.cl", "detail", "buffer", "the laplacian adds the pixel", "at[1]) - at[0]", "at[1]) + at[0]"),
    ("detail.cl", "detail", "buffer", "one bin too few", "(int)(luma * BINS)", "(int)(luma * (BINS - 1))"),
    ("detail.cl", "detail", "buffer", "cells at the lower edge count pixels that are not there", "min(CELL, source_size.y - row * CELL)",
     "CELL"),
    ("detail.cl", "detail", "buffer", "of work-items that share a cell the last one counts", "count += counts[cell][bin][i];",
     "count = counts[cell][bin][i];"),
    ("sharpness.cl", "sharpness", "buffer", "the mean is not subtracted", "[y * CELL + x] - mean;", "[y * CELL + x];"),
    ("motion.cl", "motion", "buffer", "the level below", "return min(1, source_size.w - 1);", "return 0;"),
    ("motion.cl", "motion", "buffer", "motion where there is no last frame", "fabs(luma - last.x) * last.y", "fabs(luma - last.x)"),
    # ---- Levels ----
    ("mips.cl", "mips", "buffer", "odd sides: the last area is one too small", "tap == 1 ? side / 2 : i + 1;", "tap == 1 ? side / 2 : i;"),
    ("mips.cl", "mips", "buffer", "the largest in place of the least", "#define FURTHEST(a, b) min(a, b)", "#define FURTHEST(a, b) max(a, b)"),
    ("mips.cl", "mips", "buffer", "of values that tie the highest", "(area == most && values[a] < best)", "(area == most && values[a] > best)"),
    ("mips.cl", "mips", "buffer", "the last level is not made", "for (int n = level + 1; n < t.size.w; ++n)",
     "for (int n = level + 1; n < t.size.w - 1; ++n)"),
    ("mips.cl", "mips", "buffer", "the third level is made from the wrong column", "second[((y)-TILE / 2 * gy) * SPAN_2 + (x)-TILE / 2 * gx]",
     "second[((y)-TILE / 2 * gy) * SPAN_2 + (x)-TILE / 2 * gx + ((x) > TILE / 2 * gx ? -1 : 0)]"),
    ("levels.clh", "mips", "image", "levels stand in the wrong row", "(int4)(corner.x + x, corner.y + y, slice, 0)",
     "(int4)(corner.x + x, y, slice, 0)"),
    # ---- Textures ----
    ("texture.clh", "sample", "buffer", "the fraction of a level is ignored", "const float between = own - lower;",
     "const float between = 0.0f;"),
    ("texture.clh", "sample", "buffer", "the bias of a level is ignored", "clamp(level - t_extent.z, 0.0f", "clamp(level, 0.0f"),
    ("texture.clh", "sample", "buffer", "identifiers are interpolated", "select(values[i], id, chosen)", "values[i]"),
    ("texture.clh", "sample", "image", "a level bleeds into its neighbour", "x = clamp(x, 0.5f, place.x - 0.5f);",
     "x = clamp(x, 0.0f, (float)place.x);"),
    ("texture.clh", "sample", "mipmapped", "fetches ignore the level", "return read_imagef(t_base, t_sampler, at, (float)level);",
     "return read_imagef(t_base, t_sampler, at, 0.0f);"),
    ("texture.clh", "sample", "mipmapped", "samples ignore the level", "values[i] = read_imagef(t_base, t_sampler, at, own);",
     "values[i] = read_imagef(t_base, t_sampler, at, 0.0f);"),
    # ---- Saliency, distance, text ----
    ("colour.clh", "saliency", "buffer", "the fifth root ends after a step", "i < 4; ++i) y = 0.8f", "i < 1; ++i) y = 0.8f"),
    ("saliency.cl", "saliency", "buffer", "surrounds are a level too fine", "min(fine + TVLM_SALIENCY_SURROUND_STEP, last)",
     "min(fine + TVLM_SALIENCY_SURROUND_STEP - 1, last)"),
    ("saliency.cl", "saliency", "buffer", "paths lead down and right only", "walk(last, -step_stride, back, -lines, steps - 1, best)",
     "walk(last, -step_stride, back, -lines, 0, best)"),
    ("saliency.cl", "saliency", "buffer", "a sign in the Cholesky factor", "- side.below.z * side.below.z);", "+ side.below.z * side.below.z);"),
    ("saliency.cl", "saliency", "buffer", "the right side of the border is ignored", "side < SIDES; ++side) {\n        const border_side",
     "side < SIDES - 1; ++side) {\n        const border_side"),
    ("distance.cl", "distance", "buffer", "one pixel too far above", "best = min(best, y - (32 * n + 31 -", "best = min(best, y - (32 * n + 30 -"),
    ("distance.cl", "distance", "buffer", "parabolas cross a pixel too early", "return (int)(1 + difference", "return (int)(difference"),
    ("distance.cl", "distance", "buffer", "columns are scanned down only", "for (int y = size.y - 2; y >= 0; --y)",
     "for (int y = size.y - 2; y >= size.y; --y)"),
    ("text.cl", "text", "buffer", "falls are rises", "max(-gradient[i] - TVLM_TEXT_FLOOR, 0)", "max(gradient[i] - TVLM_TEXT_FLOOR, 0)"),
    ("text.cl", "text", "buffer", "marks are not thinned", "line[i] & line[i + 1] & line[i + 2]", "line[i + 1]"),
    ("text.cl", "text", "buffer", "quiet above only", "for (int side = -1; side <= 1; side += 2)", "for (int side = -1; side < 1; side += 2)"),
    # ---- Regions ----
    ("cluster.cl", "cluster", "buffer", "colours are compared without b", "da * da + db * db) + weight", "da * da) + weight"),
    ("cluster.cl", "cluster", "buffer", "x is summed for y", "(ulong)count * y + from[2]", "(ulong)count * y + from[1]"),
    ("slic.clh", "cluster", "buffer", "seeds stand at the left of their cells", "{(column + 0.5f) * cell.x,", "{column * cell.x,"),
    ("regions.clh", "cluster", "buffer", "sums lose their carry", "(old + low < old ? 1u : 0u)", "0u"),
    ("regions.cl", "cluster", "buffer", "boxes count from the right", "found.left = size.x - (int)sums[SUM_LEFT];",
     "found.left = (int)sums[SUM_LEFT];"),
    ("regions.cl", "cluster", "buffer", "no neighbours below", "if (down >= 0 && down != own) connect", "if (false) connect"),
    ("regions.cl", "cluster", "buffer", "a direction of the gradient is missing", "const bool flat = along >= across && along >= -across,",
     "const bool flat = along >= across,"),
    ("pieces.cl", "cluster", "buffer", "pieces do not grow upwards", "if (up && !(left &&", "if (false && !(left &&"),
    # ---- Flow, and what it moves ----
    ("flow.cl", "flow", "buffer", "a derivative has the wrong sign", "const float ix = 0.5f * (m[1] - m[-1])", "const float ix = 0.5f * (m[-1] - m[1])"),
    ("flow.cl", "flow", "buffer", "the neighbour above is left out", "right + down + s[-1] + s[-W];", "right + down + s[-1];"),
    ("flow.cl", "flow", "buffer", "the way back counts twice", "error = flow + back;", "error = flow - back;"),
    ("flow.cl", "flow", "buffer", "Gauss-Newton climbs", "next = best - (float2)(c * least.y", "next = best + (float2)(c * least.y"),
    ("warp.cl", "warp", "buffer", "cells without a vector count", "texel_bilinear(from, x, y, layer, 0) / share;",
     "texel_bilinear(from, x, y, layer, 0);"),
    ("temporal.cl", "temporal", "buffer", "fixations do not fade", "value.z = shape.x * texel_fetch", "value.z = texel_fetch"),
    ("follow.cl", "follow", "buffer", "points move the other way", "now = was - back.xy;", "now = was + back.xy;"),
    # ---- Features, scores, positions ----
    ("similarity.cl", "similarity", "buffer", "a vector's length is its square", "const float length = sqrt(SUM_OF(x, y));",
     "const float length = SUM_OF(x, y);"),
    ("similarity.cl", "similarity", "buffer", "a work-item's sum is left out", "for (int n = 1; n < COSINE_LANES; ++n) sum +=",
     "for (int n = 2; n < COSINE_LANES; ++n) sum +="),
    ("gemm.cl", "gemm", "buffer", "the old matrix is subtracted", "values[i] + beta * *out", "values[i] - beta * *out"),
    ("score.cl", "score", "buffer", "taps stand on their head", "(tap / 3 - 1) * at.step.y", "(1 - tap / 3) * at.step.y"),
    ("score.cl", "score", "buffer", "scores are not brought to 0", "? (value - low) / span : value - value", "? value / span : value - value"),
    ("bundle.clh", "sample", "buffer", "the eccentricity ignores y", "sqrt(dx * dx + dy * dy) / farthest", "sqrt(dx * dx + dx * dx) / farthest"),
    ("sample.cl", "sample", "buffer", "cells are read at their edge", "(first + i + 0.5f) * step_x", "(first + i) * step_x"),
    ("topk.clh", "topk", "buffer", "NaN comes first", "score != score ? 0xffffffffu", "score != score ? 0u"),
    ("topk_best.cl", "topk", "buffer", "negative scores come before positive ones", "(key >> 32) ^ 0x80000000u);", "(key >> 32));"),
    ("topk.cl", "topk", "buffer", "of equal scores the order is off by one", "key_of(scores[i], i) < key;", "key_of(scores[i], i) <= key;"),
    ("footprint.cl", "footprint", "buffer", "probes weigh the same", "weights += weight;", "weights += 1.0f;"),
    ("pick.cl", "pick", "buffer", "the second component for the third", "component == 2 ? texel.z", "component == 2 ? texel.y"),
    # ---- Inputs and exports ----
    ("scene.cl", "scene", "buffer", "planes have steps", "one + other - 2.0f", "one + other - 1.0f"),
    ("scene.cl", "scene", "buffer", "normals lean the other way", "const float a = step.y * dx,", "const float a = -step.y * dx,"),
    ("input.cl", "input", "buffer", "vectors are not of unit length", "texel / largest / length", "texel / largest"),
    ("patches.cl", "patches", "buffer", "edges are not mirrored", "period - into : into", "into : into"),
    ("patchify.cl", "patchify", "buffer", "tokens of later moments see the first", "* TEMPORAL;\n    return", "* 0;\n    return"),
    ("resize.cl", "resize", "buffer", "sums are rounded down", "#define HALF (1 << (TVLM_RESIZE_BITS - 1))", "#define HALF 0"),
]

# (constant that a kernel uses, check, its value, ten times that)
CONSTANTS = [
    ("TVLM_SALIENCY_CONTRAST_WEIGHT", "saliency", "0.25f", "2.5f"),
    ("TVLM_SALIENCY_BORDER_WEIGHT", "saliency", "1.0f", "10.0f"),
    ("TVLM_SALIENCY_SPREAD", "saliency", "2.5f", "25.0f"),
    ("TVLM_SALIENCY_STEP_FREE", "saliency", "2.0f", "20.0f"),
    ("TVLM_BOUNDARY_STRENGTH", "cluster", "6.0f", "60.0f"),
    ("TVLM_BOUNDARY_TEXTURE", "cluster", "2.0f", "20.0f"),
    ("TVLM_TEXT_STRENGTH", "text", "713.0f", "7130.0f"),
    ("TVLM_TEXT_QUIET", "text", "0.008f", "0.08f"),
    ("TVLM_FLOW_SMOOTH", "flow", "20.0f", "200.0f"),
    ("TVLM_FLOW_FLOOR", "flow", "1.2e-3f", "1.2e-2f"),
    ("TVLM_DISTANCE_EDGE", "distance", "0.25f", "2.5f"),
]

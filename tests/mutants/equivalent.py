# SPDX-License-Identifier: Apache-2.0
"""equivalent.py: mutants that change nothing that can be seen, each with its reason. random_part.py leaves them aside. Each is

    (file, function, line, operation, reason)

None stands for any: (file, None, None, None, ...) is a whole file. As the function, "" is what lies outside of all. As the
operation there may also be a kind (places.py). `line` is the text of the mutant's line, without the spaces around
it; where it has several places, `operation` is COLUMN:OPERATION. What stands here must be there: a row that fits no mutant is an error, as the code has changed. That a test would be hard to write is no
reason."""

EQUIVALENT = [
    ("lib/export/models.c", "resize", "if (h > INT32_MAX || w > INT32_MAX || h * w > INT32_MAX)", "&&",
     "both sides are at least 1, so that where one is too large the product is"),
    ("lib/stack/temporal.c", None, "if (!(decay >= 0.0f && decay <= 1.0f))", ">", "a decay of 0 stands for the default, so that none is 0"),
    ("lib/select/likeness.c", "read_colours", "float *const rgb = tvlm_allocate(BLOCK, 3 * sizeof *rgb);", "+1",
     "room for more than is written there"),
    ("lib/video/stream_send.c", "await_pixels", "camera->sending = false;", "remove", "waiting again for pixels that have arrived does nothing"),
    ("tools/inputs.c", "inputs_check_read", "int32_t channels[TVLM_LAYOUT_CHANNELS_MAX], count = 0;", "+1",
     "tvlm_layout_parse says how many there are, or fails, and then none is read"),
    ("lib/io_video/whole.c", "wrong_in_flv", "if (!read_at(from, 0, head, 9)) return -1;", "+1",
     "the file has twelve bytes: its kind was read from them"),
    ("lib/draw/channels.c", "", "#define GROUP_STEP  4                  /* how many channels a slice of a packed array has */", "constant",
     "how many planes are in memory at a time, not what they are"),
    ("lib/lab/backward.c", "find_channels",
     "tvlm_stack_grid_shape(t->stack, place.grid < TVLM_GRID_COUNT ? place.grid : TVLM_GRID_SOURCE, 1);", "constant",
     "of how many images a shape is does not change its sides, which alone are read"),
    ("lib/opencl/tuning.c", "", None, "constant",
     "the shapes that are tried: test_tune tries them, no result hangs on them, and which is fast the benchmark tells"),
    ("lib/select/budget_emphasis.c", "tvlm_budget_importance", "const float share = high > low ? (scores[i] - low) / (high - low) : 0.0f;", ">=",
     "where both are equal it is 0 / 0, and NaN counts as 0"),
    ("lib/select/budget_equal.c", "tvlm_budget_equal", "for (int32_t i = 0; status == TVLM_OK && i < budget->tiles; ++i) {", "22:+1",
     "the first tile has no other before it, and its origin, 0, is what the memory was cleared to"),
    ("lib/select/budget_price.c", "tvlm_budget_highest_price", "return (losses->third_spots != NULL ? 4.0 : 1.0) * highest * (1.0 + 1e-6) + (double)FLT_MIN;", "*1.1",
     "the search may begin at any price at which nothing is bought"),
    ("lib/select/budget_price.c", "tvlm_budget_highest_price", "return (losses->third_spots != NULL ? 4.0 : 1.0) * highest * (1.0 + 1e-6) + (double)FLT_MIN;", "*2.0",
     "the search may begin at any price at which nothing is bought"),
    ("lib/select/budget_tree.c", "take", "while (count > 0 && w->heap.count > 0) {", "18:>=",
     "with a count of 0 each tile that waits is too many patches, and is dropped"),
    ("lib/draw/selection.c", "compare_levels", "if (p->by != q->by) return p->by > q->by ? -1 : 1;", ">=", "the two differ there"),
    *(("lib/opencl/self_test_levels.c", "tvlm_opencl_levels_error", line, f"{column}:{operation}",
       "levels 1 and 2 have one row, and left of the first column's centre all reads are alike")
      for line in ("{{0.5f, 1.5f, 3.0f, 1.0f}},", "{{0.5f, 1.5f, 7.0f, 1.5f}},", "{{0.5f, 1.5f, 0.0f, 9.0f}}};")
      for column in (48, 54) for operation in ("*1.1", "*2.0")),
    *(("lib/opencl/self_test_levels.c", "tvlm_opencl_levels_error", "{{0.5f, 1.5f, 0.0f, 9.0f}}};", operation,
       "beyond the last level there is no other") for operation in ("66:*1.1", "66:*2.0")),
    ("lib/export/models.c", "resize", "if (h > INT32_MAX || w > INT32_MAX || h * w > INT32_MAX)", ">=",
     "2^31 - 1 is prime, and a picture of one row of so many pixels has another aspect ratio than is taken"),
    ("lib/export/models.c", "check_resize", "const double longer = width > height ? width : height, shorter = width > height ? height : width;", ">=",
     "of equal sides either is the longer and the shorter one"),
    ("lib/export/export.c", "set_limits", "if (params->min_pixels == 0 && *least > *most) *least = *most;", ">=", "what is equal stays so"),
    ("lib/export/export.c", "set_limits", "if (params->max_pixels == 0 && *most < *least) *most = *least;", "<=", "what is equal stays so"),
    ("lib/export/export.c", "resolve", "const bool own = params->video && p->video_max_pixels > 0;", "+1", "no model has a limit of one pixel"),
    ("lib/export/predict.c", "tvlm_prediction_least", "const int32_t middle = low + (high - low) / 2;", "53:+1",
     "the search may look at any place between its ends"),
    ("lib/stack/stack.c", "tvlm_stack_set_rope", "if (!(rope.patch > 0.0f) || !isfinite(rope.patch))", ">=", "a patch of 0 stands for the default, so that none is 0"),
    ("lib/video/stream.c", "check_ranges", "if (!(s->longest > 0.0f) || !isfinite(s->longest))", ">=", "0 stands for the default, so that none is 0"),
    ("lib/stack/input.c", "check_extent", "if (!(cell > 0.0f) || !isfinite(cell))", ">=", "a cell of 0 has been answered above"),
    ("lib/core/room.c", "less", "return limit == NO_LIMIT ? NO_LIMIT : limit > used ? limit - used : 0;", "49:>=", "where both are equal their difference is 0, too"),
    *(("lib/core/room.c", "sizes", f"*{name} = fields[{field}] * (uint64_t)(page > 0 ? page : 0);", f"{column}:{operation}",
       "sysconf() gives the size of a page, which is neither 0 nor 1")
      for name, field, shift in (("all", 0, 0), ("data", 5, 1)) for column, operation in ((42 + shift, "+1"), (40 + shift, ">="), (53 + shift, "+1"))),
    ("lib/io/utf8.c", "following", "return first >= 0xF0 && first <= 0xF4 ? 3 : -1;", "50:+1", "any number below 0 says that no character begins so"),
    ("lib/select/fill.c", "fill", "if (f->rounds[cell_of(f, empty[i].column, empty[i].row)] < 0)", "<=",
     "each of these cells is -1, or has the number of its round, which counts from 1"),
    *(("lib/io/npy_header.c", "tvlm_io_npy_format", line, operation, "no header is as long as the room for it, which alone this changes")
      for line, operation in (("size_t room = TVLM_IO_NPY_HEADER_ROOM - TVLM_IO_NPY_PRELUDE, used;", "+"),
                              ('used += (size_t)snprintf(text + used, room - used, "%s%" PRId64, i > 0 ? ", " : "", shape[i]);', "52:+"))),
    ("lib/io/npy_header.c", "accept_number", "skip_blanks(parser);", "remove", "whoever asks for a number has asked for a bracket before, and that skips them"),
    ("lib/io/npy_header.c", "read_shape", "array->rank = 0;", "remove", "an array is all zeros when its header is read, and the shape is read once"),
    *(("lib/io/image_measure.c", "read_frame", "const int count = size > 5 ? content[5] : 0;", operation,
       "a frame of so few bytes is left out by the next line whatever it counts") for operation in ("28:>=", "30:+1")),
    ("lib/io/image_measure.c", "tvlm_io_jpeg_denominator", "const uint32_t longer = width > height ? width : height;", ">=", "of equal sides either is the longer one"),
    *(("lib/opencl/storage.c", "default_storage", line, operation, "of AUTO nobody asks whether it works, and room for one more is not read")
      for line, operation in (("bool can[TVLM_STORAGE_MIPMAPPED + 1];", "39:+1"),
                              ("for (int i = 0; i <= TVLM_STORAGE_MIPMAPPED; ++i) can[i] = able[i].works && (!bytes || able[i].bytes);", "18:+1"))),
    *(("lib/opencl/spare.c", "serves", "if (wanted->width == 0) return spare->width == 0 && spare->bytes >= wanted->bytes;", f"{column}:height",
       "buffers have neither, and images both") for column in (17, 43)),
    ("lib/select/budget_blank.c", "tvlm_budget_blank", "if (kept >= 0 && error != NULL) *error = error_of(&f);", "14:>",
     "at least one token is kept where any can be counted"),
    ("tools/batch_load.c", "open_source", "*from = (source){one->input.archive, -1, -1};", "43:+1", "any number below 0 says that there is no file"),
    ("lib/lab/spread.c", "lower", "return a < b ? a : b;", "<=", "of equal values either is the lower one"),
    ("lib/lab/spread.c", "higher", "return a > b ? a : b;", ">=", "of equal values either is the higher one"),
    ("lib/select/best.c", "choose", "TVLM_TRY(rank(best, picky ? best->count : best->k > 0 ? best->k : 1, ranking, &selection->report));", "71:-1",
     "ranking none makes the scores, too"),
    ("tools/lab/uses/shapes.c", "pixel_from", "return !(first > 0.0) ? 0 : first >= side ? side : (int32_t)first;", "20:>=", "0 is the first pixel either way"),
    ("tools/progress.c", "progress_start", "bar.total = total > 0 ? total : 1;", "25:+1", "of one step both are one"),
    ("tools/progress.c", "progress_start", "bar.percent = -1;", "20:+1", "any number below 0 is no percent"),
    *(("tools/select_layout.c", function, line, f"{column}:+", "that there is room was asked above")
      for function, line, column in (("layout_add", 'snprintf(layout + length, size - length, "%s%s", length > 0 ? "," : "", channel.name);', 40),
                                     ("scorer_layout", '(size_t)snprintf(layout + length, size - length, "%s%s", length > 0 ? "," : "", channel.name);', 53))),
]

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * first.h: a first answer that does not wait for kernels to be built.
 *
 * Where the default device is OpenCL on this machine's own processors, building the kernels of a job takes some
 * seconds, once. The reference answers in a fraction of that, on the same processors. So if nobody names a device,
 * and one image is all that is asked about:
 *   - the reference answers about a small image (half a million pixels), before such a driver is ready to;
 *   - it answers about a larger one (to four million) as long as the kernels of such a job are not built. When the
 *     answer is out, a program of its own (tvlm --build-kernels) builds them, so that the next answer comes from the
 *     OpenCL device;
 *   - a note says that they are built. It lies beside PoCL's compiled programs, and for other drivers in the cache
 *     folder. It holds for this version, device and driver, for jobs with the same options, and for images of the
 *     same kind of pixels and about the same size. Names of outputs do not count, nor do numbers, but that there are
 *     more than a thousand positions.
 *
 * Who builds the kernels if something ends early:
 *   - A command that fails or is interrupted builds nothing. The next one does.
 *   - The program that builds has no terminal and goes on when the terminal is closed. If it is ended, what the
 *     driver has cached stays, there is no note, and the next command starts it again.
 *   - Two never build the kernels of one job at the same time.
 *   - Without a cache folder that can be written, nothing is built beside, and the reference answers every time.
 *
 * Batches, lines (--jsonl, --resume), standard input, networks, patches and other commands open the same device as
 * ever, so that no batch mixes two.
 */
#ifndef TVLM_TOOLS_FIRST_H
#define TVLM_TOOLS_FIRST_H

#include "options.h"
#include "texturevlm/image.h"

struct tool;
struct tool_common;

/* Says that one image alone is asked about, and for how many positions (0: as many as are usual). */
void first_is_about(struct tool *tool, const tvlm_image *image, int32_t positions);

/* Returns the name of the device that answers where the options name none: "reference", or NULL for the default. */
const char *first_device(struct tool *tool, const struct tool_common *common);

/* Lets the program that builds kernels begin. Returns TOOL_FAILED if another one builds the same. For any other
 * program it does nothing. */
int first_begin(struct tool *tool);

/* Forgets the files that the options say to write. For the program that builds kernels. */
void first_forget_outputs(const option_table *table, void *options);

/* To be called with the command's exit code when all output is written: starts the program that builds kernels, or
 * in that program keeps the note. */
void first_end(struct tool *tool, int code);

#endif

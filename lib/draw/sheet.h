/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sheet.h: a contact sheet with one panel for each channel, in the order in which channels are added. A channel that
 * is 0 everywhere because it has no input, or because this version does not make it, gets no panel. Lines below the
 * panels name these channels.
 */
#ifndef TVLM_DRAW_SHEET_H
#define TVLM_DRAW_SHEET_H

#include "draw/canvas.h"
#include "texturevlm/stack.h"

#define TVLM_SHEET_PANEL 248
#define TVLM_SHEET_GAP   10
#define TVLM_SHEET_LABEL 44 /* room for two lines of text */
#define TVLM_SHEET_TITLE 40

typedef struct tvlm_sheet {
    const tvlm_stack *stack;
    tvlm_canvas canvas;
    /* How many panels a row has, and the size of the picture in a panel. */
    int32_t columns, panel_width, panel_height;
    int32_t panels; /* how many are drawn so far */
} tvlm_sheet;

/*
 * Begins a sheet of `count` channels of width x height. has[count] says which channels have input, and will
 * be added; NULL means that all have. Names are those of `stack`, or those of the library if it is NULL. The
 * caller releases sheet->canvas. Returns false if there is no memory, or if the sheet would be too large.
 */
bool tvlm_sheet_start(const tvlm_stack *stack, const int32_t *channels, const bool *has, int32_t count,
                      int32_t width, int32_t height, const char *title, tvlm_sheet *sheet);

/* Says whether the channel gets a panel where it has input. */
bool tvlm_sheet_shows(const tvlm_stack *stack, int32_t channel);

/* Adds the next channel, in the colours that texturevlm/draw.h tells. Does nothing for a channel that gets no panel.
 * Returns false if there is no memory. */
bool tvlm_sheet_add(tvlm_sheet *sheet, int32_t channel, const float *plane, int32_t width, int32_t height);

#endif

# SPDX-License-Identifier: Apache-2.0
"""Selections in notebooks: drawn over their image if it is still available, else alone, with a line that says so."""
from __future__ import annotations

import html as markup
from typing import TYPE_CHECKING

from ._core import Error

if TYPE_CHECKING:
    from ._selection import Selection

_DRAWN_MAX = 2000  # the most squares of an SVG that a browser still scrolls smoothly


def png(selection: Selection) -> bytes | None:
    """The image with the positions as a PNG. None if the image is gone or has changed its size; a notebook then takes `html`."""
    from ._show import show
    image = selection.image()
    if image is None:
        return None
    try:
        return show(image, selection, copy=True)._repr_png_()
    except Error:
        return None


def html(selection: Selection) -> str | None:
    """The positions alone, at their places in an empty image. None if `png` has the image."""
    if png(selection) is not None:
        return None
    width, height = selection.image_size
    left_out = max(len(selection) - _DRAWN_MAX, 0)
    what = markup.escape(repr(selection)[1:-1])
    shapes = []
    for one in list(selection[:_DRAWN_MAX])[::-1]:  # the best on top
        left, top, right, bottom = one.box
        shapes.append(f'<rect x="{left:g}" y="{top:g}" width="{right - left:g}" height="{bottom - top:g}"/>')
    said = "The image is not kept with it: texturevlm.show(image, selection) draws both."
    if left_out:
        said += f" The last {left_out} positions are left out."
    return (f'<figure style="margin:0"><svg viewBox="0 0 {width} {height}" style="max-width:480px;max-height:480px;background:#eee" '
            f'fill="#0072b2" fill-opacity="0.15" stroke="#0072b2" stroke-width="{max(width, height) / 480:g}">{"".join(shapes)}</svg>'
            f"<figcaption>{what}. {said}</figcaption></figure>")

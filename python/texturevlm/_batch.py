# SPDX-License-Identifier: Apache-2.0
"""Channels of images of different sizes, made in one batch."""
from __future__ import annotations

from typing import Any

import numpy as np

from ._arguments import Array, channels as channel_numbers, flag, floats, known, real
from ._binding import ffi, lib
from ._core import Error, Handle
from ._device import Device, device_of
from ._each import each
from ._image import Image, image_of
from ._options import StackParams


def channels_of_all(images: Any, names: Any, level: float, device: Device | str | None, copy: bool, options: dict[str, Any],
                    errors: Any) -> list[Array | Error]:
    """What `channels` gives for a list of images: an array for each, or the error of one that cannot be read."""
    known(options, ["layout", "format", "memory_max"])
    params = StackParams(options)
    device, copy = device_of(device), flag("copy", copy)
    read = each(images, lambda _, one: image_of(one, copy, lambda width, height: (width, height)), errors, False)
    made = iter(_made([one for one in read if isinstance(one, Image)], params, names, level, device))
    return [next(made) if isinstance(one, Image) else one for one in read]


def _made(pictures: list[Image], params: StackParams, names: Any, level: float, device: Device) -> list[Array]:
    if not pictures:
        return []
    sizes = ffi.new("int32_t[]", [side for picture in pictures for side in (picture.width, picture.height)])
    params.c.images, params.c.sizes = len(pictures), sizes
    stack = Handle(device._owner, "stack").make(lib.tvlm_stack_create, device._owner.pointer, params.c)
    with stack as pointer:
        for index, picture in enumerate(pictures):
            stack.call(lib.tvlm_stack_set_image, index, picture.c)
        numbers = channel_numbers(names, pointer) if names is not None else []
        array = ffi.new("int32_t[]", numbers) if numbers else ffi.NULL
        wanted = ffi.new("struct tvlm_pack_params *", {
            "channels": array, "channel_count": len(numbers), "level": real("level", level, 0.0)})
        packed = Handle(device._owner, "packed").make(lib.tvlm_stack_pack, pointer, wanted)
        width, height, count = (ffi.new("int32_t *") for _ in range(3))
        packed.call(lib.tvlm_packed_size, width, height, count)
        made = []
        for index in range(len(pictures)):
            packed.call(lib.tvlm_packed_size_of, index, width, height)
            made.append(np.empty((count[0], height[0], width[0]), np.float32))
            packed.call(lib.tvlm_packed_read, index, made[-1].size, floats(made[-1]))
        packed.close()
    stack.close()
    return made

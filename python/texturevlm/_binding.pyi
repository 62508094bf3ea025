# SPDX-License-Identifier: Apache-2.0
# What cffi makes (python/binding.py): the C library's functions and types.
from typing import Any

ffi: Any
lib: Any

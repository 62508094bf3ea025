# SPDX-License-Identifier: Apache-2.0
"""Where images come from: files, folders of files, tars in WebDataset layout, and images that a program hands in."""
from __future__ import annotations

import gzip
import hashlib
import os
import tarfile
import zlib
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple, Optional

import numpy as np

from .._arguments import file_name, short
from .._core import ArgumentError, ArgumentTypeError, Error, FileError, MissingFileError, logger
from .._image import decoded, Image, image_of, read_of

SUFFIXES = (".jpg", ".jpeg", ".png", ".bmp", ".ppm", ".pgm", ".webp", ".avif", ".heic")


class Source(NamedTuple):
    """An image to be indexed.

    - `key`: the name of the image in the index.
    - `path`, `data`, `image`: one of them gives the image. `path` is a file, `data` the bytes of a file, and `image` an image in
      any form that texturevlm.select takes.
    - `features`: the encoder's vectors [rows, columns, D] over the whole image, or the bytes of an .npy file of them, or None.
    """

    key: str
    path: Optional[str] = None
    data: Optional[bytes] = None
    image: Any = None
    features: Any = None


class Loaded(NamedTuple):
    """An image that was read: its pixels, and the numbers by which it is known again."""

    source: Source
    image: Image
    bytes: int
    modified: int
    hash: str


def sources(inputs: Iterable[Any]) -> Iterator[Source]:
    """Yields the images that paths stand for, in a fixed order.

    A file stands for itself, a folder for all pictures in it and below it, sorted by name, and a .tar for all pictures in it. A
    `Source` is passed on. Errors: `FileError` if there is no such file, `ArgumentError` for a tar that is cut.
    """
    if isinstance(inputs, (str, bytes, os.PathLike, Source)):
        inputs = [inputs]
    if not isinstance(inputs, Iterable):
        raise ArgumentTypeError(f"images are {short(inputs)}, not a list of paths")
    for one in inputs:
        if isinstance(one, Source):
            if not isinstance(one.key, str) or not one.key:
                raise ArgumentTypeError(f"a key is {short(one.key)}, not a name")
            yield _of_file(one)
            continue
        path = file_name("an image's path", one)
        if os.path.isdir(path):
            for folder, folders, names in os.walk(path):
                folders.sort()
                yield from (Source(os.path.join(folder, name), os.path.join(folder, name)) for name in sorted(names)
                            if name.lower().endswith(SUFFIXES))
        elif path.lower().endswith((".tar", ".tar.gz", ".tgz")):
            yield from _members(path)
        else:
            yield Source(path, path)


def _of_file(source: Source) -> Source:
    """The source, with a path or bytes that came as its image in their own places, where they are known again."""
    image = source.image
    if isinstance(image, (str, os.PathLike)):
        return source._replace(path=file_name("an image's path", image), image=None)
    if isinstance(image, (bytes, bytearray)) or (isinstance(image, memoryview) and image.ndim == 1):
        return source._replace(data=bytes(image), image=None)
    return source


def _members(path: str) -> Iterator[Source]:
    """Yields the pictures of a tar. A member STEM.npy beside STEM.jpg, before or after it, has its features (WebDataset's layout)."""
    picture: Source | None = None  # the last picture, which waits for its features
    early: tuple[str, bytes] | None = None  # features that wait for their picture
    try:
        with tarfile.open(path) as tar:
            for member in tar:
                stem, suffix = os.path.splitext(member.name)
                file = tar.extractfile(member) if member.isfile() else None
                if file is None or suffix.lower() not in (*SUFFIXES, ".npy"):
                    continue
                data = file.read()
                if suffix.lower() == ".npy":
                    if picture is not None and picture.features is None and os.path.splitext(picture.key)[0] == f"{path}/{stem}":
                        picture = picture._replace(features=data)  # parsed later, so that bad features fail this picture alone
                    else:
                        _tell_unused(path, early)
                        early = (stem, data)
                    continue
                if picture is not None:
                    yield picture
                picture = Source(f"{path}/{member.name}", data=data)
                if early is not None and early[0] == stem:
                    picture, early = picture._replace(features=early[1]), None
            while tar.fileobj is not None and tar.fileobj.read(1 << 20):
                pass  # reads on to the end, where the checksum of a compressed tar stands
        _tell_unused(path, early)
        if picture is not None:
            yield picture
            picture = None
        _check_end(path)
    except FileNotFoundError:
        raise MissingFileError(f"{path}: there is no such file") from None
    except (tarfile.TarError, EOFError, zlib.error, gzip.BadGzipFile) as error:
        if picture is not None:
            yield picture
        raise ArgumentError(f"{path}: no tar, or one that is cut or damaged: {short(str(error))}") from None
    except OSError as error:
        raise FileError(f"{path}: {error.strerror or short(str(error))}") from None


def _tell_unused(path: str, features: tuple[str, bytes] | None) -> None:
    if features is not None:
        logger.warning("%s/%s.npy: features of no picture that stands beside them", path, features[0])


def _check_end(path: str) -> None:
    """Refuses a tar without its end, two blocks of zeros. A tar that was cut between two members shows no other sign."""
    if path.lower().endswith(".tar"):
        with open(path, "rb") as file:
            file.seek(-min(1024, os.path.getsize(path)), os.SEEK_END)
            if file.read().strip(b"\0"):
                raise ArgumentError(f"{path}: the tar is cut: it has no end")


def is_text(key: str) -> bool:
    """Whether a name is valid text. The name of a file may be any bytes."""
    try:
        key.encode()
    except UnicodeEncodeError:
        return False
    return True


def vectors_of(file: Any, name: str) -> Any:
    """Reads the array of an .npy file. Errors: `ArgumentError` for another file, and for an array of objects."""
    try:
        array = np.load(file, allow_pickle=False)
    except FileNotFoundError:
        raise MissingFileError(f"{name}: there is no such file") from None
    except OSError as error:
        raise FileError(f"{name}: {error.strerror or short(str(error))}") from None
    except Exception as error:
        raise ArgumentError(f"{name}: no .npy of numbers: {short(str(error))}") from None
    if not isinstance(array, np.ndarray):
        array.close()
        raise ArgumentError(f"{name}: an .npz, not an .npy")
    return array


def stamp(source: Source) -> tuple[int, int]:
    """The length of a file and its time of change in ns, by which it is known without being read; (-1, 0) for other sources."""
    if source.path is None or source.data is not None or source.image is not None:
        return -1, 0
    try:
        status = os.stat(source.path)
    except OSError as error:
        kind = MissingFileError if isinstance(error, FileNotFoundError) else FileError
        raise kind(f"{source.path}: {error.strerror}") from None
    return status.st_size, status.st_mtime_ns


def load(source: Source) -> Loaded:
    """Reads and decodes an image.

    The hash is the SHA-256 of a file's bytes, or of an array's pixels with their shape and type. Errors: those of reading;
    `ArgumentError` for a key that is not valid text, which no table can keep.
    """
    if not is_text(source.key):
        raise ArgumentError(f"a key is {short(source.key)}, which is no text")
    source = _of_file(source)
    if source.image is not None and callable(getattr(source.image, "read", None)) and not hasattr(source.image, "getbands"):
        source = source._replace(data=read_of(source.image)[0], image=None)
    if source.image is not None:
        image = image_of(source.image)
        array = image.array
        if array is None:
            raise ArgumentTypeError(f"{source.key}: its image is {short(source.image)}")
        told = repr((array.shape, array.dtype.name)).encode() + np.ascontiguousarray(array).tobytes()
        return Loaded(source, image, array.nbytes, 0, hashlib.sha256(told).hexdigest())
    if source.data is not None:
        return Loaded(source, decoded(source.data, source.key), len(source.data), 0, hashlib.sha256(source.data).hexdigest())
    if source.path is None:
        raise ArgumentError(f"{source.key}: neither a path, nor bytes, nor an image")
    size, modified = stamp(source)
    try:
        with open(source.path, "rb") as file:
            digest = hashlib.sha256(file.read()).hexdigest()
    except OSError as error:
        raise FileError(f"{source.path}: {error.strerror}") from None
    return Loaded(source, image_of(source.path), size, modified, digest)

# SPDX-License-Identifier: Apache-2.0
"""Grey pictures in PNG files, read and written with the standard library alone, and the photograph of the examples."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path

import numpy as np

PHOTOGRAPH = Path(__file__).parent / "data" / "camera.png"
SIGNATURE = b"\x89PNG\r\n\x1a\n"


def photograph() -> np.ndarray:
    """The grey levels of the photograph, uint8[512, 512]; `data/README.md` says whose it is."""
    return read_png(PHOTOGRAPH)


def read_png(path: Path) -> np.ndarray:
    """The levels of a picture with 8 bits of grey a pixel, as uint8[height, width].

    Raises ValueError for any other kind of file. The filters are those of section 9 of the PNG specification.
    """
    data = path.read_bytes()
    if data[:8] != SIGNATURE:
        raise ValueError(f"{path} is not a PNG file")
    width, height, *kind = struct.unpack(">IIBBBBB", data[16:29])
    if kind != [8, 0, 0, 0, 0]:
        raise ValueError(f"{path} does not have 8 bits of grey a pixel")
    lines = np.frombuffer(zlib.decompress(_pixels(data)), np.uint8).reshape(height, 1 + width)
    picture = np.zeros((height, width), np.uint8)
    above = bytes(width)
    for y, line in enumerate(lines):
        above = _unfiltered(int(line[0]), line[1:].tobytes(), above)
        picture[y] = np.frombuffer(above, np.uint8)
    return picture


def write_png(path: Path, picture: np.ndarray) -> None:
    """Write uint8[height, width] as 8 bits of grey a pixel."""
    height, width = picture.shape
    lines = b"".join(b"\0" + row.tobytes() for row in picture)
    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    chunks = (b"IHDR", header), (b"IDAT", zlib.compress(lines)), (b"IEND", b"")
    path.write_bytes(SIGNATURE + b"".join(_chunk(kind, body) for kind, body in chunks))


def _pixels(data: bytes) -> bytes:
    """The compressed pixels, from all the chunks that hold some."""
    parts, at = [], len(SIGNATURE)
    while at < len(data):
        length, kind = struct.unpack(">I4s", data[at : at + 8])
        if kind == b"IDAT":
            parts.append(data[at + 8 : at + 8 + length])
        at += 12 + length
    return b"".join(parts)


def _unfiltered(kind: int, line: bytes, above: bytes) -> bytes:
    """A line of pixels from their differences to the neighbours on the left and above."""
    result = bytearray(len(line))
    a = c = 0
    for x, (value, b) in enumerate(zip(line, above, strict=True)):
        guess = (0, a, b, (a + b) // 2, _paeth(a, b, c))[kind]
        a, c = (value + guess) & 255, b
        result[x] = a
    return bytes(result)


def _paeth(a: int, b: int, c: int) -> int:
    """The neighbour (left, above, above left) that is nearest to their plane."""
    plane = a + b - c
    return min((abs(plane - a), 0, a), (abs(plane - b), 1, b), (abs(plane - c), 2, c))[2]


def _chunk(kind: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

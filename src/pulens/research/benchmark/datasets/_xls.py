"""Numbers of a legacy Excel workbook (BIFF8 in a compound file): just enough for a table that a maker keeps in one."""

from __future__ import annotations

import struct
from collections.abc import Iterator

MAGIC = bytes.fromhex("d0cf11e0a1b11ae1")
LAST = 0xFFFFFFFA  # sector numbers from here on are marks: end of chain, free, table
SMALL = 4096  # shorter streams lie in sectors of another size, where no workbook of a table ever lies
BEGIN, END, WORKSHEET = 0x809, 0x0A, 0x10
NUMBER, RK, MANY_RK = 0x203, 0x27E, 0xBD


def read_numbers(content: bytes) -> dict[tuple[int, int], float]:
    """Numbers of the first worksheet by (row, column), both from 0; words, empty cells and formulas are left out."""
    result: dict[tuple[int, int], float] = {}
    inside = False
    for kind, body in _records(_stream(content, "Workbook")):
        if kind == BEGIN and int.from_bytes(body[2:4], "little") == WORKSHEET:
            inside = True
        elif kind == END and inside:
            return result
        elif inside and kind == NUMBER:
            row, column, _, value = struct.unpack("<HHHd", body)
            result[row, column] = value
        elif inside and kind == RK:
            row, column, _, packed = struct.unpack("<HHHI", body)
            result[row, column] = _unpacked(packed)
        elif inside and kind == MANY_RK:
            row, first = struct.unpack_from("<HH", body)
            for place, (_, packed) in enumerate(struct.iter_unpack("<HI", body[4:-2])):
                result[row, first + place] = _unpacked(packed)
    raise ValueError("the workbook has no complete worksheet")


def _unpacked(packed: int) -> float:
    """A number in four bytes: the upper 30 bits are a whole number or half a double; the last bit divides by 100."""
    if packed & 2:
        whole = packed >> 2
        value = float(whole - (1 << 30) if whole >> 29 else whole)
    else:
        value = float(struct.unpack("<d", bytes(4) + (packed & 0xFFFFFFFC).to_bytes(4, "little"))[0])
    return value / 100 if packed & 1 else value


def _records(stream: bytes) -> Iterator[tuple[int, bytes]]:
    at = 0
    while at + 4 <= len(stream):
        kind, size = struct.unpack_from("<HH", stream, at)
        yield kind, stream[at + 4 : at + 4 + size]
        at += 4 + size


def _stream(content: bytes, name: str) -> bytes:
    """A stream of a compound file: sectors in a chain that the allocation table gives."""
    if content[:8] != MAGIC:
        raise ValueError(f"not a compound file: it begins with {content[:8].hex()}")
    size = 1 << int.from_bytes(content[30:32], "little")

    def sector(number: int) -> bytes:
        return content[size * (number + 1) : size * (number + 2)]

    places = [number for number in struct.unpack_from("<109I", content, 76) if number < LAST]
    following = [number for place in places for (number,) in struct.iter_unpack("<I", sector(place))]

    def chain(number: int) -> bytes:
        parts: list[bytes] = []
        while number < LAST and len(parts) < len(following):  # a damaged chain may run in a circle
            parts.append(sector(number))
            number = following[number]
        return b"".join(parts)

    directory = chain(int.from_bytes(content[48:52], "little"))
    for at in range(0, len(directory), 128):
        entry = directory[at : at + 128]
        letters = int.from_bytes(entry[64:66], "little")
        if entry[: max(letters - 2, 0)].decode("utf-16-le", "replace") == name:
            first, length = struct.unpack_from("<II", entry, 116)
            if length < SMALL:
                raise ValueError(f"{name} has {length} bytes only")
            return chain(first)[:length]
    raise ValueError(f"no {name} in the compound file")

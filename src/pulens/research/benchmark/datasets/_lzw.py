"""Files of the Unix program compress (``.Z``), in which UCI keeps some of its older tables."""

from __future__ import annotations

MAGIC = b"\x1f\x9d"
CLEAR = 256  # the code that empties the table, in files that have it


def uncompress(content: bytes) -> bytes:
    """The bytes that were compressed: Lempel-Ziv-Welch codes of 9 to 16 bits, low bits first.

    Codes of one width come in groups of eight; the last group is filled up before the width changes, or before the
    table is emptied, so that what follows begins behind a whole group.

    >>> uncompress(bytes.fromhex("1f9d9061c4041c08"))
    b'abababa'
    """
    if content[:2] != MAGIC or len(content) < 3:
        raise ValueError(f"not a file of compress: it begins with {content[:3].hex()}, not with 1f9d and a third byte")
    widest, emptied = content[2] & 31, bool(content[2] & 128)
    if not 10 <= widest <= 16:  # programs disagree on what a limit of 9 means
        raise ValueError(f"codes of compress grow to 10 to 16 bits, this file says {widest}")
    empty = [bytes([value]) for value in range(256)] + [b""] * emptied
    table, previous, out = list(empty), b"", []
    width, start, at = 9, 24, 24  # positions in bits; start is where codes of this width began
    while at + width <= 8 * len(content):
        window = int.from_bytes(content[at >> 3 : (at >> 3) + 3], "little")
        code = (window >> (at & 7)) & ((1 << width) - 1)
        at += width
        if code == CLEAR and emptied:
            table, previous = list(empty), b""
            start = at = _behind_the_group(start, at, width)
            width = 9
            continue
        if code < len(table):
            entry = table[code]
        elif code == len(table) and previous:
            entry = previous + previous[:1]
        else:
            raise ValueError(f"damaged file of compress: code {code} where {len(table)} are known")
        out.append(entry)
        if previous and len(table) < 1 << widest:
            table.append(previous + entry[:1])
        previous = entry
        if len(table) > (1 << width) - 1 and width < widest:
            start = at = _behind_the_group(start, at, width)
            width += 1
    return b"".join(out)


def _behind_the_group(start: int, at: int, width: int) -> int:
    group = 8 * width
    return start + -(-(at - start) // group) * group

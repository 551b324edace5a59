"""Operations on pictures [n, channels, height, width] with values in 0 .. 1, each picture with a strength of its own.

They are what the usual random augmentations do to pictures of whole grey values, as tensor operations: everything is
computed for all pictures at once, so nothing waits for the device and no imaging library is needed.
"""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F

OPERATIONS = (
    "identity",
    "autocontrast",
    "equalise",
    "posterise",
    "solarise",
    "brightness",
    "colour",
    "contrast",
    "sharpness",
    "rotate",
    "shear x",
    "shear y",
    "translate x",
    "translate y",
)
LUMA = (0.299, 0.587, 0.114)
TOP = 255.0


def autocontrast(x: torch.Tensor) -> torch.Tensor:
    """Stretch every channel to 0 .. 1; a flat one stays."""
    low, high = x.amin((2, 3), keepdim=True), x.amax((2, 3), keepdim=True)
    return torch.where(high > low, (x - low) / (high - low).clamp(min=1e-6), x)


def equalise(x: torch.Tensor) -> torch.Tensor:
    """Spread the grey values of every channel evenly, as counted on 256 levels; channels of one level stay."""
    levels = (x * TOP).round().long().clamp(0, 255).flatten(2)
    counts = torch.zeros(*levels.shape[:2], 256, dtype=torch.int64, device=x.device)
    counts.scatter_add_(2, levels, torch.ones_like(levels))
    last = counts.gather(2, levels.amax(2, keepdim=True))
    width = (levels.shape[2] - last) // 255
    before = counts.cumsum(2) - counts
    table = ((before + width // 2) // width.clamp(min=1)).clamp(max=255)
    spread = table.gather(2, levels).view(x.shape) / TOP
    return torch.where((width > 0)[..., None], spread, x)


def posterise(x: torch.Tensor, bits: torch.Tensor) -> torch.Tensor:
    """Keep the first ``bits`` of 8."""
    size = torch.exp2(8 - bits)
    return torch.floor((x * TOP).round() / size) * size / TOP


def solarise(x: torch.Tensor, threshold: torch.Tensor) -> torch.Tensor:
    """Invert what is at or above a threshold."""
    return torch.where(x >= threshold, 1 - x, x)


def grey(x: torch.Tensor) -> torch.Tensor:
    """Brightness as the eye weighs red, green and blue; a plain mean of other channels."""
    if x.shape[1] == 3:
        red, green, blue = x.split(1, 1)
        return LUMA[0] * red + LUMA[1] * green + LUMA[2] * blue
    return x.mean(1, keepdim=True)


def smooth(x: torch.Tensor) -> torch.Tensor:
    """A 3 x 3 mean whose centre weighs 5; the border stays."""
    total = F.avg_pool2d(x, 3, 1) * 9 + 4 * x[:, :, 1:-1, 1:-1]
    result = x.clone()
    result[:, :, 1:-1, 1:-1] = total / 13
    return result


def shifted(
    x: torch.Tensor, down: torch.Tensor, right: torch.Tensor, mirror: torch.Tensor, padding: str
) -> torch.Tensor:
    """Crop as large a picture, moved by whole pixels, out of one with a border around it; then mirror some.

    ``padding`` is "reflect" or "zeros"; ``down``, ``right`` [n] are whole numbers, ``mirror`` [n] says which to flip.
    """
    height, width = x.shape[2:]
    columns = torch.arange(width, device=x.device)[None]
    columns = torch.where(mirror[:, None], width - 1 - columns, columns) + right[:, None]
    rows = torch.arange(height, device=x.device)[None] + down[:, None]
    inside = ((rows >= 0) & (rows < height))[:, None, :, None] & ((columns >= 0) & (columns < width))[:, None, None]
    rows, columns = _reflected(rows, height), _reflected(columns, width)
    result = x.gather(2, rows[:, None, :, None].expand(-1, x.shape[1], -1, width))
    result = result.gather(3, columns[:, None, None].expand(-1, x.shape[1], height, -1))
    return result if padding == "reflect" else result * inside


def _reflected(place: torch.Tensor, size: int) -> torch.Tensor:
    """Places outside 0 .. size-1 come back in, the edge not repeated."""
    if size == 1:
        return torch.zeros_like(place)
    place = place.abs() % (2 * size - 2)
    return torch.where(place >= size, 2 * size - 2 - place, place)


def cut_out(x: torch.Tensor, centre: torch.Tensor, side: torch.Tensor) -> torch.Tensor:
    """Paint a square middle grey: ``centre`` [n, 2] and ``side`` [n] in shares of the picture's sides."""
    height, width = x.shape[2:]
    rows = (torch.arange(height, device=x.device) + 0.5) / height
    columns = (torch.arange(width, device=x.device) + 0.5) / width
    half = side[:, None] / 2
    hit = ((rows - centre[:, :1]).abs() < half)[:, None, :, None] & ((columns - centre[:, 1:]).abs() < half)[
        :, None, None
    ]
    return torch.where(hit, 0.5, x)


def operate(x: torch.Tensor, operation: torch.Tensor, magnitude: torch.Tensor, sign: torch.Tensor) -> torch.Tensor:
    """One operation per picture: its number in ``OPERATIONS``, a magnitude in 0 .. 10, a direction of -1 or 1.

    Factors of brightness, colour, contrast and sharpness are 0.05 + 0.09 m, posterise keeps floor(4 + 0.4 m) bits,
    solarise inverts from 256 - 25.6 m of 256, rotations are 3 m degrees, shears 0.03 m, translations 0.03 m sides.
    """
    number = {name: place for place, name in enumerate(OPERATIONS)}

    def chosen(name: str) -> torch.Tensor:
        return (operation == number[name])[:, None, None, None]

    m = magnitude[:, None, None, None]
    factor = 0.05 + 0.09 * m
    shade = grey(x)
    result = torch.where(chosen("autocontrast"), autocontrast(x), x)
    result = torch.where(chosen("equalise"), equalise(x), result)
    result = torch.where(chosen("posterise"), posterise(x, torch.floor(4 + 0.4 * m)), result)
    result = torch.where(chosen("solarise"), solarise(x, (256 - 25.6 * m) / TOP), result)
    result = torch.where(chosen("brightness"), x * factor, result)
    result = torch.where(chosen("colour"), torch.lerp(shade.expand_as(x), x, factor), result)
    result = torch.where(
        chosen("contrast"), torch.lerp(shade.mean((2, 3), keepdim=True).expand_as(x), x, factor), result
    )
    result = torch.where(chosen("sharpness"), torch.lerp(smooth(x), x, factor), result)
    is_moved = (operation >= number["rotate"])[:, None, None, None]
    return torch.where(is_moved, moved(x, *_movement(operation, magnitude * sign)), result)


def _movement(operation: torch.Tensor, strength: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """The inverse map [n, 2, 2] from places in the result to places in the picture, and its shift [n, 2]."""
    names = [OPERATIONS.index(name) for name in ("rotate", "shear x", "shear y", "translate x", "translate y")]
    rotate, shear_x, shear_y, shift_x, shift_y = ((operation == place) * strength for place in names)
    angle = rotate * (3 * math.pi / 180)
    cosine, sine = torch.cos(angle), torch.sin(angle)
    matrix = torch.stack([cosine, 0.03 * shear_x - sine, 0.03 * shear_y + sine, cosine], 1).view(-1, 2, 2)
    return matrix, torch.stack([0.03 * shift_x, 0.03 * shift_y], 1)


def moved(x: torch.Tensor, matrix: torch.Tensor, shift: torch.Tensor) -> torch.Tensor:
    """Look the result up at ``matrix`` times (column, row), measured from the centre, plus a shift in sides."""
    height, width = x.shape[2:]
    rows = torch.arange(height, device=x.device) - (height - 1) / 2
    columns = torch.arange(width, device=x.device) - (width - 1) / 2
    places = torch.stack([columns.expand(height, -1), rows[:, None].expand(-1, width)], 2).to(x.dtype)
    across, down = torch.einsum("nij,hwj->nhwi", matrix, places).unbind(3)
    shift_x, shift_y = (one[:, None, None] for one in shift.unbind(1))
    result = torch.stack([2 * (across / width + shift_x), 2 * (down / height + shift_y)], 3)
    return F.grid_sample(x, result, mode="bilinear", padding_mode="zeros", align_corners=False)

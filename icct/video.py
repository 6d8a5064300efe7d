"""Frames → a .gif or .mp4 file."""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from icct.errors import ConfigError, MissingExtraError

if TYPE_CHECKING:
    from PIL import Image

FORMATS = (".gif", ".mp4")
COLOURS = 64  # of a GIF
SAMPLED_FRAMES = 8  # that its colours are chosen from


def check_video_path(path: str | Path) -> None:
    """Refuse a path that `write_video` cannot write, before any work is done."""
    target = Path(path)
    if target.suffix not in FORMATS:
        raise ConfigError(f"{target}: a video ends in {' or '.join(FORMATS)}.")
    if not target.parent.is_dir():
        raise ConfigError(f"{target}: the folder {target.parent} does not exist.")
    if target.suffix == ".mp4":
        _ffmpeg()


def write_video(path: str | Path, frames: Iterable[NDArray[np.uint8]], fps: float) -> None:
    """Write frames of shape (height, width, 3) as a video of the format that the path names."""
    check_video_path(path)
    if Path(path).suffix == ".gif":
        from PIL import Image

        images = _in_few_colours([Image.fromarray(frame) for frame in frames])
        # A GIF counts in hundredths of a second.
        pause = max(20, 10 * round(100 / fps))
        images[0].save(path, save_all=True, append_images=images[1:], duration=pause, loop=0)
        return
    with _ffmpeg().get_writer(path, fps=fps, macro_block_size=2) as writer:
        for frame in frames:
            writer.append_data(frame)


def _in_few_colours(images: "list[Image.Image]") -> "list[Image.Image]":
    """Return images of one palette, without dots between its colours: a third of the size."""
    from PIL import Image

    sample = images[:: max(1, len(images) // SAMPLED_FRAMES)]
    width, height = images[0].size
    together = Image.new("RGB", (width, height * len(sample)))
    for place, image in enumerate(sample):
        together.paste(image, (0, height * place))
    palette = together.quantize(COLOURS)
    return [image.quantize(palette=palette, dither=Image.Dither.NONE) for image in images]


def _ffmpeg() -> Any:
    try:
        import imageio
        import imageio_ffmpeg  # noqa: F401  # imageio loads it by itself
    except ImportError as error:
        raise MissingExtraError(
            f'Writing .mp4 needs {error.name}. Install it with: pip install "icct[video]" '
            "(.gif does not)."
        ) from None
    return imageio

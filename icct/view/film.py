"""A recording → the frames of a film: the world at the left, the lit tree at the right."""

import base64
from collections.abc import Iterator
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib import get_data_path
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from icct.draw import draw, write_figure
from icct.envs.pictures import INK, PAPER, WHITE
from icct.policy import Policy
from icct.policy.caption import pretty
from icct.policy.text import number
from icct.policy.units import in_physical_units
from icct.view.recording import Recording
from icct.view.stage_picture import StagePicture

SIDE = 400  # pixels of the world's square
TREE_WIDTH = 640
STRIP = 40  # with the numbers, below


def film_frames(policy: Policy, recording: Recording, every: int) -> Iterator[NDArray[np.uint8]]:
    """Yield a picture of every so many steps of the first run, and of its last one."""
    run, about = recording["runs"][0], recording["about"]
    stage = None if run["stage"] is None else StagePicture(run["stage"], SIDE)
    shown = in_physical_units(policy)

    @cache
    def tree(path: tuple[int, ...]) -> Image.Image:
        content = write_figure(draw(shown, path=path), "tree.png")
        return _fitted(Image.open(BytesIO(content)).convert("RGB"), TREE_WIDTH, SIDE)

    last = len(run["steps"]) - 1
    for step in run["steps"]:
        if step["step"] % every and step["step"] != last:
            continue
        page = Image.new("RGB", (SIDE + TREE_WIDTH, SIDE + STRIP), WHITE)
        page.paste(_world(stage, step), (0, 0))
        page.paste(tree(tuple(step["path"])), (SIDE, 0))
        font = _font()
        pen = ImageDraw.Draw(page)
        pen.text((14, SIDE + 10), _numbers(policy, step, about["step_s"]), fill=INK, font=font)
        yield np.asarray(page)


@cache
def _font() -> ImageFont.FreeTypeFont:
    """Return matplotlib's own font, which has the signs of units; that of PIL has not."""
    return ImageFont.truetype(Path(get_data_path()) / "fonts" / "ttf" / "DejaVuSans.ttf", size=16)


def _world(stage: StagePicture | None, step: dict[str, Any]) -> Image.Image:
    if stage is not None and step["poses"] is not None:
        return stage.frame(step["poses"])
    if step["frame"] is None:
        return Image.new("RGB", (SIDE, SIDE), PAPER)
    picture = Image.open(BytesIO(base64.b64decode(step["frame"]))).convert("RGB")
    return _fitted(picture, SIDE, SIDE)


def _fitted(image: Image.Image, width: int, height: int) -> Image.Image:
    """Return the image as large as it fits, on white."""
    image.thumbnail((width, height))
    page = Image.new("RGB", (width, height), WHITE)
    page.paste(image, ((width - image.width) // 2, (height - image.height) // 2))
    return page


def _numbers(policy: Policy, step: dict[str, Any], step_s: float | None) -> str:
    time = f"{step['step'] * step_s:.1f} s" if step_s else f"step {step['step']}"
    acted = []
    for action, value in zip(policy.actions, step["action"], strict=True):
        shown = f"{number(value * action.scale)} {pretty(action.physical_unit)}"
        acted.append(f"{action.name} {shown}".strip())
    return "    ".join([time, f"return {step['return']:.1f}", *acted])

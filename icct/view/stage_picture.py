"""A stage and its bodies as pixels, for films; the page draws them by itself (static/stage.js)."""

import math
from collections.abc import Sequence

from PIL import Image, ImageDraw, ImageFont

from icct.envs.pictures import INK, PAPER, SPEED_COLOURS, WHITE, Colour
from icct.envs.stage import Body, Line, Poses, Stage

LIT: Colour = (224, 138, 0)
LINES: dict[str, Colour] = {"road": (168, 174, 182), "edge": (120, 126, 134), "guide": WHITE}
BODIES: dict[str, Colour] = {
    "ego": LIT,
    "other": (47, 109, 179),
    "target": (26, 127, 75),
    "obstacle": (120, 126, 134),
}
OVERSAMPLING = 2
MARGIN = 0.04  # of the picture


class StagePicture:
    """The picture of a stage, drawn once; bodies are put on it step by step."""

    def __init__(self, stage: Stage, size: int) -> None:
        self._stage, self._size = stage, size * OVERSAMPLING
        x0, y0, x1, y1 = stage["world"]
        room = self._size * (1 - 2 * MARGIN)
        self._scale = room / max(x1 - x0, y1 - y0)
        self._centre = (x0 + x1) / 2, (y0 + y1) / 2
        self._still = Image.new("RGB", (self._size,) * 2, PAPER)
        pen = ImageDraw.Draw(self._still)
        for line in sorted(stage["lines"], key=lambda line: line["role"] != "road"):
            self._line(pen, line)

    def frame(self, poses: Poses) -> Image.Image:
        """Return the picture with the bodies at their places, the ego on top."""
        image = self._still.copy()
        pen = ImageDraw.Draw(image)
        bodies = self._stage["bodies"]
        for name in sorted(bodies, key=lambda name: bodies[name]["role"] == "ego"):
            if name in poses:
                self._body(pen, bodies[name], poses[name])
        return image.reduce(OVERSAMPLING)

    def _place(self, x: float, y: float) -> tuple[float, float]:
        half = self._size / 2
        return (
            half + (x - self._centre[0]) * self._scale,
            half - (y - self._centre[1]) * self._scale,
        )

    def _line(self, pen: ImageDraw.ImageDraw, line: Line) -> None:
        points = [self._place(*point) for point in line["points"]]
        points += points[:1] if line.get("closed") else []
        wide = line.get("width", 0.0) * self._scale if line["role"] == "road" else 3.0
        pen.line(points, fill=LINES[line["role"]], width=max(1, round(wide)), joint="curve")
        if line["role"] == "road":  # round ends close the gaps between lanes
            for x, y in (points[0], points[-1]):
                half = wide / 2
                pen.ellipse((x - half, y - half, x + half, y + half), fill=LINES["road"])

    def _body(self, pen: ImageDraw.ImageDraw, body: Body, pose: Sequence[float]) -> None:
        centre, colour = self._place(pose[0], pose[1]), self._colour(body, pose)
        if body["role"] == "ego":
            self._shape(pen, body, centre, pose[2], LIT, grow=7)
            self._shape(pen, body, centre, pose[2], WHITE, grow=3)
        self._shape(pen, body, centre, pose[2], colour)
        if label := body.get("label"):
            font = ImageFont.load_default(size=22)
            below = centre[1] + body.get("radius", body.get("length", 0.0) / 2) * self._scale + 8
            pen.text((centre[0], below), label, fill=INK, font=font, anchor="ma")

    def _shape(
        self,
        pen: ImageDraw.ImageDraw,
        body: Body,
        centre: tuple[float, float],
        heading: float,
        colour: Colour,
        grow: float = 0.0,
    ) -> None:
        (x, y), scale = centre, self._scale
        if "radius" in body:
            r = body["radius"] * scale + grow
            pen.ellipse((x - r, y - r, x + r, y + r), fill=colour)
            return
        half, side = body["length"] * scale / 2 + grow, body["width"] * scale / 2 + grow
        c, s = math.cos(heading), math.sin(heading)
        corners = ((half, side), (half, -side), (-half, -side), (-half, side))
        pen.polygon(
            [(x + a * c - b * s, y - a * s - b * c) for a, b in corners],
            fill=colour,
            outline=None if grow else INK,
        )

    def _colour(self, body: Body, pose: Sequence[float]) -> Colour:
        tint = self._stage.get("tint")
        if tint is None or len(pose) < 4:
            return BODIES[body["role"]]
        share = (pose[3] - tint["low"]) / ((tint["high"] - tint["low"]) or 1.0)
        place = min(max(share, 0.0), 1.0) * (len(SPEED_COLOURS) - 1)
        low = min(int(place), len(SPEED_COLOURS) - 2)
        first, second = SPEED_COLOURS[low], SPEED_COLOURS[low + 1]
        mixed = [round(u + (v - u) * (place - low)) for u, v in zip(first, second, strict=True)]
        return mixed[0], mixed[1], mixed[2]

"""Pictures of a state as arrays of pixels, drawn with Pillow: no display and no OpenGL needed.

Drawn at twice the size and reduced, so that edges are smooth.
"""

import math
from collections.abc import Sequence

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from icct.envs.base import Frame
from icct.envs.stage import Point, lane_dividers

SIZE = 600
OVERSAMPLING = 2
PAPER = (247, 245, 240)
INK = (52, 58, 64)
ASPHALT = (88, 94, 102)
KERB = (188, 190, 192)
WHITE = (255, 255, 255)
# Slow to fast; told apart with any colour vision, and bright on asphalt.
SPEED_COLOURS = ((214, 72, 46), (250, 205, 108), (86, 180, 233))
VEHICLE_WIDTH_M = 1.9
MARGIN_M = 4.0

Colour = tuple[int, int, int]


class RoadPicture:
    """The top view of a road: drawn once, then vehicles are put on it, frame by frame."""

    def __init__(
        self, lanes: Sequence[Sequence[Point]], lane_width_m: float, colour_top_mps: float
    ) -> None:
        self._top_mps = colour_top_mps
        points = np.array([point for lane in lanes for point in lane])
        low, high = points.min(axis=0), points.max(axis=0)
        span = float((high - low).max()) + lane_width_m + 2 * MARGIN_M
        self._scale = SIZE * OVERSAMPLING / span
        self._centre = (low + high) / 2
        self._road = Image.new("RGB", (SIZE * OVERSAMPLING,) * 2, PAPER)
        pen = ImageDraw.Draw(self._road)
        for colour, extra_m in ((KERB, 0.7), (ASPHALT, 0.0)):
            for lane in lanes:
                self._line(pen, lane, colour, lane_width_m + extra_m)
        for divider in lane_dividers(lanes, lane_width_m):
            self._dashes(pen, divider)
        # A ring has room in its middle for the legend; a figure eight has it in a corner.
        distances = np.hypot(*(points - self._centre).T)
        self._legend_at = (0.5, 0.44) if distances.min() > span / 4 else (0.24, 0.12)
        self._legend(pen)

    def frame(
        self,
        vehicles: Sequence[tuple[float, float, float, float]],
        ego: int | None,
        length_m: float,
        time_s: float,
    ) -> Frame:
        """Return the picture with vehicles given as (x, y, degrees from north, speed).

        `ego` is the number of the ego among them, or None when a collision has removed it.
        """
        image = self._road.copy()
        pen = ImageDraw.Draw(image)
        for index, (x, y, angle, speed) in enumerate(vehicles):
            if index != ego:
                self._vehicle(pen, (x, y), angle, length_m, speed, ego=False)
        lines = [f"{time_s:.1f} s"]
        if vehicles:
            lines.append(f"all {sum(vehicle[3] for vehicle in vehicles) / len(vehicles):.1f} m/s")
        if ego is not None:
            x, y, angle, speed = vehicles[ego]
            self._vehicle(pen, (x, y), angle, length_m, speed, ego=True)
            lines.append(f"ego {speed:.1f} m/s")
        self._note(pen, lines)
        return np.asarray(image.reduce(OVERSAMPLING))

    # -- inside -------------------------------------------------------------------------------

    def _pixel(self, point: Sequence[float]) -> Point:
        half = SIZE * OVERSAMPLING / 2
        x = half + (point[0] - self._centre[0]) * self._scale
        y = half - (point[1] - self._centre[1]) * self._scale
        return float(x), float(y)

    def _line(
        self, pen: ImageDraw.ImageDraw, points: Sequence[Point], colour: Colour, width_m: float
    ) -> None:
        pixels = [self._pixel(point) for point in points]
        width = round(width_m * self._scale)
        pen.line(pixels, fill=colour, width=width, joint="curve")
        for x, y in (pixels[0], pixels[-1]):  # round ends close the gaps between lanes
            pen.ellipse((x - width / 2, y - width / 2, x + width / 2, y + width / 2), fill=colour)

    def _dashes(self, pen: ImageDraw.ImageDraw, points: Sequence[Point]) -> None:
        for start in range(0, len(points) - 1, 2):
            pixels = [self._pixel(point) for point in points[start : start + 2]]
            pen.line(pixels, fill=WHITE, width=round(0.25 * self._scale))

    def _vehicle(
        self,
        pen: ImageDraw.ImageDraw,
        front: Point,
        angle_deg: float,
        length_m: float,
        speed: float,
        ego: bool,
    ) -> None:
        forward = (math.sin(math.radians(angle_deg)), math.cos(math.radians(angle_deg)))
        side = (forward[1], -forward[0])

        def outline(corners: Sequence[Point], grow_m: float = 0.0) -> list[Point]:
            """Place corners given as (metres behind the front, metres to the right)."""
            placed = []
            for back, right in corners:
                back += grow_m if back > length_m / 2 else -grow_m
                right += grow_m if right > 0 else -grow_m
                x = front[0] - back * forward[0] + right * side[0]
                y = front[1] - back * forward[1] + right * side[1]
                placed.append(self._pixel((x, y)))
            return placed

        half = VEHICLE_WIDTH_M / 2
        body = [
            (0.0, -0.6 * half), (0.5, -half), (length_m - 0.3, -half), (length_m, -0.8 * half),
            (length_m, 0.8 * half), (length_m - 0.3, half), (0.5, half), (0.0, 0.6 * half),
        ]  # fmt: skip
        windscreen = [
            (1.3, -0.75 * half),
            (2.0, -0.75 * half),
            (2.0, 0.75 * half),
            (1.3, 0.75 * half),
        ]
        if ego:
            pen.polygon(outline(body, grow_m=0.95), fill=INK)
            pen.polygon(outline(body, grow_m=0.55), fill=WHITE)
        pen.polygon(outline(body), fill=self._colour(speed))
        pen.polygon(outline(windscreen), fill=INK)

    def _colour(self, speed: float) -> Colour:
        place = min(max(speed / self._top_mps, 0.0), 1.0) * (len(SPEED_COLOURS) - 1)
        low = min(int(place), len(SPEED_COLOURS) - 2)
        share = place - low
        a, b = SPEED_COLOURS[low], SPEED_COLOURS[low + 1]
        mixed = [round(u + (v - u) * share) for u, v in zip(a, b, strict=True)]
        return mixed[0], mixed[1], mixed[2]

    def _legend(self, pen: ImageDraw.ImageDraw) -> None:
        x, y = (SIZE * OVERSAMPLING * place for place in self._legend_at)
        width, height = 300, 20
        for column in range(width):
            colour = self._colour(self._top_mps * column / width)
            left = x - width / 2 + column
            pen.rectangle((left, y, left + 1, y + height), fill=colour)
        font = ImageFont.load_default(size=26)
        pen.text((x - width / 2, y + height + 8), "0", fill=INK, font=font, anchor="la")
        text = f"{self._top_mps:g} m/s"
        pen.text((x + width / 2, y + height + 8), text, fill=INK, font=font, anchor="ra")

    def _note(self, pen: ImageDraw.ImageDraw, lines: Sequence[str]) -> None:
        x, y = (SIZE * OVERSAMPLING * place for place in self._legend_at)
        font = ImageFont.load_default(size=32)
        for row, text in enumerate(lines):
            pen.text((x, y + 78 + 42 * row), text, fill=INK, font=font, anchor="ma")


def pendulum_frame(position_m: float, angle: float) -> Frame:
    """Return the side view of the cart on its rail and the pole on it, 600 x 400 pixels."""
    width, height = SIZE * OVERSAMPLING, 400 * OVERSAMPLING
    image = Image.new("RGB", (width, height), PAPER)
    pen = ImageDraw.Draw(image)
    scale, ground = 460.0, height * 0.72  # pixels per metre; the height of the rail

    def pixel(x: float, z: float) -> Point:
        return width / 2 + x * scale, ground - z * scale

    pen.line([pixel(-1.1, 0), pixel(1.1, 0)], fill=KERB, width=14)
    for end in (-1.1, 1.1):
        x, y = pixel(end, 0)
        pen.ellipse((x - 14, y - 14, x + 14, y + 14), fill=INK)
    x, y = pixel(position_m, 0)
    pen.rounded_rectangle((x - 92, y - 46, x + 92, y + 46), radius=24, fill=SPEED_COLOURS[2])
    tip = pixel(position_m + 0.6 * math.sin(angle), 0.6 * math.cos(angle))
    pen.line([(x, y), tip], fill=SPEED_COLOURS[0], width=34)
    for centre, radius, colour in (
        ((x, y), 17, SPEED_COLOURS[0]),
        (tip, 17, SPEED_COLOURS[0]),
        ((x, y), 8, WHITE),
    ):
        left, top = centre[0] - radius, centre[1] - radius
        pen.ellipse((left, top, left + 2 * radius, top + 2 * radius), fill=colour)
    return np.asarray(image.reduce(OVERSAMPLING))

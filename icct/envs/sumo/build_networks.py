"""Rebuild the road networks that ship with the package: `python -m icct.envs.sumo.build_networks`.

Needs netconvert, which the extra `networks` brings (`pip install "icct[networks]"`). Running a
task never needs this file: it reads the finished `networks/*.net.xml`.
"""

import math
import re
import subprocess
import tempfile
from collections.abc import Iterable
from pathlib import Path
from xml.etree import ElementTree

from icct.envs.sumo.scenario import NETWORKS
from icct.errors import MissingExtraError, TaskError

RING_LENGTH_M = 230.0
FIGURE_EIGHT_RADIUS_M = 30.0
ARC_POINTS = 40

Attributes = dict[str, str]


def main(folder: Path = NETWORKS) -> None:
    """Write every network into `folder`."""
    netconvert = find_netconvert()
    for name, (nodes, edges, connections) in {
        "single_lane_ring": ring(lanes=1, speed_limit=30),
        "multi_lane_ring": ring(lanes=2, speed_limit=12),
        "figure_eight": figure_eight(),
    }.items():
        target = folder / f"{name}.net.xml"
        target.write_text(build(netconvert, nodes, edges, connections), encoding="utf-8")
        print(f"wrote {target}")


def find_netconvert() -> Path:
    """Return the path of netconvert in the installed eclipse-sumo package."""
    try:
        import sumo
    except ImportError:
        raise MissingExtraError(
            "Rebuilding the road networks needs netconvert. Install it with: "
            'pip install "icct[networks]"'
        ) from None
    return Path(sumo.SUMO_HOME) / "bin" / "netconvert"


def ring(
    lanes: int, speed_limit: float
) -> tuple[list[Attributes], list[Attributes], list[Attributes]]:
    """Return nodes, edges and connections of a ring of four quarter arcs, counter-clockwise."""
    radius = RING_LENGTH_M / (2 * math.pi)
    corners = {
        "bottom": (0.0, -radius),
        "right": (radius, 0.0),
        "top": (0.0, radius),
        "left": (-radius, 0.0),
    }
    names = list(corners)
    nodes = [{"id": name, "x": repr(x), "y": repr(y)} for name, (x, y) in corners.items()]
    edges = []
    for quarter, name in enumerate(names):
        start = -math.pi / 2 + quarter * math.pi / 2
        angles = spread(start, start + math.pi / 2)
        points = [(radius * math.cos(angle), radius * math.sin(angle)) for angle in angles]
        edges.append(
            {
                "id": name,
                "from": name,
                "to": names[(quarter + 1) % 4],
                "length": repr(RING_LENGTH_M / 4),
                "numLanes": str(lanes),
                "speed": repr(speed_limit),
                "shape": shape(points),
            }
        )
    return nodes, edges, []


def figure_eight() -> tuple[list[Attributes], list[Attributes], list[Attributes]]:
    """Return nodes, edges and connections of two three-quarter circles joined by a crossing."""
    r = FIGURE_EIGHT_RADIUS_M
    nodes = [
        {"id": "center", "x": "0", "y": "0", "type": "priority", "radius": "3.1"},
        {"id": "right", "x": repr(r), "y": "0", "type": "priority"},
        {"id": "top", "x": "0", "y": repr(r), "type": "priority"},
        {"id": "left", "x": repr(-r), "y": "0", "type": "priority"},
        {"id": "bottom", "x": "0", "y": repr(-r), "type": "priority"},
    ]
    upper = [(r * (1 - math.cos(t)), r * (1 + math.sin(t))) for t in spread(0, 1.5 * math.pi)]
    lower = [
        (-r + r * math.cos(t), -r + r * math.sin(t)) for t in spread(0.5 * math.pi, 2 * math.pi)
    ]
    arc = repr(1.5 * math.pi * r)
    common = {"numLanes": "1", "speed": "12"}
    edges = [
        {"id": "bottom", "from": "bottom", "to": "center", "length": repr(r), "priority": "78"},
        {"id": "top", "from": "center", "to": "top", "length": repr(r), "priority": "78"},
        {"id": "right", "from": "right", "to": "center", "length": repr(r), "priority": "46"},
        {"id": "left", "from": "center", "to": "left", "length": repr(r), "priority": "46"},
        {"id": "upper_ring", "from": "top", "to": "right", "length": arc, "shape": shape(upper)},
        {"id": "lower_ring", "from": "left", "to": "bottom", "length": arc, "shape": shape(lower)},
    ]
    connections = [
        {"from": "bottom", "to": "top", "fromLane": "0", "toLane": "0"},
        {"from": "right", "to": "left", "fromLane": "0", "toLane": "0"},
    ]
    return nodes, [edge | common for edge in edges], connections


def build(
    netconvert: Path,
    nodes: list[Attributes],
    edges: list[Attributes],
    connections: list[Attributes],
) -> str:
    """Return the text of the network that netconvert makes, without its comment of paths."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_xml(folder / "nodes.xml", "nodes", "node", nodes)
        write_xml(folder / "edges.xml", "edges", "edge", edges)
        command = [
            str(netconvert),
            f"--node-files={folder / 'nodes.xml'}",
            f"--edge-files={folder / 'edges.xml'}",
            f"--output-file={folder / 'net.xml'}",
            "--no-internal-links=false",
            "--no-turnarounds=true",
        ]
        if connections:
            write_xml(folder / "connections.xml", "connections", "connection", connections)
            command.append(f"--connection-files={folder / 'connections.xml'}")
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise TaskError(f"netconvert failed with status {done.returncode}: {done.stderr}")
        return without_comments((folder / "net.xml").read_text(encoding="utf-8"))


def without_comments(text: str) -> str:
    """Return an XML text without comments: netconvert's holds the paths of the build machine."""
    return re.sub(r"\n*<!--.*?-->\n*", "\n", text, flags=re.DOTALL)


def write_xml(path: Path, root: str, tag: str, rows: Iterable[Attributes]) -> None:
    """Write one element per row."""
    tree = ElementTree.Element(root)
    for row in rows:
        ElementTree.SubElement(tree, tag, row)
    ElementTree.ElementTree(tree).write(path, encoding="utf-8")


def spread(start: float, stop: float) -> list[float]:
    """Return `ARC_POINTS` numbers from start to stop, both included."""
    return [start + (stop - start) * i / (ARC_POINTS - 1) for i in range(ARC_POINTS)]


def shape(points: Iterable[tuple[float, float]]) -> str:
    """Return points as SUMO writes them, with two decimals."""
    return " ".join(f"{x:.2f},{y:.2f}" for x, y in points)


if __name__ == "__main__":
    main()

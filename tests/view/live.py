"""A live server in a thread of the test, and a plain websocket that talks to it."""

import json
import threading
from contextlib import contextmanager
from pathlib import Path

from websockets.sync.client import connect

from icct.view.server import Server
from icct.view.source import Source


@contextmanager
def served(source: Source):
    """Yield a running server."""
    server = Server(source)
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        yield server
    finally:
        server.stop()
        thread.join(20)
        assert not thread.is_alive()


@contextmanager
def tab(server: Server, **options):
    """Yield a websocket that a page of the server could have opened."""
    address = server.url.replace("http", "ws", 1) + "live"
    origin = server.url.rsplit("/", 2)[0]
    with connect(address, origin=origin, proxy=None, **options) as socket:
        yield socket


def say(socket, kind: str, **values) -> None:
    """Send a message."""
    socket.send(json.dumps({"type": kind, **values}))


def hear(socket, kind: str, acknowledge: bool = True) -> dict:
    """Return the next message of a kind; frames before it are acknowledged."""
    while True:
        message = json.loads(socket.recv(timeout=30))
        if message["type"] == "frame" and acknowledge:
            say(socket, "ack", frame=message["frame"])
        if message["type"] == kind:
            return message


def simulators() -> set[int]:
    """Return the processes that this one has spawned for simulators."""
    found = set()
    for thread in Path("/proc/self/task").iterdir():
        for child in (thread / "children").read_text().split():
            try:
                command = Path(f"/proc/{child}/cmdline").read_text()
            except OSError:
                continue
            if "spawn_main" in command:
                found.add(int(child))
    return found

"""The server without a browser: who is let in, what is refused, what is freed."""

import functools
import json
import random
import time
import urllib.error
import urllib.request
from urllib.parse import urlsplit

import pytest

pytest.importorskip("uvicorn")
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

from icct.view.server import LONGEST_BYTES
from icct.view.source import Source
from tests.view.live import hear, say, served, simulators, tab
from tests.view.worlds import Wander, wandering


@pytest.fixture(scope="module")
def server():
    with served(Source(wandering())) as running:
        yield running


def status(url: str, **headers: str) -> int:
    try:
        with urllib.request.urlopen(urllib.request.Request(url, headers=headers)) as answer:
            return answer.status
    except urllib.error.HTTPError as error:
        return error.code


def test_only_who_knows_the_token_gets_the_page(server) -> None:
    origin = server.url.rsplit("/", 2)[0]
    assert status(server.url) == 200
    for path in ("/", "/wrong/", "/wrong/static/view.js", "/static/view.js"):
        assert status(origin + path) == 404, path
    assert status(server.url, Host="evil.example") == 404


def test_no_file_outside_the_static_folder(server) -> None:
    assert status(server.url + "static/view.js") == 200
    for name in (
        "../server.py",
        "..%2fserver.py",
        "%2e%2e/server.py",
        "....//server.py",
        "/etc/passwd",
        "%2fetc%2fpasswd",
        "view.js%00",
        "",
        ".",
        "static/view.js",
    ):
        assert status(server.url + "static/" + name) == 404, name


@pytest.mark.parametrize("change", ["token", "origin", "no origin", "host"])
def test_a_websocket_has_to_come_from_our_own_page(server, change: str) -> None:
    parts = urlsplit(server.url)
    host, token, origin = parts.netloc, parts.path.strip("/"), f"http://{parts.netloc}"
    if change == "token":
        token = "guessed"
    elif change == "host":  # a name of their own that leads to this machine
        host, origin = f"evil.example:{parts.port}", f"http://evil.example:{parts.port}"
    else:
        origin = None if change == "no origin" else "http://evil.example"
    address = ("127.0.0.1", parts.port)
    with pytest.raises(InvalidStatus, match="403"):
        connect(f"ws://{host}/{token}/live", origin=origin, address=address, proxy=None)


def fuzzed(count: int) -> list[str]:
    """Return messages that are nearly right, or not at all."""
    rng = random.Random(7)
    kinds = ["ack", "play", "pause", "step", "seek", "speed", "loop", "reset", "edit", "compare"]
    values = [None, True, -1, 0, 1.5, 2**70, "x", "../../etc/passwd", [], [[]], {}, [{"node": -1}]]
    values += [
        [{"node": 0, "value": 1e999}],
        [{"node": 9, "value": 1, "feature": 0}],
        "\u0000",
        1e308,
    ]
    made = []
    for _ in range(count):
        choice = rng.randrange(5)
        if choice == 0:
            made.append("".join(chr(rng.randrange(32, 0x2FF)) for _ in range(rng.randrange(80))))
        elif choice == 1:
            made.append('{"type":' * rng.randrange(1, 2000))
        elif choice == 2:
            made.append(json.dumps({"type": rng.choice([*kinds, "renew", "__init__", "save", 3])}))
        else:
            names = ["frame", "step", "value", "on", "seed", "changes", "name", "node"]
            fields = {rng.choice(names): rng.choice(values) for _ in range(rng.randrange(1, 3))}
            text = json.dumps({"type": rng.choice(kinds), **fields})
            made.append(text if rng.random() < 0.8 else text[: rng.randrange(len(text))])
    return made


def test_a_thousand_fuzzed_messages_change_nothing_for_others(server) -> None:
    with tab(server) as calm, tab(server) as wild:
        hear(calm, "frame")
        hear(wild, "frame")
        for text in fuzzed(1000):
            wild.send(text)
        wild.send(b"\xff\x00 bytes")
        say(wild, "reset", seed=11)
        while hear(wild, "episode")["seed"] != 11:  # it still answers, in order
            pass
        say(calm, "step")
        assert hear(calm, "frame")["cursor"] == 1
    with tab(server) as fresh:
        assert hear(fresh, "frame")["cursor"] == 0


def test_an_oversized_message_ends_that_tab_alone(server) -> None:
    with tab(server) as calm, tab(server) as wild:
        hear(calm, "frame")
        hear(wild, "frame")
        wild.send("x" * (LONGEST_BYTES + 1))
        with pytest.raises(ConnectionClosed) as closed:
            hear(wild, "never")
        assert closed.value.rcvd.code == 1009
        say(calm, "step")
        assert hear(calm, "frame")["cursor"] == 1


def test_one_frame_is_on_its_way_and_the_newest_follows(server) -> None:
    with tab(server) as socket:
        first = hear(socket, "frame", acknowledge=False)
        say(socket, "speed", value=1000)
        say(socket, "play")
        with pytest.raises(TimeoutError):
            socket.recv(timeout=0.4)  # nothing more until the first one is drawn
        say(socket, "ack", frame=first["frame"] + 5)  # not the one on its way
        with pytest.raises(TimeoutError):
            socket.recv(timeout=0.1)
        say(socket, "ack", frame=first["frame"])
        newest = hear(socket, "frame", acknowledge=False)
        assert newest["frame"] == first["frame"] + 1
        assert newest["steps"][0]["step"] > 2  # those between were never sent ...
        assert len(newest["traces"][0]) == newest["cursor"]  # ... but the charts have all of them


def test_a_tab_that_vanishes_frees_its_simulator() -> None:
    with served(Source(wandering())) as running:
        before = simulators()
        for _ in range(5):
            with tab(running) as socket:
                hear(socket, "frame")
                assert len(simulators() - before) == 1
        assert freed(before)


def test_a_tab_that_vanishes_frees_a_simulator_that_hangs() -> None:
    with served(Source(wandering(functools.partial(Wander, hangs=True)))) as running:
        before = simulators()
        with tab(running) as socket:
            hear(socket, "frame")
            say(socket, "step")
            time.sleep(0.2)
        assert freed(before)


def freed(before: set[int]) -> bool:
    end = time.monotonic() + 10
    while simulators() - before and time.monotonic() < end:
        time.sleep(0.05)
    return not simulators() - before


def test_a_crash_is_said_and_a_restart_helps() -> None:
    source = Source(wandering(functools.partial(Wander, dies_at=3)))
    with served(source) as running, tab(running) as socket:
        hear(socket, "frame")
        for _ in range(3):
            say(socket, "step")
        assert "ended with status 3" in hear(socket, "crashed")["why"]
        say(socket, "play")  # nothing to play: it is ignored
        say(socket, "reset", seed=2)
        assert hear(socket, "episode")["seed"] == 2
        assert hear(socket, "frame")["cursor"] == 0

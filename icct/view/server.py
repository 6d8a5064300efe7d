"""The live view's server: one page, its modules, and a websocket for each tab.

It listens on this machine only, unless told otherwise, and answers nobody who does not know the
random token of its address. A websocket has to come from its own page. Served is what static/
holds, by name: no path of a request ever reaches the file system.
"""

import asyncio
import secrets
import socket
import sys
import webbrowser
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import PurePosixPath

from icct.errors import ConfigError, MissingExtraError
from icct.view.message import LONGEST
from icct.view.shell import TYPES, live_page, static_files
from icct.view.source import Source

try:
    import uvicorn
    from starlette.applications import Starlette
    from starlette.requests import HTTPConnection, Request
    from starlette.responses import HTMLResponse, PlainTextResponse, Response
    from starlette.routing import Route, WebSocketRoute
    from starlette.websockets import WebSocket

    from icct.view.session import Session
except ImportError as error:
    raise MissingExtraError(
        f'The live view needs {error.name}. Install it with: pip install "icct[view]"'
    ) from None

HOST = "127.0.0.1"
MOST_TABS = 16  # each has a simulator of its own
CLOSE_WITHIN_S = 5
LONGEST_BYTES = 4 * LONGEST  # of a message; a letter takes up to four


class Door:
    """Who may come in: whoever knows the token, calls us by our name, and from our own page."""

    def __init__(self, hosts: Sequence[str], port: int, token: str) -> None:
        self.token = token
        self.port = port
        self._names = {f"{host}:{port}" for host in hosts}

    def admits(self, connection: HTTPConnection) -> bool:
        """Return whether a request or a websocket may come in."""
        token = connection.path_params.get("token", "")
        if not secrets.compare_digest(token.encode(), self.token.encode()):
            return False
        # Another site can have its own name lead to this machine: then the name tells.
        if connection.headers.get("host") not in self._names:
            return False
        origin = connection.headers.get("origin")
        if connection.scope["type"] == "websocket":
            return origin is not None and origin.removeprefix("http://") in self._names
        return True


def make_app(source: Source, door: Door) -> Starlette:
    """Return the application that shows a source."""

    async def page(request: Request) -> Response:
        if not door.admits(request):
            return _refusal()
        nonce = secrets.token_urlsafe(16)
        return HTMLResponse(live_page(source.show.policy.name, nonce), headers=_headers(nonce))

    async def static(request: Request) -> Response:
        content = static_files().get(name := request.path_params["name"])
        if content is None or not door.admits(request):
            return _refusal()
        kind = TYPES.get(PurePosixPath(name).suffix, "text/plain")
        return Response(content, media_type=kind, headers=_headers())

    async def live(tab: WebSocket) -> None:
        if not door.admits(tab):
            await tab.close()  # before accepting: the browser gets a plain 403
            return
        await tab.accept()
        if len(source.sessions) >= MOST_TABS:
            await tab.close(4000, f"{MOST_TABS} tabs are open already; close one first.")
            return
        await Session(tab, source).serve()

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        watching = asyncio.create_task(source.watch())
        yield
        watching.cancel()
        with suppress(asyncio.CancelledError):
            await watching

    routes = [
        Route("/{token}/", page),
        Route("/{token}/static/{name}", static),
        WebSocketRoute("/{token}/live", live),
    ]
    return Starlette(routes=routes, lifespan=lifespan)


def _refusal() -> Response:
    return PlainTextResponse("There is nothing here.\n", 404)


def _headers(nonce: str = "") -> dict[str, str]:
    allowed = (
        "default-src 'none'; img-src data:; connect-src 'self'; base-uri 'none'; "
        f"form-action 'none'; frame-ancestors 'none'; script-src 'self' 'nonce-{nonce}'; "
        "style-src 'self' 'unsafe-inline'"
    )
    return {
        "Content-Security-Policy": allowed,
        "Cache-Control": "no-store",
        "Referrer-Policy": "no-referrer",
        "X-Content-Type-Options": "nosniff",
    }


class Server:
    """A server that has its address before it runs.

    Args:
        source: What to show.
        host: The address to listen on.
        port: The port to listen on; 0 takes any that is free.
    """

    def __init__(self, source: Source, host: str = HOST, port: int = 0) -> None:
        self._socket = _listening(host, port)
        port = self._socket.getsockname()[1]
        token = secrets.token_urlsafe(24)
        self.url = f"http://{host}:{port}/{token}/"
        hosts = {host, "localhost"} if host == HOST else {host}
        self.app = make_app(source, Door(sorted(hosts), port, token))
        self._server = uvicorn.Server(
            uvicorn.Config(
                self.app,
                log_level="error",
                ws="websockets-sansio",
                ws_max_size=LONGEST_BYTES,
                ws_per_message_deflate=False,  # on one machine it costs more than it saves
                timeout_graceful_shutdown=CLOSE_WITHIN_S,
            )
        )

    def run(self) -> None:
        """Serve until Ctrl-C, SIGTERM or `stop`."""
        with suppress(KeyboardInterrupt):
            self._server.run(sockets=[self._socket])

    def stop(self) -> None:
        """Ask the server to end; from any thread."""
        self._server.should_exit = True


def _listening(host: str, port: int) -> socket.socket:
    listening = socket.socket()
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((host, port))
        listening.listen()  # from now on, so that a browser may come before the server runs
    except (OSError, OverflowError) as problem:
        listening.close()
        raise ConfigError(
            f"{host}:{port} cannot be listened on ({problem}). Choose another --port, or none."
        ) from None
    return listening


def view(source: Source, *, host: str = HOST, port: int = 0, browser: bool = True) -> None:
    """Show a source in a browser until Ctrl-C."""
    server = Server(source, host, port)
    print(f"{server.url}\nCtrl-C ends it.", file=sys.stderr)
    if browser:
        webbrowser.open(server.url)
    server.run()

"""One tab: what it has asked for, and what is sent to it.

Three tasks: `_hear` reads messages, `_play` obeys them and steps the simulators, `_tell` sends
frames. One frame is on its way at a time; while the browser draws it the episode goes on, and what
it gets next is the newest step. A queue of frames would lag behind for ever.
"""

import asyncio
import contextlib
import json
from typing import Any

from starlette.websockets import WebSocket, WebSocketDisconnect

from icct.errors import IcctError, PolicyError, TaskError
from icct.policy import Policy
from icct.view.about import policy_about, show_about
from icct.view.change import consequences, edited_policy, save_new
from icct.view.clock import Clock
from icct.view.message import Message, MessageError, read_message
from icct.view.playback import Playback
from icct.view.process import compact
from icct.view.source import Source

MOST_WAITING = 64  # messages; the browser has to wait with more
MOST_AHEAD = 16  # steps while the browser draws one frame; a hidden page draws none


class Session:
    """Everything that belongs to one tab; nothing of it outlives the tab."""

    def __init__(self, socket: WebSocket, source: Source) -> None:
        self._socket, self._source = socket, source
        self._messages: asyncio.Queue[Message] = asyncio.Queue(MOST_WAITING)
        self._news = asyncio.Event()  # something to show
        self._seen = asyncio.Event()  # the browser has drawn the frame before
        self._seen.set()
        self._frame = 0  # the number of the frame on its way
        self._ahead = 0  # steps since it was sent
        self._show = source.show
        self._edited: Policy | None = None
        self._clock = Clock(self._show.step_s)
        self._playback = Playback(source.seed)
        self._playing = self._loop = self._crashed = self._comparing = False

    async def serve(self) -> None:
        """Serve the tab until it is gone."""
        self._source.sessions.add(self)
        try:
            async with asyncio.TaskGroup() as tasks:
                for work in (self._hear, self._play, self._tell):
                    tasks.create_task(work())
        except* WebSocketDisconnect:
            pass
        finally:
            self._source.sessions.discard(self)
            await asyncio.shield(asyncio.create_task(self._playback.close()))

    def renew(self) -> None:
        """Note that the source has something newer."""
        with contextlib.suppress(asyncio.QueueFull):  # it will be asked again
            self._messages.put_nowait(Message("renew", {}))

    # -- hearing and telling --------------------------------------------------------------------

    async def _hear(self) -> None:
        while True:
            event = await self._socket.receive()
            if event["type"] == "websocket.disconnect":
                raise WebSocketDisconnect
            try:
                if event.get("text") is None:
                    raise MessageError("bytes, expected text.")
                message = read_message(event["text"])
            except MessageError as error:
                await self._send({"type": "refused", "why": str(error)})
                continue
            if message.type != "ack":
                await self._messages.put(message)
            elif message.values["frame"] == self._frame:
                self._seen.set()

    async def _tell(self) -> None:
        while True:
            await self._news.wait()
            await self._seen.wait()
            self._news.clear()
            if not self._crashed:
                self._seen.clear()
                self._frame, self._ahead = self._frame + 1, 0
                frame = self._playback.frame(frame=self._frame, playing=self._playing)
                await self._socket.send_text(frame)

    async def _send(self, content: dict[str, Any]) -> None:
        await self._socket.send_text(compact(content))

    # -- playing: the only task that touches the simulators ---------------------------------------

    async def _play(self) -> None:
        await self._introduce()
        await self._begin()
        while True:
            message = await self._next_message()
            try:
                if message is None:
                    await self._advance()
                else:
                    await getattr(self, f"_on_{message.type}")(**message.values)
            except TaskError as error:
                await self._crash(error)
            except IcctError as error:
                await self._send({"type": "failed", "why": str(error)})

    async def _next_message(self) -> Message | None:
        """Return what is asked for next; None when the next step is due before that."""
        if not self._playing:
            return await self._messages.get()
        with contextlib.suppress(asyncio.QueueEmpty):
            return self._messages.get_nowait()
        if self._ahead >= MOST_AHEAD and not self._seen.is_set():
            return await self._first_of(self._seen.wait())
        wait_s = self._clock.wait_s()
        if wait_s <= 0.0:
            return None
        with contextlib.suppress(TimeoutError):
            return await asyncio.wait_for(self._messages.get(), wait_s)
        return None

    async def _first_of(self, other: Any) -> Message | None:
        """Return the next message; None when something else happens first."""
        asked, happened = asyncio.create_task(self._messages.get()), asyncio.create_task(other)
        try:
            await asyncio.wait([asked, happened], return_when=asyncio.FIRST_COMPLETED)
            return asked.result() if asked.done() else None
        finally:
            asked.cancel()
            happened.cancel()

    async def _advance(self) -> None:
        if self._crashed:
            return
        self._clock.tick()
        self._ahead += 1
        if not self._playback.over:
            await self._playback.advance()
        elif self._loop and self._playing:
            self._playback.seed += 1
            await self._begin()
        else:
            self._playing = False
        self._news.set()

    async def _begin(self) -> None:
        """Start the episode of the present seed anew, with all the policies that are watched."""
        policies = [self._show.policy]
        if self._comparing and self._edited is not None:
            policies.append(self._edited)
        await self._send({"type": "starting", "seed": self._playback.seed})
        try:
            await self._playback.begin(self._show, policies)
        except TaskError as error:
            await self._crash(error)
            return
        self._crashed = False
        await self._socket.send_text(self._playback.opening())
        self._news.set()

    async def _crash(self, error: TaskError) -> None:
        self._playing, self._crashed = False, True
        await self._send({"type": "crashed", "why": str(error)})

    async def _introduce(self) -> None:
        await self._send({"type": "about", **show_about(self._show), **self._source.about()})

    # -- what a page can ask for ------------------------------------------------------------------

    async def _on_play(self) -> None:
        if self._crashed:
            return
        if self._playback.over:
            self._playback.seek(0)  # from the start, like a film
        self._playing = True
        self._news.set()

    async def _on_pause(self) -> None:
        self._playing = False
        self._news.set()

    async def _on_step(self) -> None:
        self._playing = False
        await self._advance()

    async def _on_seek(self, step: int) -> None:
        self._playing = False
        if not self._crashed:
            self._playback.seek(step)
            self._news.set()

    async def _on_speed(self, value: float) -> None:
        self._clock.speed = value

    async def _on_loop(self, on: bool) -> None:
        self._loop = on

    async def _on_reset(self, seed: int) -> None:
        self._playback.seed = seed
        await self._begin()

    async def _on_edit(self, changes: Any) -> None:
        if not changes:
            await self._on_compare(on=False)
            self._edited = None
            await self._send({"type": "edited", "policy": None})
            return
        original = self._show.policy
        edited = edited_policy(original, changes)
        step = self._playback.shown
        seen = json.loads(step.text)["observation"] if step else None
        found = await asyncio.to_thread(consequences, original, edited, self._show.properties, seen)
        self._edited = edited
        await self._send({"type": "edited", "policy": policy_about(edited), **found})
        if self._comparing:
            await self._begin()

    async def _on_compare(self, on: bool) -> None:
        if on and self._edited is None:
            raise PolicyError("there is no edited policy to run beside the original.")
        if on != self._comparing:
            self._comparing = on
            await self._begin()

    async def _on_save(self, name: str) -> None:
        if self._edited is None:
            raise PolicyError("nothing is changed: there is no edited policy to save.")
        path = await asyncio.to_thread(save_new, self._edited, self._source.folder, name)
        await self._send({"type": "saved", "path": str(path)})

    async def _on_renew(self) -> None:
        """Take what is newest in a run folder; an edit stays with the policy that it is of."""
        fresh = self._source.show
        if self._edited is None and fresh is not self._show:
            self._show = fresh
            await self._introduce()
            await self._begin()
        else:
            await self._send({"type": "curve", **self._source.about()})

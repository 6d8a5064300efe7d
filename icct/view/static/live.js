// The live page: messages come from the server that this page came from.
import { makeView } from "icct/view.js";

const socket = new WebSocket(new URL("live", location.href).href.replace(/^http/, "ws"));
const view = makeView((message) => {
  if (socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify(message));
}, { live: true });
socket.addEventListener("message", (event) => view.receive(JSON.parse(event.data)));
socket.addEventListener("close", (event) => view.notice(
  event.reason || "The connection to icct view is gone. Is it still running?",
  ["Try again", () => location.reload()]));
globalThis.icctView = view; // for tests and for the curious

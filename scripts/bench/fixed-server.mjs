// Answers every request after a fixed time: what two load generators must agree on.
import { createServer } from "node:http";

const delay_ms = Number(process.env.DELAY_MS);
const body = "{}";
const head = { "content-type": "application/json", "content-length": body.length };
const answer = (response) => response.writeHead(200, head).end(body);

// One timer serves all that wait: they wait equally long, so the first that came is the first to go.
const waiting = [];
const now = () => Number(process.hrtime.bigint()) / 1e6;
let isLooking = false;
function look() {
  const time = now();
  while (waiting.length > 0 && waiting[0].due <= time) answer(waiting.shift().response);
  isLooking = waiting.length > 0;
  // A timer of the event loop comes up to a millisecond late: the last of them are spun through.
  if (isLooking && waiting[0].due - time > 2) setTimeout(look, waiting[0].due - time - 1.5);
  else if (isLooking) setImmediate(look);
}

const server = createServer((_request, response) => {
  waiting.push({ due: now() + delay_ms, response });
  if (!isLooking) {
    isLooking = true;
    look();
  }
});
server.keepAliveTimeout = 120_000;
server.listen(Number(process.env.PORT), "127.0.0.1");

// Answers every request after a fixed time: what two load generators must agree on.
import { createServer } from "node:http";
import { Worker } from "node:worker_threads";

const delay_ms = Number(process.env.DELAY_MS);
const body = "{}";
const head = { "content-type": "application/json", "content-length": body.length };

// Timers of the event loop have whole milliseconds, which is half of the shortest time: a thread sleeps exactly, and
// says when the time is over. All wait equally long, so the first that came is the first to be answered.
const shared = new Int32Array(new SharedArrayBuffer(8));
const sleeper = new Worker(
  `const { parentPort, workerData: shared } = require("node:worker_threads");
  parentPort.on("message", (ms) => {
    if (ms > 0) Atomics.wait(shared, 0, 0, ms);
    parentPort.postMessage(null);
  });`,
  { eval: true, workerData: shared },
);
const waiting = [];
const now = () => Number(process.hrtime.bigint()) / 1e6;
const sleep = () => sleeper.postMessage(waiting[0].due - now());
sleeper.on("message", () => {
  while (waiting.length > 0 && waiting[0].due <= now())
    waiting.shift().response.writeHead(200, head).end(body);
  if (waiting.length > 0) sleep();
});

const server = createServer((_request, response) => {
  waiting.push({ due: now() + delay_ms, response });
  if (waiting.length === 1) sleep();
});
server.keepAliveTimeout = 120_000;
server.listen(Number(process.env.PORT), "127.0.0.1");

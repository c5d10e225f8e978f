// Answers every request after a fixed time, on which two load generators must agree. It only supports requests without a
// body: a cheap request matters, because answers that fall due together wait for each other.
import { createServer } from "node:net";
import { Worker } from "node:worker_threads";

const delay_ms = Number(process.env.DELAY_MS);
// The share by which times vary, evenly, so that connections that begin together do not stay in step. 0 by default.
const variation = Number(process.env.VARIATION ?? 0);
const answer = Buffer.from(
  "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 2\r\nconnection: keep-alive\r\n\r\n{}",
);
const REQUEST_END = "\r\n\r\n";

// Timers of the event loop have whole milliseconds, half of the shortest delay. So a thread sleeps for the exact time and
// sends a message. All requests wait equally long, so they are answered in the order of arrival.
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
  while (waiting.length > 0 && waiting[0].due <= now()) {
    const { socket } = waiting.shift();
    if (!socket.destroyed) socket.write(answer);
  }
  if (waiting.length > 0) sleep();
});

const server = createServer({ noDelay: true }, (socket) => {
  let begun = "";
  // A client may disconnect at any time.
  socket.on("error", () => {});
  socket.on("data", (bytes) => {
    const requests = (begun + bytes.toString("latin1")).split(REQUEST_END);
    begun = requests.pop();
    for (const _request of requests) {
      if (variation > 0) {
        setTimeout(
          () => socket.write(answer),
          delay_ms * (1 + variation * (2 * Math.random() - 1)),
        );
        continue;
      }
      waiting.push({ due: now() + delay_ms, socket });
      if (waiting.length === 1) sleep();
    }
  });
});
server.listen(Number(process.env.PORT), "127.0.0.1");

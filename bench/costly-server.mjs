// Answers every request at once, after CPU work that it measures itself: REQUEST_US for each request, WAKE_US for each
// wake-up of its event loop in which requests come. It only supports requests without a body.
import { createServer } from "node:net";
import { work } from "./work.mjs";

const requestUs = Number(process.env.REQUEST_US ?? 0);
const wakeUs = Number(process.env.WAKE_US ?? 0);
const answer = Buffer.from(
  "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 2\r\nconnection: keep-alive\r\n\r\n{}",
);
const REQUEST_END = "\r\n\r\n";

let burnt_us = 0;
let isAwake = false;

/**
 * Burns CPU time, not time, so that another program that takes the CPU changes nothing. What the
 * first call to the clock costs after a sleep is not in it: so both servers that are compared burn
 * some. The work between calls leaves little garbage.
 */
function burn(us) {
  if (us === 0) return;
  const from = process.cpuUsage();
  let used_us = 0;
  while (used_us < us) {
    work(400);
    const { user, system } = process.cpuUsage(from);
    used_us = user + system;
  }
  burnt_us += used_us;
}

const server = createServer({ noDelay: true }, (socket) => {
  let begun = "";
  // A client may disconnect at any time.
  socket.on("error", () => {});
  socket.on("data", (bytes) => {
    if (!isAwake) {
      isAwake = true;
      setImmediate(() => {
        isAwake = false;
      });
      burn(wakeUs);
    }
    const requests = (begun + bytes.toString("latin1")).split(REQUEST_END);
    begun = requests.pop();
    for (const _request of requests) {
      burn(requestUs);
      socket.write(answer);
    }
  });
});
process.on("message", (question) => {
  if (question === "burnt") process.send?.({ burnt_us });
});
server.listen(Number(process.env.PORT), "127.0.0.1");

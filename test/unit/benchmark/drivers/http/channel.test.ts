import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { httpChannels, retryAfterMs } from "../../../../../src/benchmark/drivers/http/channel.js";
import { connectionsTo } from "../../../../../src/benchmark/drivers/http/requests.js";
import { DecisionLog } from "../../../../../src/benchmark/measurement/decision-log.js";

test("the header Retry-After in seconds, wherever it stands; a date or none is not a wait", () => {
  const head = (line: string) => `HTTP/1.1 429 Too Many Requests\r\n${line}Content-Length: 2\r\n\r\n{}`;
  expect(retryAfterMs(head("Retry-After: 2\r\n"))).toBe(2000);
  expect(retryAfterMs(head("retry-after:30\r\n"))).toBe(30_000);
  expect(retryAfterMs(head("Retry-After: Fri, 31 Dec 1999 23:59:59 GMT\r\n"))).toBeNaN();
  expect(retryAfterMs(head("x-retry-after: 2\r\n"))).toBeNaN();
  expect(retryAfterMs(head(""))).toBeNaN();
});

test("a log gets answers that come in one read or in pieces, with their waits", async () => {
  const answers = [
    ["HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}"],
    ["HTTP/1.1 429 Too Many\r\nretry-after: 2\r\ncontent-length: 2\r\n\r\n{}"],
    ["HTTP/1.1 429 Too Many\r\nretry-af", "ter: 3\r\ntransfer-encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n"],
    ["HTTP/1.1 200 OK\r\nretry-after: 4\r\ncontent-length: 2\r\n\r\n{}"],
    ["HTTP/1.1 503 Unavailable\r\nretry-after: 5\r\ncontent-length: 2\r\n\r\n{}"],
  ];
  let next = 0;
  const server = createServer({ noDelay: true }, (socket) => {
    socket.on("data", () => {
      const [first = "", second] = answers[next++] ?? [];
      socket.write(first);
      if (second) setImmediate(() => socket.write(second));
    });
    socket.on("error", () => {});
    onTestFinished(() => void socket.destroy());
  });
  server.listen(0, "127.0.0.1");
  onTestFinished(() => void server.close());
  await once(server, "listening");
  const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/light`);
  const log = new DecisionLog(10);
  const requests = { requests: [["user-0"]] as const, streams: [{ next: () => 0 }], first: 0, log };
  let left = answers.length;
  await new Promise<void>((resolve) => {
    const channel = httpChannels(connectionsTo([url], requests))(0, {
      ready: () => (left-- > 0 ? channel.send() : resolve()),
      answered: () => {},
      lost: () => {},
    });
    onTestFinished(() => channel.close());
  });
  const { outcome, wait_ms } = log.columns();
  expect([...outcome]).toEqual([1, 2, 2, 1, 0]);
  expect([...wait_ms]).toEqual([Number.NaN, 2000, 3000, Number.NaN, Number.NaN]);
});

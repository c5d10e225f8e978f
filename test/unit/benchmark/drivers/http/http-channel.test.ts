import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { HTTPParser } from "http-parser-js";
import { describe, expect, onTestFinished, test } from "vitest";
import {
  httpChannels,
  retryAfterMs,
  wholeResponseStatus,
} from "../../../../../src/benchmark/drivers/http/http-channel.js";
import {
  connectionsTo,
  outcomeOfStatus,
  requestBuffer,
} from "../../../../../src/benchmark/drivers/http/requests.js";
import { DecisionLog } from "../../../../../src/benchmark/measurement/decision-log.js";
import { FRESH_KEY } from "../../../../../src/traffic/traffic-types.js";

test.each([
  [200, "allowed"],
  [204, "allowed"],
  [299, "allowed"],
  [429, "limited"],
  [302, "failed"],
  [400, "failed"],
  [428, "failed"],
  [503, "failed"],
] as const)("the outcome of a status %i is %s", (status, outcome) => {
  expect(outcomeOfStatus(status)).toBe(outcome);
});

test("a request carries each of its descriptors, encoded, and keeps its connection", () => {
  const url = new URL("http://127.0.0.1:3001/base/light");
  expect(requestBuffer({ url }, ["user-1", "a b&c"]).toString()).toBe(
    "GET /base/light?userId=user-1&userId=a+b%26c HTTP/1.1\r\nHost: 127.0.0.1:3001\r\nConnection: keep-alive\r\n\r\n",
  );
});

test("a request to an app has its key in path and headers, and fresh keys keep their digits", () => {
  const url = new URL("http://127.0.0.1:3001");
  const request = { path: "/items?user={key}&a=1", headers: { "X-Api-Key": "{key}" } };
  expect(requestBuffer({ url, request }, ["a b"]).toString()).toBe(
    "GET /items?user=a%20b&a=1 HTTP/1.1\r\nHost: 127.0.0.1:3001\r\nConnection: keep-alive\r\nX-Api-Key: a b\r\n\r\n",
  );
  expect(requestBuffer({ url, request }, [FRESH_KEY]).toString().split(FRESH_KEY)).toHaveLength(3);
});

describe("the connections of a run to several servers", () => {
  const servers = ["http://a:1/light", "http://b:2/light", "http://c:3/light"].map((url) => ({
    url: new URL(url),
  }));
  const stream = { next: () => 0 };
  const connections = (count: number, first = 0) =>
    connectionsTo(servers, { requests: [[FRESH_KEY]], streams: Array(count).fill(stream), first });

  test("are spread evenly, however many workers there are", () => {
    const one = connections(7).map(({ url }) => url.host);
    expect(one).toEqual(["a:1", "b:2", "c:3", "a:1", "b:2", "c:3", "a:1"]);
    expect([...connections(4), ...connections(3, 4)].map(({ url }) => url.host)).toEqual(one);
  });

  test("send to their own server, each with fresh keys of its own", () => {
    const sent = connections(4, 2).flatMap(({ url, source }) =>
      [1, 2].map(() => {
        const text = source.next().requestBuffer.toString();
        expect(text).toContain(`Host: ${url.host}\r\n`);
        return /userId=(\S+)/.exec(text)?.[1];
      }),
    );
    expect(new Set(sent).size).toBe(8);
  });
});

const withLineEnds = (text: string) => text.replaceAll("\n", "\r\n");
const answer = (head: string, body = "") => Buffer.from(withLineEnds(`${head}\n\n`) + body);
const status = (bytes: Buffer) => wholeResponseStatus(bytes, bytes.length);

/**
 * What the parser, which is the judge, makes of the same bytes: the status of one answer that is
 * complete.
 */
function parsed(bytes: Buffer): { status: number; isKept: boolean } | undefined {
  const parser = new HTTPParser(HTTPParser.RESPONSE);
  const answers: number[] = [];
  let isKept = false;
  let last = 0;
  parser[HTTPParser.kOnHeadersComplete] = ({ statusCode, shouldKeepAlive }) => {
    last = statusCode ?? 0;
    isKept = shouldKeepAlive;
  };
  parser[HTTPParser.kOnMessageComplete] = () => void answers.push(last);
  const read = parser.execute(bytes, 0, bytes.length);
  const [only, ...more] = answers;
  return only !== undefined && more.length === 0 && read === bytes.length
    ? { status: only, isKept }
    : undefined;
}

test.each([
  [200, answer("HTTP/1.1 200 OK\nContent-Length: 2", "{}")],
  [429, answer("HTTP/1.1 429 Too Many Requests\ncontent-length:2\nconnection: keep-alive", "{}")],
  [503, answer("HTTP/1.1 503 \nCONNECTION: Keep-Alive\ncontent-length: 0")],
  [
    200,
    answer(
      "HTTP/1.1 200 OK\ncontent-type: application/json\nx-content-length: 9\ncontent-length: 11\nkeep-alive: timeout=5",
      "hello\r\n\r\nx\n",
    ),
  ],
])("an answer in one piece has its status, %i", (expected, bytes) => {
  expect(status(bytes)).toBe(expected);
  expect(parsed(bytes)).toEqual({ status: expected, isKept: true });
});

test.each([
  [
    "an answer in chunks",
    answer("HTTP/1.1 200 OK\nTransfer-Encoding: chunked", "2\r\n{}\r\n0\r\n\r\n"),
  ],
  [
    "chunks and a length",
    answer("HTTP/1.1 200 OK\ncontent-length: 2\ntransfer-encoding: chunked", "{}"),
  ],
  ["one without a length", answer("HTTP/1.1 200 OK", "{}")],
  [
    "one that closes the connection",
    answer("HTTP/1.1 200 OK\nconnection: close\ncontent-length: 2", "{}"),
  ],
  ["a body that is not here yet", answer("HTTP/1.1 200 OK\ncontent-length: 3", "{}")],
  ["two answers at once", answer("HTTP/1.1 200 OK\ncontent-length: 0", "HTTP/1.1 200 OK\r\n")],
  ["one without a body by its status", answer("HTTP/1.1 204 No Content")],
  ["one that announces another", answer("HTTP/1.1 100 Continue\ncontent-length: 0")],
  ["HTTP/1.0", answer("HTTP/1.0 200 OK\ncontent-length: 0")],
  ["two lengths", answer("HTTP/1.1 200 OK\ncontent-length: 2\ncontent-length: 2", "{}")],
  ["a length that is no number", answer("HTTP/1.1 200 OK\ncontent-length: 2, 2", "{}")],
  ["a negative length", answer("HTTP/1.1 200 OK\ncontent-length: -2", "{}")],
  ["a length without digits", answer("HTTP/1.1 200 OK\ncontent-length: ")],
  [
    "lines that end with a line feed alone",
    Buffer.from("HTTP/1.1 200 OK\r\ncontent-length: 0\n\r\n"),
  ],
  ["a continued line", answer("HTTP/1.1 200 OK\nx: 1\n  continued\ncontent-length: 0")],
  ["no HTTP", Buffer.from("220 mail.example.com ESMTP\r\n\r\n")],
  ["nothing", Buffer.alloc(0)],
])("is read by the parser: %s", (_what, bytes) => {
  expect(status(bytes)).toBe(0);
});

test("for truncated and corrupted answers the fast path never disagrees with the parser", () => {
  const whole = answer(
    "HTTP/1.1 200 OK\nContent-Length: 12\nConnection: keep-alive\nDate: today",
    "hello, world",
  );
  for (let length = 0; length < whole.length; length++) {
    // Behind the bytes that were read stand those of an earlier answer, as they do in the shared
    // buffer.
    expect(wholeResponseStatus(whole, length), `cut at ${length}`).toBe(0);
  }
  for (let cut = 0; cut < whole.length; cut++) {
    for (const byte of [0, 10, 13, 32, 48, 57, 58, 65, 99, 255]) {
      const spoilt = Buffer.from(whole);
      spoilt[cut] = byte;
      const quick = status(spoilt);
      if (quick !== 0)
        expect({ status: quick, isKept: true }, `byte ${cut} is ${byte}`).toEqual(parsed(spoilt));
    }
  }
});

test("the header Retry-After in seconds, wherever it stands; a date or none is not a wait", () => {
  const head = (line: string) =>
    `HTTP/1.1 429 Too Many Requests\r\n${line}Content-Length: 2\r\n\r\n{}`;
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
    [
      "HTTP/1.1 429 Too Many\r\nretry-af",
      "ter: 3\r\ntransfer-encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
    ],
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
  let remaining = answers.length;
  await new Promise<void>((resolve) => {
    const channel = httpChannels(connectionsTo([{ url }], requests))(0, {
      ready: () => (remaining-- > 0 ? channel.send() : resolve()),
      answered: () => {},
      lost: () => {},
    });
    onTestFinished(() => channel.close());
  });
  const { outcome, wait_ms } = log.columns();
  expect([...outcome]).toEqual([1, 2, 2, 1, 0]);
  expect([...wait_ms]).toEqual([Number.NaN, 2000, 3000, Number.NaN, Number.NaN]);
});

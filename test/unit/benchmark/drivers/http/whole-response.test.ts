import { HTTPParser } from "http-parser-js";
import { expect, test } from "vitest";
import { wholeResponseStatus } from "../../../../../src/benchmark/drivers/http/channel.js";

const plain = (text: string) => text.replaceAll("\n", "\r\n");
const answer = (head: string, body = "") => Buffer.from(plain(`${head}\n\n`) + body);
const status = (bytes: Buffer) => wholeResponseStatus(bytes, bytes.length);

/** What the parser, which is the judge, makes of the same bytes: the status of one answer that is complete. */
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
  ["an answer in chunks", answer("HTTP/1.1 200 OK\nTransfer-Encoding: chunked", "2\r\n{}\r\n0\r\n\r\n")],
  ["chunks and a length", answer("HTTP/1.1 200 OK\ncontent-length: 2\ntransfer-encoding: chunked", "{}")],
  ["one without a length", answer("HTTP/1.1 200 OK", "{}")],
  ["one that closes the connection", answer("HTTP/1.1 200 OK\nconnection: close\ncontent-length: 2", "{}")],
  ["a body that is not here yet", answer("HTTP/1.1 200 OK\ncontent-length: 3", "{}")],
  ["two answers at once", answer("HTTP/1.1 200 OK\ncontent-length: 0", "HTTP/1.1 200 OK\r\n")],
  ["one without a body by its status", answer("HTTP/1.1 204 No Content")],
  ["one that announces another", answer("HTTP/1.1 100 Continue\ncontent-length: 0")],
  ["HTTP/1.0", answer("HTTP/1.0 200 OK\ncontent-length: 0")],
  ["two lengths", answer("HTTP/1.1 200 OK\ncontent-length: 2\ncontent-length: 2", "{}")],
  ["a length that is no number", answer("HTTP/1.1 200 OK\ncontent-length: 2, 2", "{}")],
  ["a negative length", answer("HTTP/1.1 200 OK\ncontent-length: -2", "{}")],
  ["a length without digits", answer("HTTP/1.1 200 OK\ncontent-length: ")],
  ["lines that end with a line feed alone", Buffer.from("HTTP/1.1 200 OK\r\ncontent-length: 0\n\r\n")],
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
    // Behind the bytes that were read stand those of an earlier answer, as they do in the shared buffer.
    expect(wholeResponseStatus(whole, length), `cut at ${length}`).toBe(0);
  }
  for (let at = 0; at < whole.length; at++) {
    for (const byte of [0, 10, 13, 32, 48, 57, 58, 65, 99, 255]) {
      const spoilt = Buffer.from(whole);
      spoilt[at] = byte;
      const quick = status(spoilt);
      if (quick !== 0)
        expect({ status: quick, isKept: true }, `byte ${at} is ${byte}`).toEqual(parsed(spoilt));
    }
  }
});

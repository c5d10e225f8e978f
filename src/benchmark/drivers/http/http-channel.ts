import { connect, type Socket, type TcpNetConnectOpts } from "node:net";
import { connect as connectSecurely } from "node:tls";
import { HTTPParser } from "http-parser-js";
import type { Channel, ChannelListener, OpenChannel } from "../connection-pool.js";
import {
  type Connection,
  LIMITED_STATUS,
  outcomeOfStatus,
  type RequestSource,
} from "./requests.js";

const SPACE = 0x20;
const CR = 0x0d;
const LF = 0x0a;
const TAB = 0x09;
const COLON = 0x3a;
const ZERO = 0x30;
/** Turns upper case into lower case; leaves digits, `-`, `.`, `/` and spaces as they are. */
const LOWER_CASE = 0x20;

const bytes = (text: string) => Uint8Array.from(Buffer.from(text, "latin1"));
const VERSION = bytes("HTTP/1.1 ");
const CONTENT_LENGTH = bytes("content-length");
const CONNECTION = bytes("connection");
const KEEP_ALIVE = bytes("keep-alive");
const TRANSFER_ENCODING = bytes("transfer-encoding");

function matchesAt(buffer: Uint8Array, at: number, text: Uint8Array): boolean {
  for (let i = 0; i < text.length; i++)
    if (((buffer[at + i] ?? 0) | LOWER_CASE) !== text[i]) return false;
  return true;
}

const digitAt = (buffer: Uint8Array, at: number): number => {
  const digit = (buffer[at] ?? 0) - ZERO;
  return digit >= 0 && digit <= 9 ? digit : -1;
};

/**
 * The offset of the line feed that ends the line, or -1 unless the only carriage return of
 * the line precedes it.
 */
function endOfLine(buffer: Uint8Array, from: number, length: number): number {
  let position = from;
  while (position < length && buffer[position] !== CR && buffer[position] !== LF) position++;
  return position + 1 < length && buffer[position] === CR && buffer[position + 1] === LF
    ? position + 1
    : -1;
}

/**
 * The whole number between `at` and the end of the line, which may have leading spaces, or
 * -1 if there is anything else.
 */
function numberAt(buffer: Uint8Array, at: number, end: number): number {
  let value = -1;
  let offset = at;
  while (buffer[offset] === SPACE) offset++;
  for (; offset < end; offset++) {
    const digit = digitAt(buffer, offset);
    if (digit < 0 || value > 1e12) return -1;
    value = Math.max(value, 0) * 10 + digit;
  }
  return value;
}

function keepsAlive(buffer: Uint8Array, at: number, end: number): boolean {
  let offset = at;
  while (buffer[offset] === SPACE) offset++;
  return end - offset === KEEP_ALIVE.length && matchesAt(buffer, offset, KEEP_ALIVE);
}

/**
 * Reads an answer that is complete in one read, has a content length and keeps its connection open,
 * which nearly all answers do.
 * @param length bytes of `buffer` that were read
 * @returns the status, or 0 for what the parser has to read
 */
export function wholeResponseStatus(buffer: Uint8Array, length: number): number {
  for (let i = 0; i < VERSION.length; i++) if (buffer[i] !== VERSION[i]) return 0;
  const status = digitAt(buffer, 9) * 100 + digitAt(buffer, 10) * 10 + digitAt(buffer, 11);
  if (status < 200 || status === 204 || status === 304) return 0;
  let body = -1;
  if (buffer[12] !== SPACE && buffer[12] !== CR) return 0;
  let position = endOfLine(buffer, 12, length);
  if (position < 0) return 0;

  for (position++; position + 1 < length; position++) {
    if (buffer[position] === CR && buffer[position + 1] === LF)
      return body >= 0 && position + 2 + body === length ? status : 0;
    const line = position;
    position = endOfLine(buffer, position, length);
    if (position < 0) return 0;
    const first = (buffer[line] ?? 0) | LOWER_CASE;
    if (first === CONTENT_LENGTH[0]) {
      if (
        buffer[line + CONTENT_LENGTH.length] === COLON &&
        matchesAt(buffer, line, CONTENT_LENGTH)
      ) {
        // The parser decides about a second length.
        if (body >= 0) return 0;
        body = numberAt(buffer, line + CONTENT_LENGTH.length + 1, position - 1);
        if (body < 0) return 0;
      } else if (
        buffer[line + CONNECTION.length] === COLON &&
        matchesAt(buffer, line, CONNECTION)
      ) {
        if (!keepsAlive(buffer, line + CONNECTION.length + 1, position - 1)) return 0;
      }
    } else if (first === TRANSFER_ENCODING[0] && matchesAt(buffer, line, TRANSFER_ENCODING)) {
      return 0;
    } else if (buffer[line] === SPACE || buffer[line] === TAB) {
      // This line continues the header of the line before.
      return 0;
    }
  }

  return 0;
}

/**
 * Pause before a connection that ended without an answer is opened again, so that a dead server is
 * not flooded.
 */
const RECONNECT_MS = 50;
/**
 * The size of the read buffer in bytes. The parser copies what it keeps, so all sockets of a thread
 * share one buffer.
 */
const READ_BYTES = 64 * 1024;

const RETRY_AFTER = /\r\nretry-after: *(\d{1,9}) *\r\n/i;

/**
 * The wait that the header `Retry-After` names, in milliseconds. It is NaN where there is
 * none, or a date.
 */
export const retryAfterMs = (head: string): number =>
  1000 * Number(RETRY_AFTER.exec(head)?.[1] ?? Number.NaN);

/**
 * Speaks HTTP/1.1 on one socket, with prebuilt requests and without pipelining. It reads bodies and
 * discards them.
 */
class HttpChannel implements Channel {
  readonly #url: URL;
  readonly #source: RequestSource;
  readonly #listener: ChannelListener;
  readonly #readBuffer: Buffer;
  readonly #parser = new HTTPParser(HTTPParser.RESPONSE);
  #socket: Socket | undefined;
  #status = 0;
  #wait_ms = Number.NaN;
  #keepsAlive = true;
  /** Whether the parser has read a part of the answer. */
  #isParsing = false;
  #isInFlight = false;
  /** Whether this connection gave an answer, so that it is reopened without a pause. */
  #hasAnswered = false;
  #isClosed = false;

  constructor(url: URL, source: RequestSource, readBuffer: Buffer, listener: ChannelListener) {
    this.#url = url;
    this.#source = source;
    this.#listener = listener;
    this.#readBuffer = readBuffer;
    this.#parser[HTTPParser.kOnHeadersComplete] = ({ statusCode, shouldKeepAlive, headers }) => {
      this.#status = statusCode ?? 0;
      this.#keepsAlive = shouldKeepAlive;
      if (source.log) {
        const lines = headers.map((text, index) => (index % 2 === 0 ? `\r\n${text}: ` : text));
        this.#wait_ms = retryAfterMs(`${lines.join("")}\r\n`);
      }
    };
    this.#parser[HTTPParser.kOnMessageComplete] = () => this.#complete();
    this.#connect();
  }

  send(): void {
    this.#isInFlight = true;
    const { requestBuffer } = this.#source.next();
    this.#source.sent();
    this.#socket?.write(requestBuffer);
  }

  abandon(): void {
    this.#drop();
  }

  close(): void {
    this.#isClosed = true;
    this.#socket?.destroy();
    this.#socket = undefined;
  }

  #connect(): void {
    if (this.#isClosed) return;

    const { hostname, port, protocol } = this.#url;
    const isSecure = protocol === "https:";
    const options: TcpNetConnectOpts = {
      host: hostname.replace(/^\[|\]$/g, ""),
      port: Number(port || (isSecure ? 443 : 80)),
      noDelay: true,
      onread: {
        buffer: this.#readBuffer,
        callback: (bytes) => {
          if (socket === this.#socket) this.#read(bytes);
          return true;
        },
      },
    };
    // A benchmark need not verify the certificate of the server that it measures. The closed loop
    // does not verify it either.
    const socket = isSecure
      ? connectSecurely({ ...options, rejectUnauthorized: false })
      : connect(options);
    this.#socket = socket;
    this.#hasAnswered = false;
    this.#isParsing = false;
    this.#parser.initialize(HTTPParser.RESPONSE);
    socket.once(isSecure ? "secureConnect" : "connect", () => {
      if (socket === this.#socket) this.#listener.ready();
    });
    // The reason does not matter, because `close` follows.
    socket.on("error", () => {});
    socket.on("close", () => {
      if (socket !== this.#socket) return;
      // An answer without a length ends when its connection ends.
      if (this.#isInFlight) this.#parser.finish();
      if (socket === this.#socket) this.#drop();
    });
  }

  #read(bytes: number): void {
    // Unrequested data cannot be distinguished from the answer to the next request.
    if (!this.#isInFlight) {
      this.#drop();
      return;
    }
    const status = this.#isParsing ? 0 : wholeResponseStatus(this.#readBuffer, bytes);
    if (status > 0) {
      this.#status = status;
      this.#keepsAlive = true;
      if (this.#source.log && status === LIMITED_STATUS)
        this.#wait_ms = retryAfterMs(this.#readBuffer.toString("latin1", 0, bytes));
      this.#complete();
      return;
    }
    this.#isParsing = true;
    if (this.#parser.execute(this.#readBuffer, 0, bytes) instanceof Error) this.#drop();
  }

  #complete(): void {
    // A 1xx status announces an answer but is not one.
    if (!this.#isInFlight || this.#status < 200) return;

    this.#isInFlight = false;
    this.#isParsing = false;
    this.#hasAnswered = true;
    const outcome = outcomeOfStatus(this.#status);
    if (outcome === "failed") this.#source.undecided();
    else this.#source.log?.answered(outcome, outcome === "limited" ? this.#wait_ms : Number.NaN);
    this.#listener.answered(outcome, this.#status);
    if (this.#keepsAlive && this.#socket && !this.#socket.destroyed) this.#listener.ready();
    else this.#drop();
  }

  #drop(): void {
    const pauseMs = this.#hasAnswered ? 0 : RECONNECT_MS;
    if (this.#isInFlight) this.#source.undecided();
    this.#isInFlight = false;
    this.#socket?.destroy();
    this.#socket = undefined;
    if (this.#isClosed) return;
    this.#listener.lost();
    setTimeout(() => this.#connect(), pauseMs);
  }
}

export function httpChannels(connections: readonly Connection[]): OpenChannel {
  const readBuffer = Buffer.allocUnsafeSlow(READ_BYTES);
  return (index, listener) => {
    const connection = connections[index];
    if (!connection) throw new Error("more channels than connections");
    return new HttpChannel(connection.url, connection.source, readBuffer, listener);
  };
}

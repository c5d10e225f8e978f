import { connect, type Socket, type TcpNetConnectOpts } from "node:net";
import { connect as connectSecurely } from "node:tls";
import { HTTPParser } from "http-parser-js";
import type { Channel, ChannelListener, OpenChannel } from "../channel.js";
import { type Connection, LIMITED_STATUS, outcomeOf, type RequestSource } from "./requests.js";
import { wholeResponseStatus } from "./whole-response.js";

/** Pause before a connection that ended without an answer is opened again, so that a dead server is not flooded. */
const RECONNECT_MS = 50;
/** Size of the read buffer. The parser copies what it keeps, so all sockets of a thread share one buffer. */
const READ_BYTES = 64 * 1024;

const RETRY_AFTER = /\r\nretry-after: *(\d{1,9}) *\r\n/i;

/** The wait that the header `Retry-After` names, in milliseconds; NaN where there is none, or a date. */
export const retryAfterMs = (head: string): number =>
  1000 * Number(RETRY_AFTER.exec(head)?.[1] ?? Number.NaN);

/** HTTP/1.1 on one socket: prebuilt requests, no pipelining. Bodies are read and discarded. */
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
  /** The parser has read a part of the answer. */
  #isParsing = false;
  #isInFlight = false;
  /** Whether this connection gave an answer: then it is reopened without a pause. */
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
    // Like the closed loop: a benchmark need not verify the certificate of the server it measures.
    const socket = isSecure ? connectSecurely({ ...options, rejectUnauthorized: false }) : connect(options);
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
    const outcome = outcomeOf(this.#status);
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

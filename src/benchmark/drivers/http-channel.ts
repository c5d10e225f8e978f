import { connect, type Socket, type TcpNetConnectOpts } from "node:net";
import { connect as connectSecurely } from "node:tls";
import { HTTPParser } from "http-parser-js";
import type { Channel, ChannelListener, OpenChannel } from "./channel.js";
import type { RequestSource } from "./http.js";
import { wholeResponseStatus } from "./whole-response.js";

/** A connection that ended without an answer waits this long, so that a dead server is not hammered. */
const RECONNECT_MS = 50;
/** What one read can hold. The parser copies what it keeps, so all sockets of a thread can share it. */
const READ_BYTES = 64 * 1024;

/** HTTP/1.1 over a socket of its own: prebuilt requests, no pipelining. Bodies are read and thrown away. */
class HttpChannel implements Channel {
  readonly #url: URL;
  readonly #source: RequestSource;
  readonly #listener: ChannelListener;
  readonly #readBuffer: Buffer;
  readonly #parser = new HTTPParser(HTTPParser.RESPONSE);
  #socket: Socket | undefined;
  #status = 0;
  #keepsAlive = true;
  /** The parser has a part of the answer. */
  #isParsing = false;
  #isUnderWay = false;
  /** Whether this connection gave an answer: then it may be opened again at once. */
  #hasAnswered = false;
  #isClosed = false;

  constructor(url: URL, source: RequestSource, readBuffer: Buffer, listener: ChannelListener) {
    this.#url = url;
    this.#source = source;
    this.#listener = listener;
    this.#readBuffer = readBuffer;
    this.#parser[HTTPParser.kOnHeadersComplete] = ({ statusCode, shouldKeepAlive }) => {
      this.#status = statusCode ?? 0;
      this.#keepsAlive = shouldKeepAlive;
    };
    this.#parser[HTTPParser.kOnMessageComplete] = () => this.#complete();
    this.#connect();
  }

  send(): void {
    this.#isUnderWay = true;
    this.#socket?.write(this.#source.next().requestBuffer);
  }

  abandon(): void {
    this.#isUnderWay = false;
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
    // As the closed loop: who measures a server has no need of proof that it is the right one.
    const socket = isSecure ? connectSecurely({ ...options, rejectUnauthorized: false }) : connect(options);
    this.#socket = socket;
    this.#hasAnswered = false;
    this.#isParsing = false;
    this.#parser.initialize(HTTPParser.RESPONSE);
    socket.once(isSecure ? "secureConnect" : "connect", () => {
      if (socket === this.#socket) this.#listener.ready();
    });
    // The reason does not matter: `close` follows.
    socket.on("error", () => {});
    socket.on("close", () => {
      if (socket !== this.#socket) return;
      // An answer without a length ends with its connection.
      if (this.#isUnderWay) this.#parser.finish();
      if (socket === this.#socket) this.#drop();
    });
  }

  #read(bytes: number): void {
    // What nobody asked for cannot be told from an answer to the next request.
    if (!this.#isUnderWay) {
      this.#drop();
      return;
    }
    const status = this.#isParsing ? 0 : wholeResponseStatus(this.#readBuffer, bytes);
    if (status > 0) {
      this.#status = status;
      this.#keepsAlive = true;
      this.#complete();
      return;
    }
    this.#isParsing = true;
    if (this.#parser.execute(this.#readBuffer, 0, bytes) instanceof Error) this.#drop();
  }

  #complete(): void {
    // 1xx announces an answer, and is none.
    if (!this.#isUnderWay || this.#status < 200) return;
    this.#isUnderWay = false;
    this.#isParsing = false;
    this.#hasAnswered = true;
    this.#listener.answered(this.#status);
    if (this.#keepsAlive && this.#socket && !this.#socket.destroyed) this.#listener.ready();
    else this.#drop();
  }

  /** Leaves the connection as it is, and opens another one. */
  #drop(): void {
    const again = this.#hasAnswered ? 0 : RECONNECT_MS;
    this.#isUnderWay = false;
    this.#socket?.destroy();
    this.#socket = undefined;
    if (this.#isClosed) return;
    this.#listener.lost();
    setTimeout(() => this.#connect(), again);
  }
}

/** Channels that send the requests of `sources`, one source a channel, to the host of `url`. */
export function httpChannels(url: URL, sources: readonly RequestSource[]): OpenChannel {
  const readBuffer = Buffer.allocUnsafeSlow(READ_BYTES);
  return (index, listener) => {
    const source = sources[index];
    if (!source) throw new Error("more channels than request sources");
    return new HttpChannel(url, source, readBuffer, listener);
  };
}

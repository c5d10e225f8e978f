import autocannon from "autocannon";
import type { ClosedConnections, Reopened } from "../../closed-loop.js";
import { cheapMonotonicMs } from "../../measurement/clock.js";
import type { ResponseRecorder } from "../../measurement/recorder.js";
import { untilConnected } from "../connection-pool.js";
import { type Connection, outcomeOf, type RequestSource } from "./requests.js";

/** How often autocannon checks its stop flag. Its own figures are not used. */
const TICK_MS = 100;
/** Longer than any run: the closed loop closes the window, not autocannon. */
const FOREVER_S = 1_000_000;
/**
 * Pause before a refused or lost connection is opened again, so that a dead server is not flooded.
 */
const RECONNECT_MS = 50;

/** When each request in flight was sent, monotonic milliseconds. */
const sentMs = (client: autocannon.Client): number[] =>
  client.pipelinedRequests
    .toArray()
    .map(({ startTime: [seconds, nanoseconds] }) => seconds * 1e3 + nanoseconds / 1e6);

/**
 * autocannon's clients behind the gate of the closed loop: one instance of autocannon for each
 * server.
 *
 * Four methods of autocannon's client (9.0.0) are overridden: `_doRequest` for the gate, and for
 * connections that their server closes; `nextRequest` for prebuilt requests; `_connect` and
 * `_destroyConnection`, because autocannon keeps a lost request in its queue, and every later
 * answer of that connection would get the age of the lost one.
 */
export class AutocannonConnections implements ClosedConnections {
  readonly reopened: Reopened = { all: 0, without_cause: 0 };
  readonly #clients: autocannon.Client[] = [];
  readonly #sources = new Map<autocannon.Client, RequestSource>();
  readonly #instances: autocannon.Instance[];
  /** Clients that the gate holds back. */
  readonly #waiting = new Set<autocannon.Client>();
  #open = false;
  #quota = Number.POSITIVE_INFINITY;
  #sent = 0;
  #recorder: ResponseRecorder | undefined;
  #whenIdle: (() => void) | undefined;
  #stopped = false;
  readonly #connections: readonly Connection[];
  readonly #timeoutS: number;

  constructor(connections: readonly Connection[], timeoutS: number) {
    this.#connections = connections;
    this.#timeoutS = timeoutS;
    this.#instances = [...new Set(connections.map(({ url }) => url))].map((url) =>
      this.#start(url),
    );
  }

  #start(url: URL): autocannon.Instance {
    const sources = this.#connections.filter((connection) => connection.url === url);
    let set = 0;
    const instance = autocannon({
      url: url.href,
      connections: sources.length,
      duration: FOREVER_S,
      timeout: this.#timeoutS,
      sampleInt: TICK_MS,
      skipAggregateResult: true,
      setupClient: (client) => {
        const connection = sources[set++];
        if (!connection) throw new Error("more clients than connections");
        this.#setUp(client, connection.source);
      },
    });
    instance.on(
      "response",
      (client: autocannon.Client, status: number, _bytes: number, ms: number) => {
        const outcome = outcomeOf(status);
        if (outcome === "failed") this.#sources.get(client)?.undecided();
        this.#recorder?.answer(outcome, status, ms, cheapMonotonicMs());
      },
    );
    return instance;
  }

  async connected(): Promise<void> {
    const missing = () =>
      this.#clients.filter(({ conn }) => conn.connecting || conn.destroyed).length;
    const hosts = new Set(this.#connections.map(({ url }) => url.host));
    await untilConnected(
      missing,
      this.#clients.length,
      Math.max(5, this.#timeoutS),
      [...hosts].join(", "),
    );
    Object.assign(this.reopened, { all: 0, without_cause: 0 });
  }

  openGate(recorder: ResponseRecorder, quota: number, spread_ms = 0): void {
    this.#recorder = recorder;
    this.#sent = 0;
    this.#quota = quota;
    this.#open = true;
    const waiting = [...this.#waiting];
    const begin = (client: autocannon.Client) => {
      if (this.#waiting.has(client)) client._doRequest();
    };
    for (const [index, client] of waiting.entries()) {
      if (spread_ms === 0) begin(client);
      else setTimeout(begin, (spread_ms * index) / waiting.length, client);
    }
  }

  changeRecorder(recorder: ResponseRecorder, quota: number): number {
    const inFlight = this.#clients.filter((client) => client.pipelinedRequests.size() > 0).length;
    const before = this.#sent - inFlight;
    this.#recorder = recorder;
    this.#quota = quota;
    this.#sent = inFlight;
    return before;
  }

  shutGate(): number {
    this.#open = false;
    this.#recorder?.close();
    return this.#sent;
  }

  async drained(): Promise<void> {
    await this.#idle((this.#timeoutS + 1) * 1000);
    // autocannon gives up each request after its time-out, so hardly any is left.
    for (const client of this.#clients) {
      if (client.pipelinedRequests.size() === 0) continue;
      client._destroyConnection();
      client._connect();
    }
    this.#recorder = undefined;
  }

  quotaDone(): Promise<void> {
    return this.#idle(Number.POSITIVE_INFINITY);
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    for (const instance of this.#instances) instance.stop();
    for (const client of this.#clients) client.destroy();
  }

  /** Resolves when every client waits at the gate, at the latest after `limitMs`. */
  #idle(limitMs: number): Promise<void> {
    if (this.#waiting.size === this.#clients.length) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = Number.isFinite(limitMs) ? setTimeout(resolve, limitMs) : undefined;
      this.#whenIdle = () => {
        clearTimeout(timer);
        this.#whenIdle = undefined;
        resolve();
      };
    });
  }

  #setUp(client: autocannon.Client, source: RequestSource): void {
    this.#clients.push(client);
    this.#sources.set(client, source);
    const { requestIterator } = client;
    requestIterator.currentRequest = source.next();
    requestIterator.nextRequest = () => {
      requestIterator.currentRequest = source.next();
      return requestIterator.currentRequest;
    };

    let isClosing = false;
    client.on("headers", ({ shouldKeepAlive }) => {
      isClosing = !shouldKeepAlive;
    });
    const send = client._doRequest.bind(client);
    client._doRequest = () => {
      // The server closes this connection after its answer: a request on it would be lost, by no
      // fault of the server.
      if (isClosing) {
        client._destroyConnection();
        client._connect();
        return;
      }
      if (this.#open && this.#sent < this.#quota && !isPausing) {
        this.#sent++;
        // A reconnection may be earlier than its place in the spread.
        this.#waiting.delete(client);
        // It takes the next request itself.
        send();
        source.sent();
        return;
      }
      this.#waiting.add(client);
      if (this.#waiting.size === this.#clients.length) this.#whenIdle?.();
    };

    let broken = false;
    /** It waits until it may connect again: what it sent now would be lost. */
    let isPausing = false;
    /** autocannon's time-out has come while it waited at the gate. */
    let isIdle = false;
    client.on("connError", () => {
      broken = true;
    });
    const connectAgain = client._connect.bind(client);
    const connect = (): void => {
      this.reopened.all++;
      connectAgain();
    };
    const destroyConnection = client._destroyConnection.bind(client);
    client._connect = () => {
      if (isIdle || isPausing) {
        isIdle = false;
        return;
      }
      const now_ms = cheapMonotonicMs();
      for (const sent_ms of sentMs(client)) {
        source.undecided();
        this.#recorder?.lost(now_ms - sent_ms, now_ms);
      }
      // It also stops listening to the lost socket, whose later error would open a second
      // connection.
      if (client.conn) destroyConnection();
      isClosing = false;
      // A half-read answer must not be joined with the first answer of the next connection.
      client.parser.initialize("RESPONSE");
      if (!broken) return connect();
      broken = false;
      isPausing = true;
      setTimeout(() => {
        isPausing = false;
        this.#waiting.delete(client);
        if (!this.#stopped) connect();
      }, RECONNECT_MS);
    };

    client._destroyConnection = () => {
      // The gate keeps it open and idle, for as long as others have the load.
      isIdle = !client.destroyed && this.#waiting.has(client);
      if (isIdle) return;
      // As long as the client is not destroyed, this is only called to give up a request.
      if (!client.destroyed) {
        const now_ms = cheapMonotonicMs();
        const sent = sentMs(client);
        if (sent.length === 0 && !isClosing) this.reopened.without_cause++;
        for (const sent_ms of sent) {
          source.undecided();
          this.#recorder?.timedOut(now_ms - sent_ms, now_ms);
        }
      }
      destroyConnection();
    };
  }
}

import autocannon from "autocannon";
import type { ClosedConnections, Reopened } from "../../closed-loop.js";
import { cheapMonotonicMs } from "../../measurement/clock.js";
import type { ResponseRecorder } from "../../measurement/recorder.js";
import { untilConnected } from "../connection-pool.js";
import { type Connection, outcomeOfStatus, type RequestSource } from "./requests.js";

/** How often autocannon checks its stop flag. Its own figures are not used. */
const TICK_MS = 100;
/** Longer than any run: the closed loop closes the window, not autocannon. */
const FOREVER_S = 1_000_000;
/** Pause before a refused connection is opened again, so that a dead server is not flooded. */
const RECONNECT_MS = 50;

/** When each request in flight was sent, monotonic milliseconds. */
const sentMs = (client: autocannon.Client): number[] =>
  client.pipelinedRequests
    .toArray()
    .map(({ startTime: [seconds, nanoseconds] }) => seconds * 1e3 + nanoseconds / 1e6);

/** The gate of the closed loop, which all clients of a worker share. */
class Gate {
  readonly clients: GatedClient[] = [];
  /** Clients that the gate holds back. */
  readonly waiting = new Set<GatedClient>();
  readonly reopened: Reopened = { all: 0, without_cause: 0 };
  isOpen = false;
  isStopped = false;
  quota = Number.POSITIVE_INFINITY;
  sent = 0;
  recorder: ResponseRecorder | undefined;
  #whenIdle: (() => void) | undefined;

  get canSend(): boolean {
    return this.isOpen && this.sent < this.quota;
  }

  hold(client: GatedClient): void {
    this.waiting.add(client);
    if (this.waiting.size === this.clients.length) this.#whenIdle?.();
  }

  /** Resolves when every client waits at the gate, at the latest after `limitMs`. */
  idle(limitMs: number): Promise<void> {
    if (this.waiting.size === this.clients.length) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = Number.isFinite(limitMs) ? setTimeout(resolve, limitMs) : undefined;
      this.#whenIdle = () => {
        clearTimeout(timer);
        this.#whenIdle = undefined;
        resolve();
      };
    });
  }
}

/**
 * Puts one client of autocannon behind the gate.
 *
 * Four methods of autocannon's client (9.0.0) are overridden. `_doRequest` waits for the gate, and
 * reopens connections that their server closes. `nextRequest` gives prebuilt requests. `_connect`
 * and `_destroyConnection` record lost requests, because autocannon keeps a lost request in its
 * queue, and every later answer of that connection would get its age.
 */
class GatedClient {
  readonly client: autocannon.Client;
  readonly source: RequestSource;
  readonly #gate: Gate;
  readonly #send: () => void;
  readonly #connect: () => void;
  readonly #destroyConnection: () => void;
  /** Whether the server closes this connection after its answer. */
  #isClosing = false;
  /** Whether the last connection was refused. */
  #isRefused = false;
  /** Whether it waits until it may connect again, because what it sent now would be lost. */
  #isPausing = false;
  /** Whether autocannon's time-out has come while it waited at the gate. */
  #isIdle = false;

  constructor(client: autocannon.Client, source: RequestSource, gate: Gate) {
    this.client = client;
    this.source = source;
    this.#gate = gate;
    this.#send = client._doRequest.bind(client);
    this.#connect = client._connect.bind(client);
    this.#destroyConnection = client._destroyConnection.bind(client);

    const { requestIterator } = client;
    requestIterator.currentRequest = source.next();
    requestIterator.nextRequest = () => {
      requestIterator.currentRequest = source.next();
      return requestIterator.currentRequest;
    };
    client._doRequest = () => this.#request();
    client._connect = () => this.#connectAgain();
    client._destroyConnection = () => this.#giveUp();
    client.on("headers", ({ shouldKeepAlive }) => {
      this.#isClosing = !shouldKeepAlive;
    });
    client.on("connError", () => {
      this.#isRefused = true;
    });
  }

  get isConnected(): boolean {
    return !this.client.conn.connecting && !this.client.conn.destroyed;
  }

  get isInFlight(): boolean {
    return this.client.pipelinedRequests.size() > 0;
  }

  /** Sends, if it waits at the gate. */
  begin(): void {
    if (this.#gate.waiting.has(this)) this.client._doRequest();
  }

  /** Gives up what is in flight, and opens another connection. */
  reopen(): void {
    this.client._destroyConnection();
    this.client._connect();
  }

  /** Sends a request in place of `_doRequest`. */
  #request(): void {
    // The server closes this connection after its answer: a request on it would be lost, by no
    // fault of the server.
    if (this.#isClosing) {
      this.reopen();
      return;
    }
    if (!this.#gate.canSend || this.#isPausing) {
      this.#gate.hold(this);
      return;
    }

    this.#gate.sent++;
    // A reconnection may be earlier than its place in the spread.
    this.#gate.waiting.delete(this);
    // autocannon takes the next request itself.
    this.#send();
    this.source.sent();
  }

  /** Connects in place of `_connect`. */
  #connectAgain(): void {
    if (this.#isIdle || this.#isPausing) {
      this.#isIdle = false;
      return;
    }

    const now_ms = cheapMonotonicMs();

    for (const sent_ms of sentMs(this.client)) {
      this.source.undecided();
      this.#gate.recorder?.lost(now_ms - sent_ms, now_ms);
    }

    // This also stops listening to the lost socket, whose later error would open a second
    // connection.
    if (this.client.conn) this.#destroyConnection();
    this.#isClosing = false;
    // A half-read answer must not be joined with the first answer of the next connection.
    this.client.parser.initialize("RESPONSE");
    if (this.#isRefused) this.#connectLater();
    else this.#open();
  }

  #open(): void {
    this.#gate.reopened.all++;
    this.#connect();
  }

  #connectLater(): void {
    this.#isRefused = false;
    this.#isPausing = true;
    setTimeout(() => {
      this.#isPausing = false;
      this.#gate.waiting.delete(this);
      if (!this.#gate.isStopped) this.#open();
    }, RECONNECT_MS);
  }

  /** Abandons the connection in place of `_destroyConnection`. */
  #giveUp(): void {
    const isDestroyed = this.client.destroyed;
    // The gate keeps the connection open and idle, for as long as others have the load.
    this.#isIdle = !isDestroyed && this.#gate.waiting.has(this);
    if (this.#isIdle) return;
    // As long as the client is not destroyed, this is only called to give up a request.
    if (!isDestroyed) this.#recordTimeOuts();
    this.#destroyConnection();
  }

  #recordTimeOuts(): void {
    const now_ms = cheapMonotonicMs();
    const sent = sentMs(this.client);
    if (sent.length === 0 && !this.#isClosing) this.#gate.reopened.without_cause++;
    for (const sent_ms of sent) {
      this.source.undecided();
      this.#gate.recorder?.timedOut(now_ms - sent_ms, now_ms);
    }
  }
}

/**
 * Keeps autocannon's clients behind the gate of the closed loop. Each server has an instance of
 * autocannon.
 */
export class AutocannonConnections implements ClosedConnections {
  readonly #gate = new Gate();
  readonly #sources = new Map<autocannon.Client, RequestSource>();
  readonly #instances: autocannon.Instance[];
  readonly #connections: readonly Connection[];
  readonly #timeoutS: number;

  constructor(connections: readonly Connection[], timeoutS: number) {
    this.#connections = connections;
    this.#timeoutS = timeoutS;
    this.#instances = [...new Set(connections.map(({ url }) => url))].map((url) =>
      this.#start(url),
    );
  }

  get reopened(): Readonly<Reopened> {
    return this.#gate.reopened;
  }

  #start(url: URL): autocannon.Instance {
    const connections = this.#connections.filter((connection) => connection.url === url);
    let clients = 0;
    const instance = autocannon({
      url: url.href,
      connections: connections.length,
      duration: FOREVER_S,
      timeout: this.#timeoutS,
      sampleInt: TICK_MS,
      skipAggregateResult: true,
      setupClient: (client) => {
        const connection = connections[clients++];
        if (!connection) throw new Error("more clients than connections");
        this.#sources.set(client, connection.source);
        this.#gate.clients.push(new GatedClient(client, connection.source, this.#gate));
      },
    });
    instance.on(
      "response",
      (client: autocannon.Client, status: number, _bytes: number, ms: number) => {
        const outcome = outcomeOfStatus(status);
        if (outcome === "failed") this.#sources.get(client)?.undecided();
        this.#gate.recorder?.answer(outcome, status, ms, cheapMonotonicMs());
      },
    );

    return instance;
  }

  async connected(): Promise<void> {
    const { clients, reopened } = this.#gate;
    const missing = () => clients.filter((client) => !client.isConnected).length;
    const hosts = new Set(this.#connections.map(({ url }) => url.host));
    await untilConnected(
      missing,
      clients.length,
      Math.max(5, this.#timeoutS),
      [...hosts].join(", "),
    );
    Object.assign(reopened, { all: 0, without_cause: 0 });
  }

  openGate(recorder: ResponseRecorder, quota: number, spread_ms = 0): void {
    this.#gate.recorder = recorder;
    this.#gate.sent = 0;
    this.#gate.quota = quota;
    this.#gate.isOpen = true;
    const waiting = [...this.#gate.waiting];
    for (const [index, client] of waiting.entries()) {
      if (spread_ms === 0) client.begin();
      else setTimeout(() => client.begin(), (spread_ms * index) / waiting.length);
    }
  }

  changeRecorder(recorder: ResponseRecorder, quota: number): number {
    const inFlight = this.#gate.clients.filter((client) => client.isInFlight).length;
    const sentBefore = this.#gate.sent - inFlight;
    this.#gate.recorder = recorder;
    this.#gate.quota = quota;
    this.#gate.sent = inFlight;
    return sentBefore;
  }

  shutGate(): number {
    this.#gate.isOpen = false;
    this.#gate.recorder?.close();
    return this.#gate.sent;
  }

  async drained(): Promise<void> {
    await this.#gate.idle((this.#timeoutS + 1) * 1000);
    // autocannon gives up each request after its time-out, so hardly any is left.
    for (const client of this.#gate.clients) if (client.isInFlight) client.reopen();
    this.#gate.recorder = undefined;
  }

  quotaDone(): Promise<void> {
    return this.#gate.idle(Number.POSITIVE_INFINITY);
  }

  async stop(): Promise<void> {
    this.#gate.isStopped = true;
    for (const instance of this.#instances) instance.stop();
    for (const { client } of this.#gate.clients) client.destroy();
  }
}

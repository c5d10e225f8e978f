import autocannon from "autocannon";
import { environmentError } from "../contract/errors.js";
import { monotonicMs, sleep } from "./clock.js";
import type { RequestSource } from "./drivers/http.js";
import type { Engine, Extent, Window, WindowListener } from "./engine.js";
import { Recorder, rehearse, SAMPLE_MS } from "./recorder.js";

/** autocannon looks at its stop flag this often; its own figures are not used. */
const TICK_MS = 100;
/** Longer than any run: the window is ours to close, not autocannon's. */
const FOREVER_S = 1_000_000;
/** A connection that was refused or lost waits this long, so that a dead server is not hammered. */
const RECONNECT_MS = 50;

export interface ClosedLoopOptions {
  url: URL;
  /** One a connection. */
  sources: readonly RequestSource[];
  timeoutS: number;
}

const noTally = () => ({ sent: 0, connection_errors: 0, timed_out: 0 });

/**
 * autocannon's clients behind a gate. Each connection sends its next request when the last one is answered, as
 * long as the gate is open; while it is shut all connections stay open and idle, so that warm-up and measurement
 * use the same connections, with a drained moment between them.
 *
 * Four methods of autocannon's client (9.0.0) are overridden: `_doRequest` for the gate; `nextRequest` for prebuilt
 * requests; `_connect` and `_destroyConnection`, because autocannon keeps a lost request in its queue, which would
 * give its age to every later answer of that connection.
 */
export class ClosedLoop implements Engine {
  readonly #clients: autocannon.Client[] = [];
  readonly #instance: autocannon.Instance;
  /** Clients that the gate holds back. */
  readonly #waiting = new Set<autocannon.Client>();
  #open = false;
  #quota = Number.POSITIVE_INFINITY;
  #tally = noTally();
  #recorder: Recorder | undefined;
  #whenIdle: (() => void) | undefined;
  #stopped = false;
  readonly options: ClosedLoopOptions;

  constructor(options: ClosedLoopOptions) {
    this.options = options;
    this.#instance = autocannon({
      url: options.url.href,
      connections: options.sources.length,
      duration: FOREVER_S,
      timeout: options.timeoutS,
      sampleInt: TICK_MS,
      skipAggregateResult: true,
      setupClient: (client) => this.#adopt(client),
    });
    this.#instance.on("response", (_client: unknown, status: number, _bytes: number, ms: number) => {
      this.#recorder?.answer(status, ms);
    });
  }

  async connected(): Promise<void> {
    const deadline = monotonicMs() + Math.max(5, this.options.timeoutS) * 1000;
    const missing = () => this.#clients.filter(({ conn }) => conn.connecting || conn.destroyed).length;
    while (missing() > 0) {
      if (monotonicMs() > deadline) {
        const count = `${missing()} of ${this.#clients.length}`;
        throw environmentError(`${count} connections to ${this.options.url.host} could not be established`);
      }
      await sleep(10);
    }
  }

  async warmUp(durationS: number): Promise<void> {
    const recorder = new Recorder();
    this.#recorder = recorder;
    const endRehearsal = rehearse(recorder);
    this.#openGate();
    await sleep(durationS * 1000);
    this.#open = false;
    endRehearsal();
    await this.#drained();
    this.#recorder = undefined;
  }

  async measure(extent: Extent, listener: WindowListener): Promise<Window> {
    const recorder = new Recorder();
    this.#recorder = recorder;
    this.#tally = noTally();
    this.#quota = "requests" in extent ? extent.requests : Number.POSITIVE_INFINITY;
    const opened_ms = monotonicMs();
    const closes_ms = "durationS" in extent ? opened_ms + extent.durationS * 1000 : Number.POSITIVE_INFINITY;
    const sampler = setInterval(() => {
      // What is left of the last interval must not become a sliver of its own.
      const now = monotonicMs();
      if (closes_ms - now > SAMPLE_MS / 2) listener.sample(recorder.sample(now));
    }, SAMPLE_MS);
    this.#openGate();
    if ("requests" in extent) await this.#drained(Number.POSITIVE_INFINITY);
    else await sleep(extent.durationS * 1000);

    // One synchronous step: what is in flight now is cut, and nothing of it enters any figure.
    this.#open = false;
    const closed_ms = monotonicMs();
    clearInterval(sampler);
    this.#recorder = undefined;
    const cut = this.#clients.reduce((total, client) => total + client.pipelinedRequests.size(), 0);
    const counts = recorder.counts({ ...this.#tally, cut });
    listener.sample(recorder.sample(closed_ms));
    listener.closed();
    await this.#drained();
    return { opened_ms, closed_ms, counts, histograms: recorder.histograms() };
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#instance.stop();
    for (const client of this.#clients) client.destroy();
    await this.#instance;
  }

  #openGate(): void {
    this.#open = true;
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const client of waiting) client._doRequest();
  }

  /** Resolves when no request is in flight; gives up after the request time-out, when none can be any more. */
  #drained(limitMs = (this.options.timeoutS + 1) * 1000): Promise<void> {
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

  #adopt(client: autocannon.Client): void {
    const source = this.options.sources[this.#clients.length];
    if (!source) throw new Error("more connections than request sources");
    this.#clients.push(client);
    const { requestIterator } = client;
    requestIterator.currentRequest = source.next();
    requestIterator.nextRequest = () => {
      requestIterator.currentRequest = source.next();
      return requestIterator.currentRequest;
    };

    const send = client._doRequest.bind(client);
    client._doRequest = () => {
      if (this.#open && this.#tally.sent < this.#quota) {
        this.#tally.sent++;
        send();
        return;
      }
      this.#waiting.add(client);
      if (this.#waiting.size === this.#clients.length) this.#whenIdle?.();
    };

    let broken = false;
    client.on("connError", () => {
      broken = true;
    });
    const connect = client._connect.bind(client);
    client._connect = () => {
      const lost = client.pipelinedRequests.size();
      client.pipelinedRequests.clear();
      this.#tally.connection_errors += lost;
      this.#recorder?.loss(lost);
      // A half-read answer must not be glued to the next connection's first one.
      client.parser.initialize("RESPONSE");
      if (!broken) return connect();
      broken = false;
      setTimeout(() => {
        if (!this.#stopped) connect();
      }, RECONNECT_MS);
    };

    const destroyConnection = client._destroyConnection.bind(client);
    client._destroyConnection = () => {
      // Before the client is destroyed, autocannon calls this for a time-out alone.
      if (!client.destroyed) {
        const lost = client.pipelinedRequests.size();
        this.#tally.timed_out += lost;
        this.#recorder?.loss(lost);
      }
      destroyConnection();
    };
  }
}

import { setTimeout as sleep } from "node:timers/promises";
import autocannon from "autocannon";
import { environmentError } from "../contract/errors.js";
import type { RequestSource } from "./drivers/http.js";
import type { Extent, LoadLoop, Window, WindowListener } from "./load-loop.js";
import { monotonicMs } from "./measurement/clock.js";
import { prewarmSampling, ResponseRecorder, SAMPLE_MS } from "./measurement/recorder.js";

/** How often autocannon checks its stop flag. Its own figures are not used. */
const TICK_MS = 100;
/** Longer than any run: this class closes the window, not autocannon. */
const FOREVER_S = 1_000_000;
/** Pause before a refused or lost connection is opened again, so that a dead server is not flooded. */
const RECONNECT_MS = 50;

export interface ClosedLoopOptions {
  url: URL;
  /** One per connection. */
  sources: readonly RequestSource[];
  timeoutS: number;
}

const zeroCounts = () => ({ sent: 0, connection_errors: 0, timed_out: 0 });

/**
 * The closed loop: each connection sends its next request when the last one is answered. autocannon's clients run
 * behind a gate. While the gate is shut all connections stay open and idle, so that warm-up and measurement use the
 * same connections, with a drained moment between them.
 *
 * Four methods of autocannon's client (9.0.0) are overridden: `_doRequest` for the gate; `nextRequest` for prebuilt
 * requests; `_connect` and `_destroyConnection`, because autocannon keeps a lost request in its queue, and every later
 * answer of that connection would get the age of the lost one.
 */
export class ClosedLoop implements LoadLoop {
  readonly #clients: autocannon.Client[] = [];
  readonly #instance: autocannon.Instance;
  /** Clients that the gate holds back. */
  readonly #waiting = new Set<autocannon.Client>();
  #open = false;
  #quota = Number.POSITIVE_INFINITY;
  #requests = zeroCounts();
  #recorder: ResponseRecorder | undefined;
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
      setupClient: (client) => this.#setUp(client),
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
    const recorder = new ResponseRecorder();
    this.#recorder = recorder;
    const stopSampling = prewarmSampling(recorder);
    this.#openGate();
    await sleep(durationS * 1000);
    this.#open = false;
    stopSampling();
    await this.#drained();
    this.#recorder = undefined;
  }

  async measure(extent: Extent, listener: WindowListener): Promise<Window> {
    const recorder = new ResponseRecorder();
    this.#recorder = recorder;
    this.#requests = zeroCounts();
    this.#quota = "requests" in extent ? extent.requests : Number.POSITIVE_INFINITY;
    const opened_ms = monotonicMs();
    const closes_ms = "durationS" in extent ? opened_ms + extent.durationS * 1000 : Number.POSITIVE_INFINITY;
    const sampler = setInterval(() => {
      // A short rest of the window belongs to the last interval.
      const now = monotonicMs();
      if (closes_ms - now > SAMPLE_MS / 2) listener.sample(recorder.sample(now));
    }, SAMPLE_MS);
    this.#openGate();
    if ("requests" in extent) await this.#drained(Number.POSITIVE_INFINITY);
    else await sleep(extent.durationS * 1000);

    // One synchronous step: requests in flight now are cut and enter no figure.
    this.#open = false;
    const closed_ms = monotonicMs();
    clearInterval(sampler);
    this.#recorder = undefined;
    const cut = this.#clients.reduce((total, client) => total + client.pipelinedRequests.size(), 0);
    const counts = recorder.counts({ ...this.#requests, cut });
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

  /** Resolves when no request is in flight, at the latest after the request time-out. */
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

  #setUp(client: autocannon.Client): void {
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
      if (this.#open && this.#requests.sent < this.#quota) {
        this.#requests.sent++;
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
      this.#requests.connection_errors += lost;
      this.#recorder?.loss(lost);
      // A half-read answer must not be joined with the first answer of the next connection.
      client.parser.initialize("RESPONSE");
      if (!broken) return connect();
      broken = false;
      setTimeout(() => {
        if (!this.#stopped) connect();
      }, RECONNECT_MS);
    };

    const destroyConnection = client._destroyConnection.bind(client);
    client._destroyConnection = () => {
      // As long as the client is not destroyed, autocannon calls this only for a time-out.
      if (!client.destroyed) {
        const lost = client.pipelinedRequests.size();
        this.#requests.timed_out += lost;
        this.#recorder?.loss(lost);
      }
      destroyConnection();
    };
  }
}

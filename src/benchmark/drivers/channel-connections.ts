import type { ClosedConnections } from "../closed-loop.js";
import { cheapMonotonicMs } from "../measurement/clock.js";
import type { ResponseRecorder } from "../measurement/recorder.js";
import type { OpenChannel } from "./channel.js";
import { ConnectionPool } from "./connection-pool.js";

export interface ChannelConnectionsOptions {
  connections: number;
  openChannel: OpenChannel;
  timeoutS: number;
  endpoint: string;
}

export class ChannelConnections implements ClosedConnections {
  readonly #options: ChannelConnectionsOptions;
  readonly #pool: ConnectionPool;
  #isOpen = false;
  #quota = 0;
  #sent = 0;
  #recorder: ResponseRecorder | undefined;
  #whenIdle: (() => void) | undefined;

  constructor(options: ChannelConnectionsOptions) {
    this.#options = options;
    this.#pool = new ConnectionPool(options.connections, options.openChannel, options.timeoutS, {
      answered: (outcome, code, _due_ms, sent_ms, now_ms) => {
        this.#recorder?.answer(outcome, code, now_ms - sent_ms, now_ms);
        this.#finished();
      },
      lost: (_due_ms, sent_ms, now_ms) => {
        this.#recorder?.lost(now_ms - sent_ms, now_ms);
        this.#finished();
      },
      timedOut: (_due_ms, sent_ms, now_ms) => {
        this.#recorder?.timedOut(now_ms - sent_ms, now_ms);
        this.#finished();
      },
      freed: () => this.#send(),
    });
  }

  connected(): Promise<void> {
    return this.#pool.connected(Math.max(5, this.#options.timeoutS), this.#options.endpoint);
  }

  openGate(recorder: ResponseRecorder, quota: number, spread_ms = 0): void {
    this.#recorder = recorder;
    this.#quota = quota;
    this.#sent = 0;
    this.#isOpen = true;
    const { connections } = this.#options;
    if (spread_ms === 0) while (this.#send());
    else for (let n = 0; n < connections; n++) setTimeout(() => this.#send(), (spread_ms * n) / connections);
  }

  changeRecorder(recorder: ResponseRecorder, quota: number): number {
    const { inFlight } = this.#pool;
    const before = this.#sent - inFlight;
    this.#recorder = recorder;
    this.#quota = quota;
    this.#sent = inFlight;
    return before;
  }

  shutGate(): number {
    this.#isOpen = false;
    this.#recorder?.close();
    return this.#sent;
  }

  /** The pool gives up every request after its time-out. */
  async drained(): Promise<void> {
    await this.#idle();
    this.#recorder = undefined;
  }

  quotaDone(): Promise<void> {
    return this.#idle();
  }

  async stop(): Promise<void> {
    this.#pool.close();
  }

  get #mustSend(): boolean {
    return this.#isOpen && this.#sent < this.#quota;
  }

  get #isIdle(): boolean {
    return this.#pool.inFlight === 0 && !this.#mustSend;
  }

  #idle(): Promise<void> {
    if (this.#isIdle) return Promise.resolve();
    return new Promise((resolve) => {
      this.#whenIdle = resolve;
    });
  }

  #send(): boolean {
    if (!this.#mustSend) return false;
    const now_ms = cheapMonotonicMs();
    if (!this.#pool.send(now_ms, now_ms)) return false;
    this.#sent++;
    return true;
  }

  #finished(): void {
    if (!this.#whenIdle || !this.#isIdle) return;
    this.#whenIdle();
    this.#whenIdle = undefined;
  }
}

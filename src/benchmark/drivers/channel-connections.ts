import type { ClosedConnections, SentCounts } from "../closed-loop.js";
import { cheapMonotonicMs } from "../measurement/clock.js";
import type { ResponseRecorder } from "../measurement/recorder.js";
import type { OpenChannel } from "./channel.js";
import { ConnectionPool } from "./connection-pool.js";

export interface ChannelConnectionsOptions {
  connections: number;
  openChannel: OpenChannel;
  timeoutS: number;
  /** Named in messages. */
  endpoint: string;
}

/** The connections of a closed loop over the channels of any driver. */
export class ChannelConnections implements ClosedConnections {
  readonly #options: ChannelConnectionsOptions;
  readonly #pool: ConnectionPool;
  #isOpen = false;
  #quota = 0;
  #sent = 0;
  #lost = 0;
  #timedOut = 0;
  #recorder: ResponseRecorder | undefined;
  #whenIdle: (() => void) | undefined;

  constructor(options: ChannelConnectionsOptions) {
    this.#options = options;
    this.#pool = new ConnectionPool(options.connections, options.openChannel, options.timeoutS, {
      answered: (outcome, code, _due_ms, sent_ms, now_ms) => {
        this.#recorder?.answer(outcome, code, now_ms - sent_ms);
        this.#finished();
      },
      lost: () => {
        this.#lost++;
        this.#recorder?.loss(1);
        this.#finished();
      },
      timedOut: () => {
        this.#timedOut++;
        this.#recorder?.loss(1);
        this.#finished();
      },
      freed: () => this.#send(),
    });
  }

  connected(): Promise<void> {
    return this.#pool.connected(Math.max(5, this.#options.timeoutS), this.#options.endpoint);
  }

  openGate(recorder: ResponseRecorder, quota: number): void {
    this.#recorder = recorder;
    this.#quota = quota;
    this.#sent = 0;
    this.#lost = 0;
    this.#timedOut = 0;
    this.#isOpen = true;
    while (this.#send());
  }

  shutGate(): SentCounts {
    this.#isOpen = false;
    this.#recorder = undefined;
    return {
      sent: this.#sent,
      connection_errors: this.#lost,
      timed_out: this.#timedOut,
      cut: this.#pool.inFlight,
    };
  }

  /** The pool gives up every request after its time-out. */
  drained(): Promise<void> {
    if (this.#isIdle) return Promise.resolve();
    return new Promise((resolve) => {
      this.#whenIdle = resolve;
    });
  }

  quotaDone(): Promise<void> {
    return this.drained();
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

  /** @returns whether a request was sent */
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

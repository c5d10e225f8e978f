import { AUTO_WARMUP } from "../contract/configuration.js";
import { hasTrend } from "./steadiness.js";

/** Fewer values cannot show a trend, however clear it is. */
const FEWEST_VALUES = 5;

/** What a target did between two drained moments of its warm-up. */
export interface WarmupSlice {
  /** Seconds of load, those until the last request had ended among them. */
  took_s: number;
  requests: number;
  answers: number;
  latency_sum_us: number;
  /** CPU time of what calls the limiter. It is undefined where it is not read. */
  cpu_us_per_request: number | undefined;
}

/**
 * Decides when a warm-up of `auto` is over (M26): when enough requests were sent and the last slices
 * have no trend, or at its longest.
 *
 * Neither mean latency nor CPU time per request may have a trend, and in a closed loop neither may
 * the rate of answers. Where its connections march in step, a slice holds one burst or two, and
 * their number hides a slow ramp. Where the limiter decides in a microsecond, latencies, which are
 * whole microseconds, hide it.
 */
export class WarmupWatch {
  readonly #model: "closed" | "open";
  readonly #fewestRequests: number;
  readonly #slices: WarmupSlice[] = [];
  #requests = 0;
  #answers = 0;
  #took_s = 0;
  #isSteady = false;

  /** @param fewestRequests which this watch must see */
  constructor(model: "closed" | "open", fewestRequests: number = AUTO_WARMUP.min_requests) {
    this.#model = model;
    this.#fewestRequests = fewestRequests;
  }

  /** Whether its last slices had no trend at a moment when it could end. */
  get isSteady(): boolean {
    return this.#isSteady;
  }

  get isOver(): boolean {
    return this.#isSteady || this.#isAtLongest || this.#isSilent;
  }

  get #isAtLongest(): boolean {
    return this.#took_s >= AUTO_WARMUP.max_s;
  }

  /** Whether the target answers nothing, so that more load does not warm it up. */
  get #isSilent(): boolean {
    return this.#slices.length === AUTO_WARMUP.slices && this.#answers === 0;
  }

  add(slice: WarmupSlice): void {
    this.#requests += slice.requests;
    this.#answers += slice.answers;
    this.#took_s += slice.took_s;
    this.#slices.push(slice);
    if (this.#slices.length > AUTO_WARMUP.slices) this.#slices.shift();

    const isComplete = this.#slices.length === AUTO_WARMUP.slices || this.#isAtLongest;
    const isEnough = this.#requests >= this.#fewestRequests || this.#isAtLongest;
    if (isComplete && isEnough && !this.#mayHaveTrend()) this.#isSteady = true;
  }

  /** Whether the last slices have a trend, or too few answers to tell. */
  #mayHaveTrend(): boolean {
    const isClosed = this.#model === "closed";
    const latencies = known(
      this.#slices.map(({ latency_sum_us, answers }) => latency_sum_us / answers),
    );
    const fewestLatencies = isClosed ? FEWEST_VALUES : this.#slices.length;
    if (latencies.length < Math.max(FEWEST_VALUES, fewestLatencies)) return true;

    const rates = this.#slices.map(({ answers, took_s }) => answers / took_s);
    const costs = known(this.#slices.map((slice) => slice.cpu_us_per_request ?? Number.NaN));
    return hasTrend(latencies) || hasTrend(costs) || (isClosed && hasTrend(rates));
  }
}

const known = (values: readonly number[]): number[] =>
  values.filter((value) => !Number.isNaN(value));

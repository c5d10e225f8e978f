import type { ApiDefect } from "../../../contract/api-defects.js";
import { pause } from "../../ownership/abort.js";
import { NotChecked } from "../audited-system.js";
import { type Burst, mostWithin, type Range } from "../expected.js";
import { type Answered, fateOf } from "./api-answers.js";
import type { ApiClient, Connection } from "./api-client.js";
import { type ApiSettings, pathOf } from "./api-settings.js";
import { rangeInAll, rangesOfBursts } from "./declared-ranges.js";
import type { RequestParts } from "./key-carrier.js";
import type { Pacer } from "./pacer.js";
import { DECLARED_ALGORITHMS, limitsOf, type Quota } from "./quota.js";

/** How a request differs from the one that the command line names. */
export interface RequestOptions {
  /** The origin of the instance that gets it; the first one by default. */
  origin?: string | undefined;
  /** The connection that it uses; by default any that is kept. */
  connection?: Connection | undefined;
  /** Changes the request when its key is in it. */
  change?: ((parts: RequestParts) => RequestParts) | undefined;
}

/** Requests beyond a quota, which show that it was the quota that was admitted. */
export const BEYOND_QUOTA = 3;

/** After a window has passed, so much more time is waited for a quota that comes back. */
const LONGER_MS = 200;

interface Place {
  client: ApiClient;
  pacer: Pacer;
  signal: AbortSignal;
  /** Eight hexadecimal digits of the run, which its keys contain. */
  nonce: string;
}

/** An API as checks see it: requests go in with a key, and answers come back. */
export class AuditedApi {
  readonly settings: ApiSettings;
  /** The quota that was declared or found. */
  quota: Quota;
  readonly client: ApiClient;
  readonly signal: AbortSignal;
  /** The status that denies, as the API has it. */
  deniedStatus: number;
  /** How many requests more than its quota each key is known to get. It is judged by the sum. */
  excess = 0;
  /** The kinds of defects that were found so far, and the checks that found them. */
  readonly defects = new Map<ApiDefect, string>();
  readonly #place: Place;
  #keys = 0;
  #last_ms = Number.NEGATIVE_INFINITY;

  constructor(settings: ApiSettings, quota: Quota, place: Place) {
    this.settings = settings;
    this.quota = quota;
    this.client = place.client;
    this.signal = place.signal;
    this.deniedStatus = settings.deniedStatus;
    this.#place = place;
  }

  /** The limits by which the API is judged. */
  get limits() {
    const { points, window_s, block_s } = limitsOf(this.quota, this.settings.burst);
    return { points: points + this.excess, window_s, block_s };
  }

  /** The time in which a used-up quota is whole again, in ms. */
  get window_ms(): number {
    return 1000 * this.limits.window_s;
  }

  /** Where the API is, and then its other instances. */
  get origins(): string[] {
    return [this.settings.url, ...this.settings.instances].map(({ origin }) => origin);
  }

  /**
   * A key that no request had before. Where all requests have the same key, it is as good as fresh
   * once a window has passed.
   */
  async freshKey(): Promise<string> {
    const { carrier } = this.settings;
    const free_ms = this.#last_ms + this.window_ms + LONGER_MS - performance.now();
    if (carrier.hasOneKey && free_ms > 0) await this.pause(free_ms);
    this.#keys++;
    return carrier.freshKey(this.#keys, this.#place.nonce);
  }

  /** A connection of its own, as a client has one. */
  connect(origin = this.origins[0] as string): Connection {
    return this.client.connect(origin);
  }

  /** The request that the command line names, with a key. */
  partsOf(key: string): RequestParts {
    const { method, headers, url, carrier } = this.settings;
    return carrier.put({ method, path: pathOf(url), headers }, key);
  }

  /** @throws OutOfRequests; the reason of the signal */
  send(key: string, options: RequestOptions = {}): Promise<Answered> {
    const answer = this.#send(key, options);
    // A check that is interrupted waits for no answer any more, and nobody else handles its failure.
    answer.catch(() => {});
    return answer;
  }

  async #send(key: string, options: RequestOptions): Promise<Answered> {
    const { origin = this.origins[0] as string, connection, change } = options;
    const parts = this.partsOf(key);
    const changed = change ? change(parts) : parts;
    const { client, pacer, signal } = this.#place;
    const answer = await pacer.paced(signal, () => client.send(origin, changed, connection));
    signal.throwIfAborted();
    this.#last_ms = performance.now();
    return { ...answer, fate: fateOf(answer, this.deniedStatus) };
  }

  /**
   * Sends requests one after the other, by default on a connection of their own.
   * @param isEnough whether the answers so far say what was asked, so that no further request is sent
   */
  async oneByOne(
    key: string,
    count: number,
    options: RequestOptions = {},
    isEnough: (last: Answered) => boolean = () => false,
  ): Promise<Answered[]> {
    const connection = options.connection ?? this.connect(options.origin);
    const answers: Answered[] = [];
    try {
      while (answers.length < count) {
        const answer = await this.send(key, { ...options, connection });
        answers.push(answer);
        if (isEnough(answer)) break;
      }
    } finally {
      if (!options.connection) connection.close();
    }
    return answers;
  }

  /** Sends requests with a key at once, each on a connection of its own. */
  atOnce(key: string, count: number, options: RequestOptions = {}): Promise<Answered[]> {
    return Promise.all(Array.from({ length: count }, () => this.send(key, options)));
  }

  /**
   * Sends requests with a key one after the other until one is denied.
   * @throws NotChecked where none is denied
   */
  async useUp(key: string, options: RequestOptions = {}): Promise<Answered[]> {
    const most = 2 * this.limits.points + BEYOND_QUOTA;
    const answers = await this.oneByOne(key, most, options, ({ fate }) => fate !== "admitted");
    const last = answers.at(-1);
    if (last?.fate === "denied") return answers;
    if (last?.fate === "admitted")
      throw new NotChecked(`none of ${most} requests on one key was denied`);
    throw new NotChecked(`a request was answered with ${last?.status ?? last?.error}`);
  }

  pause(ms: number): Promise<void> {
    return pause(this.signal, ms / 1000);
  }

  /** Whether points come back one by one, or may, as nobody says otherwise. */
  get mayRefill(): boolean {
    return !/-window$/.test(this.settings.algorithm);
  }

  /** How many points come back in that time at most, where they come back one by one. */
  refilledIn(ms: number): number {
    return this.mayRefill ? Math.floor((ms * this.limits.points) / this.window_ms) : 0;
  }

  /** How many requests of each burst on a fresh key the declared algorithm can admit. */
  ranges(bursts: readonly Burst[]): Range[] {
    return rangesOfBursts(this.settings.algorithm, this.limits, bursts);
  }

  /** How many of these requests on a fresh key, sent one by one, it can admit in all. */
  rangeInAll(requests: readonly Burst[]): Range {
    return rangeInAll(this.settings.algorithm, this.limits, requests);
  }

  /** How many it can admit in any span of time of at most a window. */
  mostWithin(span_ms: number): number {
    const algorithms = DECLARED_ALGORITHMS[this.settings.algorithm];
    return Math.max(...algorithms.map((algorithm) => mostWithin(algorithm, this.limits, span_ms)));
  }
}

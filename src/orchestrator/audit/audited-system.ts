import { randomBytes } from "node:crypto";
import type { Configuration, KindCaps, Limits } from "../../contract/configuration.js";
import type { FaultAction } from "../../contract/fault-actions.js";
import {
  type RequestGroup,
  type SenderRequest,
  type SentRequest,
  senderReportSchema,
} from "../../contract/sender.js";
import type { Algorithm, Target } from "../../contract/target.js";
import { definedOnly } from "../../kit/defined-only.js";
import type { RunningPart } from "../../runtimes/runtime-types.js";
import { findLimiter } from "../../targets/resolve.js";
import type { LimiterDescription } from "../../targets/target-types.js";
import { DEFAULT_TRAFFIC } from "../../traffic/profiles.js";
import { actions } from "../run/injected-faults.js";
import { layoutOf, SENDER, senderRole } from "../run/layout.js";
import {
  PartFailed,
  type PartPlace,
  type PartSupervisor,
  type RunningRole,
  withParts,
} from "../run/part-supervisor.js";
import type { ServerDifference } from "../run/run-settings.js";
import { type RunStore, storeOf } from "../run/store/run-store.js";
import { authorityOf } from "../run/store/store-authority.js";
import { type Burst, crossesEdge, hasAlignedWindows } from "./expected.js";

/** Says that a check cannot decide, because something failed that it does not look at. */
export class NotChecked extends Error {
  override readonly name = "NotChecked";
}

/** The answers to requests that were sent together. */
export class Answers {
  readonly all: readonly SentRequest[];

  constructor(all: readonly SentRequest[]) {
    this.all = all;
  }

  ofGroup(group: number): Answers {
    return new Answers(this.all.filter((request) => request.group === group));
  }

  with(others: Answers): Answers {
    return new Answers([...this.all, ...others.all]);
  }

  get admitted(): number {
    return this.all.filter(({ status }) => status === 200).length;
  }

  get limited(): readonly SentRequest[] {
    return this.all.filter(({ status }) => status === 429);
  }

  /** The requests that were neither admitted nor denied. */
  get failed(): readonly SentRequest[] {
    return this.all.filter(({ status }) => status !== 200 && status !== 429);
  }

  get burst(): Burst {
    return {
      from_ms: Math.min(...this.all.map(({ sent_ms }) => sent_ms)),
      to_ms: Math.max(...this.all.map(({ answered_ms }) => answered_ms)),
      count: this.all.length,
    };
  }

  /** Each request as a burst of its own, in the order in which they were sent. */
  get bursts(): Burst[] {
    return this.all.map(({ sent_ms, answered_ms }) => ({
      from_ms: sent_ms,
      to_ms: answered_ms,
      count: 1,
    }));
  }

  /** @throws NotChecked unless the limiter decided on every request */
  requireDecided(): this {
    const [first] = this.failed;
    if (first === undefined) return this;
    const { status, error } = first;
    throw new NotChecked(
      `${this.failed.length} of ${this.all.length} requests failed, the first with ${status ?? error ?? "no answer"}`,
    );
  }
}

const KEYS_AT_ONCE = 50;

/** The time for an answer, which is longer than any client waits for a store that does not answer. */
const REQUEST_TIMEOUT_MS = 10_000;

export interface SystemSettings {
  target: Target;
  limits: Limits;
  caps: KindCaps;
  modules: Readonly<Record<string, string>>;
  serviceEnv: Readonly<Record<string, string>> | undefined;
  /** How many points the target is known to admit beyond its quota. It is judged by the sum. */
  excess?: number | undefined;
  /** How many servers are started. Checks for fewer servers send to the first of them. */
  serverCount: number;
  servers?: readonly ServerDifference[] | undefined;
}

/** The configuration of a run without a load, because the checks send the requests that they need. */
function configurationOf({
  target,
  limits,
  caps,
  serviceEnv,
  serverCount,
}: SystemSettings): Configuration {
  return definedOnly({
    layer: "server" as const,
    target,
    servers: serverCount,
    workload: { id: "light" },
    traffic: DEFAULT_TRAFFIC,
    load: { model: "closed" as const, connections: 1 },
    extent: { requests: 1 },
    limits,
    caps,
    service_env: serviceEnv && { ...serviceEnv },
  });
}

interface StartedSystem {
  supervisor: PartSupervisor;
  store: RunStore;
  servers: readonly RunningRole[];
  sender: RunningPart;
  restart: (part: RunningPart) => Promise<void>;
}

export type SendOptions = { servers?: number | readonly number[]; begin?: SenderRequest["begin"] };

/** A target's store, service, servers and sender, started for checks. */
export class AuditedSystem {
  readonly target: Target;
  /** The limits by which the target is judged. */
  readonly limits: Limits;
  readonly limiter: LimiterDescription;
  readonly store: RunStore;
  readonly #started: StartedSystem;
  readonly #nonce: string;
  #keys = 0;

  private constructor(settings: SystemSettings, nonce: string, started: StartedSystem) {
    const { target, limits, excess = 0 } = settings;
    this.target = target;
    this.limits = { ...limits, points: limits.points + excess };
    this.limiter = findLimiter(target.limiter);
    this.store = started.store;
    this.#started = started;
    this.#nonce = nonce.slice(0, 6);
  }

  /** Starts all parts, and stops them whatever happens. */
  static async use<Value>(
    settings: SystemSettings,
    place: PartPlace,
    work: (system: AuditedSystem) => Promise<Value>,
  ): Promise<Value> {
    const nonce = randomBytes(12).toString("hex");
    const configuration = configurationOf(settings);
    const authority = await authorityOf([configuration]);
    const run = definedOnly({
      configuration,
      runNonce: nonce,
      seed: 0,
      warmupS: 0,
      workers: 1,
      caps: settings.caps,
      modules: settings.modules,
      servers: settings.servers,
      authority,
    });
    const roles = layoutOf(run).filter(({ kind }) => kind !== "generator");
    return withParts([...roles, senderRole], place, async ({ supervisor }) => {
      const store = storeOf(run, supervisor);
      await store.open();
      const servers = await supervisor.start("server");
      const [sender] = await supervisor.start("generator");
      if (!sender) throw new Error("the layout has no sender");

      // From here on a failure is one of the target.
      await store.readBefore();
      const started = {
        supervisor,
        store,
        servers,
        sender: sender.part,
        restart: (part: RunningPart) => place.lease.restart(part),
      };
      return work(new AuditedSystem(settings, nonce, started));
    });
  }

  /** The algorithm of the limiter. One that names none has fixed windows. */
  get algorithm(): Algorithm {
    return this.limiter.algorithm ?? "fixed window";
  }

  get window_ms(): number {
    return 1000 * this.limits.window_s;
  }

  freshKey(): string {
    this.#keys++;
    return `audit-${this.#nonce}-${this.#keys}`;
  }

  /**
   * Sends requests, and waits for all answers.
   * @param servers the number of servers that get them in turn, or the places of these servers
   * @throws PartFailed where a part ends, or the sender gives no report
   */
  async send(
    groups: readonly RequestGroup[],
    { servers = 1, begin }: SendOptions = {},
  ): Promise<Answers> {
    const isUsed = (index: number) =>
      typeof servers === "number" ? index < servers : servers.includes(index);
    const used = this.#started.servers.filter((_, index) => isUsed(index));
    const request: SenderRequest = definedOnly({
      servers: used.map(({ part: { address } }) => `http://${address.host}:${address.port}`),
      begin,
      groups: [...groups],
      timeout_ms: REQUEST_TIMEOUT_MS,
    });
    const { sender, supervisor } = this.#started;
    const answer = sender.ask?.(JSON.stringify(request)) ?? Promise.resolve(undefined);
    const line = await supervisor.waitFor(answer);
    if (line === undefined)
      throw new PartFailed(SENDER, sender.lastLines().at(-1) ?? "it gave no report");
    return new Answers(senderReportSchema.parse(JSON.parse(line)).requests);
  }

  /**
   * Injects a fault into the roles of a kind, or into the role of that id.
   * @returns a function that undoes it, if there is one
   */
  inject(action: FaultAction, role: string): Promise<(() => Promise<void>) | undefined> {
    const roles = this.#started.supervisor.roles(role);
    const targets = { roles, store: this.store, restart: this.#started.restart };
    return actions[action].inject(targets, { action, role, start_s: 0 });
  }

  burst(key: string, count: number, servers = 1): Promise<Answers> {
    return this.send([{ after_ms: 0, keys: [key], count }], { servers });
  }

  /** Sends one request on each of so many fresh keys, a few at once. */
  onFreshKeys(count: number): Promise<Answers> {
    return this.send(
      Array.from({ length: count }, (_, index) => {
        const request: RequestGroup = { after_ms: 0, keys: [this.freshKey()], count: 1 };
        // A schedule would outrun a slow machine, whose requests would then time out.
        const waits = index > 0 && index % KEYS_AT_ONCE === 0;
        return waits ? { ...request, waits } : request;
      }),
    );
  }

  /**
   * Sends requests with these keys, each after the answer to the one before, so that a limiter which
   * is not atomic denies, too.
   */
  oneByOne(
    keys: readonly string[],
    count: number,
    begin?: SenderRequest["begin"],
  ): Promise<Answers> {
    const first: RequestGroup = { after_ms: 0, keys: [...keys], count: 1 };
    const later = Array.from({ length: count - 1 }, () => ({ ...first, waits: true as const }));
    return this.send([first, ...later], { begin });
  }

  /**
   * The begin of a script at this share of a window of the wall clock; undefined for limiters that
   * have no such windows.
   */
  alignedTo(share: number): SenderRequest["begin"] {
    if (!hasAlignedWindows(this.algorithm)) return undefined;
    return { every_ms: this.window_ms, offset_ms: Math.round(share * this.window_ms) };
  }

  /**
   * Whether a window of the wall clock may have ended during a burst, for a limiter with such
   * windows.
   */
  metEdge({ burst: { from_ms, to_ms } }: Answers): boolean {
    return hasAlignedWindows(this.algorithm) && crossesEdge(this.window_ms, from_ms, to_ms);
  }
}

import { setTimeout as sleep } from "node:timers/promises";
import { DELAY_MS, type FaultAction } from "../../contract/fault-actions.js";
import type { Fault, FaultRecord } from "../../contract/fault-schemas.js";
import { faultText } from "../../contract/fault-text.js";
import type { StoreFaultAction } from "../../contract/probe-env.js";
import type { RelayMode } from "../../contract/relay.js";
import { definedOnly } from "../../kit/defined-only.js";
import { messageOf } from "../../kit/errors.js";
import { rounded } from "../../kit/numbers.js";
import { failure } from "../../runtimes/deferred.js";
import type { RunningPart } from "../../runtimes/runtime-types.js";
import { PartFailed, type RunningRole } from "./part-supervisor.js";
import type { RunStore } from "./store/run-store.js";

interface FaultTargets {
  roles: readonly RunningRole[];
  store: RunStore;
  restart(part: RunningPart): Promise<void>;
}

/**
 * A function that undoes a fault. It is absent where there is nothing to undo, or where the fault
 * lasts until the run's parts are stopped.
 */
type Undo = (() => Promise<void>) | undefined;

interface Action {
  /** Waits for the conditions of the fault before its time comes, with a few requests to the store. */
  prepare?(targets: FaultTargets): Promise<void>;
  inject(targets: FaultTargets, fault: Fault): Promise<Undo>;
}

type Ability = "kill" | "pause" | "resume" | "disconnect" | "reconnect";

const useOnAll = async ({ roles }: FaultTargets, ability: Ability): Promise<void> => {
  await Promise.all(
    roles.map(async ({ id, part }) => {
      const work = part[ability]?.bind(part);
      if (!work) throw new Error(`${id}: this runtime cannot ${ability} it`);
      await work();
    }),
  );
};

const idsOf = ({ roles }: FaultTargets): string[] => roles.map(({ id }) => id);

/** Waits until stores and services answer again. A server is ready when it has started. */
async function untilBack(targets: FaultTargets): Promise<void> {
  const [first] = targets.roles;
  if (first?.kind === "store") await targets.store.restarted(idsOf(targets));
  if (first?.kind === "service") await targets.store.untilServiceReady();
}

async function allRelays({ relays }: RunStore, mode: RelayMode): Promise<void> {
  if (relays.length === 0) throw new Error("no relay stands between the servers and the store");
  await Promise.all(relays.map((relay) => relay.set(mode)));
}

const placeOf = (id: string | undefined): number => Number(/\d+$/.exec(id ?? "")?.[0] ?? 1) - 1;

const ofStore = (action: StoreFaultAction, undo?: StoreFaultAction): Action => ({
  async inject({ store }) {
    await store.inject({ action });
    return undo && (() => store.inject({ action: undo }));
  },
});

/**
 * One entry each; what an action may be done to and what it explains is in
 * `src/contract/fault-actions.ts`.
 */
export const actions: Readonly<Record<FaultAction, Action>> = {
  kill: {
    // A replica whose link is down may never be promoted.
    prepare: ({ store }) => store.untilReady(),
    async inject(targets) {
      targets.store.withoutNodes(idsOf(targets));
      await useOnAll(targets, "kill");
      return undefined;
    },
  },
  restart: {
    async inject(targets) {
      await useOnAll(targets, "kill");
      return async () => {
        await Promise.all(targets.roles.map(({ part }) => targets.restart(part)));
        await untilBack(targets);
      };
    },
  },
  pause: {
    async inject(targets) {
      await useOnAll(targets, "pause");
      return () => useOnAll(targets, "resume");
    },
  },
  disconnect: {
    async inject(targets) {
      const { roles, store } = targets;
      // A relay between the servers and the store can cut them where the runtime cannot.
      if (store.relays.length > 0 && roles.every(({ kind }) => kind === "store")) {
        await allRelays(store, { mode: "hold" });
        return () => allRelays(store, { mode: "pass" });
      }
      await useOnAll(targets, "disconnect");
      return () => useOnAll(targets, "reconnect");
    },
  },
  delay: {
    async inject({ store }) {
      await allRelays(store, { mode: "delay", ms: DELAY_MS });
      return () => allRelays(store, { mode: "pass" });
    },
  },
  failover: {
    prepare: ({ store }) => store.untilReady(),
    async inject({ store, roles }) {
      await store.inject({ action: "failover", node: placeOf(roles[0]?.id) });
      return undefined;
    },
  },
  "flush-scripts": ofStore("flush-scripts"),
  "flush-keys": ofStore("flush-keys"),
  "fill-memory": ofStore("fill-memory", "free-memory"),
};

/** The clock of faults, which tests replace. */
export interface FaultClock {
  now_ms(): number;
  until(at_ms: number, signal: AbortSignal): Promise<void>;
}

const systemClock: FaultClock = {
  now_ms: () => performance.now(),
  until: (at_ms, signal) => sleep(Math.max(0, at_ms - performance.now()), undefined, { signal }),
};

interface FaultInjectionOptions {
  faults: readonly Fault[];
  /** The length of the window, at which faults without an end count as ended. */
  window_s: number;
  targetsOf(fault: Fault): FaultTargets;
  /** Writes what was done to the run's log. */
  log(line: string): void;
  clock?: FaultClock;
}

/** A fault of a run, with the times in the window at which it was done and undone. */
interface RunFault {
  fault: Fault;
  roles: string[];
  from_s?: number;
  to_s?: number;
  undone: boolean;
  undo?: Undo;
}

/** Does a run's faults at their times. `undoAll` undoes what is done, with the last first. */
export class FaultInjection {
  readonly #options: FaultInjectionOptions;
  readonly #clock: FaultClock;
  readonly #planned: RunFault[];
  /** The faults that were done and not yet undone, in the order in which they were done. */
  readonly #done: RunFault[] = [];
  readonly #ended = new AbortController();
  #opened_ms = 0;
  #work: Promise<unknown> = Promise.resolve();
  readonly #failure = failure();
  /** Rejects where a fault cannot be done or undone, and never resolves. */
  readonly failed = this.#failure.promise;

  constructor(options: FaultInjectionOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#planned = options.faults.map((fault) => ({ fault, roles: [], undone: true }));
  }

  /**
   * Takes in how many milliseconds the window opens, and does each fault at its time from now on.
   * Only the first call counts.
   */
  windowOpensIn(ms: number): void {
    if (this.#opened_ms !== 0 || this.#ended.signal.aborted) return;
    this.#opened_ms = this.#clock.now_ms() + ms;
    this.#work = Promise.all(
      this.#planned.map((planned) =>
        this.#run(planned).catch((error: unknown) => {
          if (!this.#ended.signal.aborted) this.#failure.reject(error);
        }),
      ),
    );
  }

  /** Waits for faults under way. @throws PartFailed where one could not be done or undone */
  async finish(): Promise<FaultRecord[]> {
    await Promise.race([this.#work, this.failed]);
    return this.#planned.map(({ fault, roles, from_s, to_s, undone }) => {
      const { name, action, start_s, length_s } = fault;
      // A kill has no end, so it lasts to the end of the window.
      const planned_s = action === "kill" ? this.#options.window_s - start_s : (length_s ?? 0);
      const isInjected = from_s !== undefined && to_s !== undefined;
      return {
        ...definedOnly({ name }),
        action,
        roles,
        planned: { start_s, length_s: rounded(planned_s, 3) },
        ...definedOnly({
          injected: isInjected ? { from_s: rounded(from_s, 3), to_s: rounded(to_s, 3) } : undefined,
        }),
        undone,
        ...definedOnly({
          note: action === "kill" ? "it stays down until the run ends" : undefined,
        }),
      };
    });
  }

  /**
   * Ends the schedule and undoes what is still done, with the last first. It never rejects, and logs
   * what cannot be undone.
   */
  async undoAll(): Promise<void> {
    this.#ended.abort();
    await this.#work;
    for (const injected of [...this.#done].reverse()) {
      await this.#undo(injected).catch((error: unknown) =>
        this.#options.log(`${faultText(injected.fault)} could not be undone: ${messageOf(error)}`),
      );
    }
  }

  async #run(injected: RunFault): Promise<void> {
    const { fault } = injected;
    const targets = this.#options.targetsOf(fault);
    injected.roles = targets.roles.map(({ id }) => id);
    try {
      await this.#inject(injected, targets);
      if (fault.action === "kill") return this.#leaveDone(injected);
      // A fault that begins late, on a busy machine, lasts as long all the same.
      const ends_s = (injected.from_s ?? 0) + (fault.length_s ?? 0);
      await this.#until(ends_s);
      await this.#undo(injected);
    } catch (error) {
      if (this.#ended.signal.aborted || error instanceof PartFailed) throw error;
      const role = injected.roles[0] ?? fault.action;
      throw new PartFailed(role, `${faultText(fault)}: ${messageOf(error)}`);
    }
  }

  async #inject(injected: RunFault, targets: FaultTargets): Promise<void> {
    const { fault, roles } = injected;
    const { prepare, inject } = actions[fault.action];
    await prepare?.(targets);
    await this.#until(fault.start_s);
    this.#ended.signal.throwIfAborted();
    injected.from_s = this.#elapsedS();
    // From here on a part of the fault may be done even if the injection fails.
    injected.undone = false;
    injected.undo = await inject(targets, fault);
    this.#done.push(injected);
    this.#log(fault, injected.from_s, `done to ${roles.join(", ")}`);
  }

  /** Ends a fault that stays until the run ends, and has nothing to undo. */
  #leaveDone(injected: RunFault): void {
    injected.to_s = this.#options.window_s;
    injected.undone = true;
    this.#done.splice(this.#done.indexOf(injected), 1);
  }

  /** @param s seconds since the window opened */
  #until(s: number): Promise<void> {
    return this.#clock.until(this.#opened_ms + 1000 * s, this.#ended.signal);
  }

  async #undo(injected: RunFault): Promise<void> {
    // The time of the fault and the end of the run may both undo it, and only the first one does.
    const index = this.#done.indexOf(injected);
    if (index < 0) return;
    this.#done.splice(index, 1);
    await injected.undo?.();
    injected.undone = true;
    injected.to_s = this.#elapsedS();
    this.#log(injected.fault, injected.to_s, "undone");
  }

  #log(fault: Fault, elapsed_s: number, text: string): void {
    this.#options.log(`${faultText(fault)} at ${elapsed_s.toFixed(3)} s: ${text}`);
  }

  #elapsedS(): number {
    return (this.#clock.now_ms() - this.#opened_ms) / 1000;
  }
}

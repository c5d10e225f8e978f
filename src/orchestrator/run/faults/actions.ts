import { DELAY_MS, type Fault, type FaultAction } from "../../../contract/faults.js";
import type { StoreFaultAction } from "../../../contract/probe-env.js";
import type { RelayMode } from "../../../contract/relay.js";
import type { RunningPart } from "../../../runtimes/types.js";
import type { RunningRole } from "../part-supervisor.js";
import type { RunStore } from "../store.js";

export interface FaultTargets {
  roles: readonly RunningRole[];
  store: RunStore;
  restart(part: RunningPart): Promise<void>;
}

/** Undoes what was done; absent where there is nothing to undo, or where it lasts until the run's parts are stopped. */
type Undo = (() => Promise<void>) | undefined;

interface Action {
  /** Before its time comes: what must hold for it, at the cost of a few requests to the store. */
  prepare?(targets: FaultTargets): Promise<void>;
  inject(targets: FaultTargets, fault: Fault): Promise<Undo>;
}

type Ability = "kill" | "pause" | "resume" | "disconnect" | "reconnect";

const each = async ({ roles }: FaultTargets, ability: Ability): Promise<void> => {
  await Promise.all(
    roles.map(async ({ id, part }) => {
      const work = part[ability]?.bind(part);
      if (!work) throw new Error(`${id}: this runtime cannot ${ability} it`);
      await work();
    }),
  );
};

const idsOf = ({ roles }: FaultTargets): string[] => roles.map(({ id }) => id);

/** Waits until the roles answer, by their kind; a server is ready when it has started. */
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

/** One entry each; what an action may be done to and what it explains is in `src/contract/faults.ts`. */
export const actions: Readonly<Record<FaultAction, Action>> = {
  kill: {
    // A replica whose link is down may never be promoted.
    prepare: ({ store }) => store.untilReady(),
    async inject(targets) {
      targets.store.withoutNodes(idsOf(targets));
      await each(targets, "kill");
      return undefined;
    },
  },
  restart: {
    async inject(targets) {
      await each(targets, "kill");
      return async () => {
        await Promise.all(targets.roles.map(({ part }) => targets.restart(part)));
        await untilBack(targets);
      };
    },
  },
  pause: {
    async inject(targets) {
      await each(targets, "pause");
      return () => each(targets, "resume");
    },
  },
  disconnect: {
    async inject(targets) {
      const { roles, store } = targets;
      // What stands between the servers and the store can cut them where the runtime cannot.
      if (store.relays.length > 0 && roles.every(({ kind }) => kind === "store")) {
        await allRelays(store, { mode: "hold" });
        return () => allRelays(store, { mode: "pass" });
      }
      await each(targets, "disconnect");
      return () => each(targets, "reconnect");
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

import type { RoleResources } from "../../../contract/role-resources.js";
import { CounterWatch } from "../counter-watch.js";
import type { RunWatch } from "../execute-run.js";
import { GENERATOR } from "../layout.js";
import type { RunningRole } from "../part-supervisor.js";
import type { RoundTarget, StartedGenerator } from "./round-types.js";

/** The role that a failed load is about, which is the only server or all of them. */
export function loadedRole({ servers }: Pick<RoundTarget, "servers">): string {
  const [server, ...others] = servers;
  return server && others.length === 0 ? server.id : "server";
}

const idIn = (index: number, id: string): string => `${index}/${id}`;

/** A role with an id that tells it from the roles of other targets, which have the same ids. */
const ofTarget = ({ index }: Pick<RoundTarget, "index">, role: RunningRole): RunningRole => ({
  ...role,
  id: idIn(index, role.id),
});

export const generatorRoles = (started: readonly StartedGenerator[]): RunningRole[] =>
  started.map(({ part }) => ({ id: GENERATOR, kind: "generator", part }));

/**
 * A watch of all roles of a round, because the load of the machine is a figure of all of them.
 * @param hasOwnGenerators whether each target has its own generator
 */
export function watchOfAll(
  started: readonly StartedGenerator[],
  hasOwnGenerators: boolean,
): CounterWatch {
  const behind = started.flatMap(({ targets }) =>
    targets.flatMap((target) =>
      [...target.store.nodes, ...target.servers].map((role) => ofTarget(target, role)),
    ),
  );
  const generators = generatorRoles(started).map((role, index) => {
    const [target] = started[index]?.targets ?? [];
    return hasOwnGenerators && target ? ofTarget(target, role) : role;
  });
  return new CounterWatch([...behind, ...generators]);
}

/** A generator of several targets has no CPU time in the long turns of one of them. */
const withoutLongTurns = ({ long_turns_cpu_us: _, ...resources }: RoleResources): RoleResources =>
  resources;

/** The watch of one target. The load of the machine is a figure of the whole round. */
export function watchOfTarget(index: number, watch: CounterWatch): RunWatch {
  return {
    failures: watch.failures,
    async resources(source, loaded_s, requests, in_long_turns_s) {
      const groupResources = await watch.resources(source, loaded_s, requests, in_long_turns_s);
      const prefix = idIn(index, "");
      const runResources = Object.entries(groupResources).flatMap(([id, resources]) => {
        if (id === GENERATOR) return [[id, withoutLongTurns(resources)] as const];
        return id.startsWith(prefix) ? [[id.slice(prefix.length), resources] as const] : [];
      });
      return Object.fromEntries(runResources);
    },
    hostLoad: () => watch.hostLoad(watch.elapsedS, {}),
    ownThrottling: () => watch.ownThrottling(),
    machineLoads: async () => ({}),
  };
}

import { foreignLimitPercent } from "../../contract/role-resources.js";
import type { Throttling } from "../../kit/control-groups.js";
import {
  type Evidence,
  explained,
  hasEffect,
  notApplicable,
  type Rule,
  type RuleFinding,
  suspect,
} from "../evidence.js";

const throttlingText = ({ periods, throttled_periods, throttled_us }: Throttling): string =>
  `in ${throttled_periods} of ${periods} periods, ${Math.round(throttled_us / 1000)} ms`;

/**
 * M14 demands that neither a role's CPU cap nor the quota of our own control groups throttled
 * anything in the window.
 */
export const nothingThrottled = {
  id: "M14",
  check({
    resources,
    own_throttling,
  }: Pick<Evidence, "resources" | "own_throttling">): RuleFinding | undefined {
    const throttled = Object.entries(resources).flatMap(([role, { throttling }]) => {
      if (!throttling || throttling.throttled_periods === 0) return [];
      return [`${role} ${throttlingText(throttling)}`];
    });
    const isOwn = own_throttling !== undefined && own_throttling.throttled_periods > 0;
    const texts: string[] = [];
    if (throttled.length > 0) texts.push(`throttled by its CPU cap: ${throttled.join("; ")}`);
    if (isOwn) texts.push(`our own control group was throttled ${throttlingText(own_throttling)}`);
    return texts.length > 0 ? suspect(texts.join("; ")) : undefined;
  },
} satisfies Rule;

/** M15: the CPU time of every role is known from counters at both ends of the window. */
export const everyRoleRead: Rule = {
  id: "M15",
  check({ configuration, generators, consumers, store, service, resources }) {
    if (!configuration) return notApplicable("not a target of ours");

    const roles = new Set([...generators, ...consumers].map(({ id }) => id));
    if (service) roles.add(service.role);
    // The processes of an external store cannot be read.
    if (store && !store.external) for (const { role } of store.nodes) roles.add(role);

    const missing = [...roles].filter((role) => !resources[role]);
    if (missing.length === 0) return undefined;
    return suspect(`no CPU counters of ${missing.join(", ")}`);
  },
};

/** M25: other programs did not use the CPU. Roles that wait for each other are a result. */
export const hostUndisturbed = {
  id: "M25",
  check(
    evidence: Pick<Evidence, "host_load" | "machine_load" | "faults" | "turns" | "configuration">,
  ): RuleFinding | undefined {
    const { host_load, machine_load = {}, faults, turns, configuration } = evidence;
    if (configuration?.external_server)
      return notApplicable("foreign CPU: the measured server runs outside of the campaign");
    const [busiest] = Object.entries(machine_load).toSorted(
      ([, a], [, b]) => b.foreign_cpu_percent - a.foreign_cpu_percent,
    );
    const load = host_load ?? busiest?.[1];
    if (!load) return notApplicable("foreign CPU is not known");
    const { cpus, foreign_cpu_percent: foreign } = load;
    if (foreign < foreignLimitPercent(turns !== undefined, cpus)) return undefined;
    // Programs that start, and the engine that starts and freezes them, are counted with the
    // others.
    if (hasEffect({ faults }, ["ends", "cuts"])) return explained("foreign CPU");

    const name = host_load ? "this machine" : `the machine ${busiest?.[0]}`;
    const machine = `${name} has ${cpus === 1 ? "one" : cpus}`;

    return suspect(
      `other programs used ${Math.round(foreign)} % of one CPU in the window (${machine}): stop them and measure again`,
    );
  },
} satisfies Rule;

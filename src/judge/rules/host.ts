import { FOREIGN_CPU_PERCENT } from "../../contract/result.js";
import { type Evidence, type Finding, notApplicable, type Rule, suspect } from "../evidence.js";
import { explained, hasEffect } from "../faults.js";

/** M25: other programs did not use the CPU. Roles that wait for each other are a result. */
export const hostUndisturbed = {
  id: "M25",
  check({
    host_load,
    machine_load = {},
    faults,
    turns,
  }: Pick<Evidence, "host_load" | "machine_load" | "faults" | "turns">): Finding | undefined {
    const [busiest] = Object.entries(machine_load).toSorted(
      ([, a], [, b]) => b.foreign_cpu_percent - a.foreign_cpu_percent,
    );
    const load = host_load ?? busiest?.[1];
    if (!load) return notApplicable("foreign CPU is not known");
    const { cpus, foreign_cpu_percent: foreign } = load;
    // By turns it cancels.
    if (foreign < (turns ? 50 * cpus : FOREIGN_CPU_PERCENT)) return undefined;
    // Programs that start, and the engine that starts and freezes them, are counted with the others.
    if (hasEffect({ faults }, ["ends", "cuts"])) return explained("foreign CPU");
    const name = host_load ? "this machine" : `the machine ${busiest?.[0]}`;
    const machine = `${name} has ${cpus === 1 ? "one" : cpus}`;
    return suspect(
      `other programs used ${Math.round(foreign)} % of one CPU in the window (${machine}): stop them and measure again`,
    );
  },
} satisfies Rule;

import { FOREIGN_CPU_PERCENT } from "../../contract/result.js";
import type { Evidence, Finding, Rule } from "../evidence.js";
import { explained, hasEffect } from "../faults.js";

/**
 * M25: other programs did not use the CPU. The time that roles wait for each other is a result of the run, not a reason to
 * reject it.
 */
export const hostUndisturbed = {
  id: "M25",
  check({ host_load, faults }: Pick<Evidence, "host_load" | "faults">): Finding | undefined {
    if (!host_load) return { severity: "not applicable", text: "foreign CPU is not known" };
    const { cpus, foreign_cpu_percent: foreign } = host_load;
    if (foreign < FOREIGN_CPU_PERCENT) return undefined;
    // Programs that start, and the engine that starts and freezes them, are counted with the others.
    if (hasEffect({ faults }, ["ends", "cuts"])) return explained("foreign CPU");
    const machine = cpus === 1 ? "this machine has one" : `this machine has ${cpus}`;
    return {
      severity: "suspect",
      text: `other programs used ${Math.round(foreign)} % of one CPU in the window (${machine}): stop them and measure again`,
    };
  },
} satisfies Rule;

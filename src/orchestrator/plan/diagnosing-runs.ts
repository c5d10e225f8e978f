import { isProgramLayer } from "../../contract/layers.js";
import type { Plan } from "../../contract/plan.js";
import { isCopy } from "../../targets/options.js";
import type { Request } from "../request/request.js";

/** One diagnosing run of each configuration, or these alone; foreign programs have no instruments. */
export function withDiagnosingRuns(
  diagnose: Request["diagnose"],
  configurations: Plan["configurations"],
  runs: Plan["runs"],
): Plan["runs"] {
  if (!diagnose) return runs;
  const counted = diagnose === "alone" ? [] : runs;
  const diagnosing = configurations.flatMap(({ hash, configuration }) => {
    const own = runs.filter(({ configuration_hash }) => configuration_hash === hash);
    const [first] = own;
    if (!first || isProgramLayer(configuration.layer) || isCopy(configuration.target)) return [];
    const last = Math.max(0, ...(diagnose === "alone" ? [] : own.map(({ run }) => run)));
    return {
      configuration_hash: hash,
      run: last + 1,
      diagnose: true as const,
      file: first.file.replace(/_run\d+\.json$/, "_diagnose.json"),
    };
  });
  return [...counted, ...diagnosing];
}

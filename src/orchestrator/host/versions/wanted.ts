import type { PackageVersion } from "../../../contract/library-versions.js";
import type { Plan } from "../../../contract/plan.js";
import { findClient, findLimiter } from "../../../targets/resolve.js";

/** The versions that the plan's targets ask for, each once. */
export function wantedVersions({ configurations }: Pick<Plan, "configurations">): PackageVersion[] {
  const wanted = new Map<string, PackageVersion>();
  for (const { target } of configurations.map(({ configuration }) => configuration)) {
    const asked = [
      [findClient(target.client).package, target.client_version],
      [findLimiter(target.limiter).package, target.limiter_version],
    ];
    for (const [name, version] of asked)
      if (name && version) wanted.set(`${name}@${version}`, { name, version });
  }
  return [...wanted.values()];
}

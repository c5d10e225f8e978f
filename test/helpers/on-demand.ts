import { versionsFolder } from "../../src/contract/library-versions.js";
import type { Target } from "../../src/contract/target.js";
import { ensureVersions, versionsOfTargets } from "../../src/orchestrator/host/versions.js";
import { librariesWith } from "../../src/targets/libraries.js";
import { targetOf } from "./target.js";

/** Installs what a target needs on demand, as a campaign does; nothing for most. */
export async function ensureInstalled(target: Target) {
  const versions = versionsOfTargets([target]);
  await ensureVersions(versions, {
    signal: new AbortController().signal,
    holdProcess: async () => undefined,
    onSetupStep: () => undefined,
  });
  return versions;
}

/** @returns where the first package is loaded from that was installed on demand */
export async function installedFor(text: string) {
  const [first] = await ensureInstalled(targetOf(text));
  if (!first) throw new Error(`${text} installs nothing`);
  return librariesWith(versionsFolder(process.env), first);
}

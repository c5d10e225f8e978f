import { versionsFolder } from "../../src/contract/library-versions.js";
import { ensureVersions, versionsOfTargets } from "../../src/orchestrator/host/versions.js";
import { librariesWith } from "../../src/targets/libraries.js";
import { targetOf } from "./target.js";

/** Installs what a target needs on demand, as a campaign does. @returns where its first package is loaded from */
export async function installedFor(text: string) {
  const wanted = versionsOfTargets([targetOf(text)]);
  await ensureVersions(wanted, {
    signal: new AbortController().signal,
    holdProcess: async () => undefined,
    onSetupStep: () => undefined,
  });
  const [first] = wanted;
  if (!first) throw new Error(`${text} installs nothing`);
  return librariesWith(versionsFolder(process.env), first);
}

import { BenchError, EXIT, messageOf, usageError } from "../../kit/errors.js";
import { autoRuntimeIds, runtimeIds, runtimesFor } from "../../runtimes/index.js";
import type { RuntimeDescription } from "../../runtimes/runtime-types.js";
import { didYouMean } from "../../targets/did-you-mean.js";
import type { RequestedPlace } from "../request/request.js";
import { namedPaths } from "./program-sources.js";

/** The runtime that a start would use, and why, without opening it. */
export async function expectedRuntime(
  place: RequestedPlace,
): Promise<{ description: RuntimeDescription; choice: string }> {
  const { used: description, choice } = await firstWorking(place, async (runtime) => runtime);
  return { description, choice };
}

function runtimeOf(place: RequestedPlace): RuntimeDescription {
  const description = runtimesFor(place.access).find(({ id }) => id === place.runtime);
  if (description) return description;
  const near = didYouMean(place.runtime, ["auto", ...runtimeIds]);
  throw usageError(`there is no runtime ${JSON.stringify(place.runtime.slice(0, 60))}${near}`);
}

/**
 * Why only the local runtime can be used. Containers may not reach the stores and programs that the
 * user names.
 */
function localOnlyReason(place: RequestedPlace): string | undefined {
  if (place.storeAccess.STORE_URL)
    return "the store that STORE_URL names is reached from this machine";
  if (namedPaths(place.programs).length > 0) return "a program of this machine was named";
  return undefined;
}

/**
 * The runtimes that `auto` tries, and why not all of them.
 * @throws usageError where no runtime has everything that the user names
 */
function autoCandidates(place: RequestedPlace): {
  candidates: readonly RuntimeDescription[];
  reason?: string;
} {
  const runtimes = runtimesFor(place.access).filter(({ id }) => autoRuntimeIds.includes(id));
  const localOnly = localOnlyReason(place);
  const namesImage = place.needsContainers || Object.keys(place.programs.images).length > 0;
  if (localOnly && namesImage)
    throw usageError(`--image needs containers, but ${localOnly}: choose with --runtime`);
  if (localOnly)
    return { candidates: runtimes.filter(({ id }) => id === "local"), reason: localOnly };
  // An image that the user names must not be replaced by a program of this machine.
  return { candidates: namesImage ? runtimes.filter(({ id }) => id !== "local") : runtimes };
}

/**
 * Uses the requested runtime, where `auto` takes the first that works.
 * @throws usageError; environmentError
 */
export async function firstWorking<Used>(
  place: RequestedPlace,
  use: (description: RuntimeDescription) => Promise<Used>,
): Promise<{ used: Used; choice: string }> {
  if (place.runtime !== "auto")
    return { used: await use(runtimeOf(place)), choice: "the requested one" };

  const { candidates, reason } = autoCandidates(place);
  const unavailable: string[] = [];
  for (const description of candidates) {
    const answer = await description.available();
    if ("unavailableReason" in answer) {
      unavailable.push(answer.unavailableReason);
      continue;
    }
    try {
      const used = await use(description);
      return { used, choice: reason ?? [...unavailable, answer.what].join("; ") };
    } catch (error) {
      // A runtime may answer and still be of no use, e.g. because its images cannot be built.
      if (!(error instanceof BenchError) || error.exitCode !== EXIT.environment) throw error;
      unavailable.push(`${answer.what}, but: ${messageOf(error)}`);
    }
  }
  throw new BenchError(unavailable.join("; "), EXIT.environment);
}

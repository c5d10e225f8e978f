import type { StoreFeature } from "../../../contract/store.js";
import { BenchError, messageOf } from "../../../kit/errors.js";
import { withProgramParts } from "../load-programs/start-load-program.js";
import { PartFailed, type PartPlace } from "../part-supervisor.js";
import type { RequestedRun } from "../run-settings.js";
import { askStore } from "./ask-store.js";
import { storeOf } from "./run-store.js";

/** The features that each store does not have, or a text that says why it cannot be measured. */
export async function findingsOf(
  requests: readonly RequestedRun[],
  place: PartPlace,
): Promise<Map<string, readonly StoreFeature[] | string>> {
  const findings = new Map<string, readonly StoreFeature[] | string>();
  for (const request of requests) {
    findings.set(request.configuration.target.store, await findingOf(request, place));
  }
  return findings;
}

async function findingOf(
  request: RequestedRun,
  place: PartPlace,
): Promise<readonly StoreFeature[] | string> {
  try {
    return await withProgramParts(request, place, async ({ settings, supervisor }) => {
      const store = storeOf(settings, supervisor);
      await store.open();
      const { lacks = [] } = await askStore(store, ["features"]);
      return lacks;
    });
  } catch (error) {
    if (!(error instanceof BenchError || error instanceof PartFailed)) throw error;
    return `it did not become ready: ${messageOf(error)}`;
  }
}

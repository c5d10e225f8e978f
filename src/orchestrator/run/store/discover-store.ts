import type { ProbeRequest } from "../../../contract/probe-env.js";
import { environmentError } from "../../../kit/errors.js";
import type { RunningPart, Runtime } from "../../../runtimes/runtime-types.js";
import { discoveryPart } from "../layout.js";
import type { ExternalStore } from "../run-settings.js";
import { askProbe, ProbeEnded, UnfitReport } from "./ask-probe.js";

/** The time for an answer. An external store that hangs must not delay the campaign. */
const DISCOVER_TIMEOUT_S = 10;

type StoreAccess = ExternalStore["access"];

/** Discovers the user's store; undefined where none was named. @throws environmentError */
export async function discoverStore(
  access: StoreAccess,
  runtime: Runtime,
): Promise<ExternalStore | undefined> {
  if (!access.STORE_URL) return undefined;
  const probe = await runtime.start(discoveryPart(access), async () => {});
  try {
    return { ...(await discoverBy(probe)), access };
  } catch (error) {
    if (error instanceof UnfitReport)
      throw environmentError(
        `an answer of the store that STORE_URL names does not fit: ${error.message}`,
      );
    if (error instanceof ProbeEnded)
      throw environmentError(
        `the store that STORE_URL names: ${error.message}${remedyFor(error, access)}`,
      );
    throw error;
  } finally {
    await probe.stop();
  }
}

async function discoverBy(probe: RunningPart) {
  const request: ProbeRequest = {
    actions: ["discover"],
    nodes: [],
    timeout_s: DISCOVER_TIMEOUT_S,
  };
  const { discovered } = await askProbe(probe, request);
  if (discovered) return discovered;
  throw environmentError("the type of the store that STORE_URL names was not detected");
}

/**
 * A guess that the store asks for a certificate; empty where it cannot be that. By TLS 1.3 a client
 * counts itself as connected before the store refuses it, and may only see a reset.
 */
function remedyFor({ message }: ProbeEnded, { STORE_URL = "", STORE_CERT }: StoreAccess): string {
  const isEncrypted = STORE_URL.startsWith("rediss:");
  if (!isEncrypted || STORE_CERT || !message.includes("does not answer")) return "";
  return "; if it asks its clients for a certificate, give STORE_CERT and STORE_KEY";
}

import type { Discovery } from "../../../contract/store.js";
import { storeAddressFrom } from "../../../contract/store-url.js";
import type { Environment } from "../../../kit/env.js";
import { usageError } from "../../../kit/errors.js";
import { resp } from "../../../targets/stores/resp/resp-engine.js";

/** The time for an answer, which a person waits for. */
const CONTACT_TIMEOUT_MS = 3_000;

/**
 * Discovers the store that STORE_URL names from this process, before any runtime is open.
 * @throws environmentError where nobody answers, or the type is unknown; usageError for an address
 *   that is none
 */
export async function contactStore(env: Environment): Promise<Discovery> {
  const address = storeAddressFrom(env);
  if (!address) throw usageError("STORE_URL names no store");

  const { host, port, access } = address;
  const session = await resp.connect([{ host, port }], access);
  try {
    await session.ready("standalone", performance.now() + CONTACT_TIMEOUT_MS);
    return await session.discover();
  } finally {
    session.close();
  }
}

import type { Discovery } from "../../contract/store.js";
import { isRequestedVersion, parseStoreText } from "../../contract/target.js";
import type { Runtime, RuntimeDescription } from "../../runtimes/runtime-types.js";
import { type Availability, findStore } from "../../targets/resolve.js";
import { moduleAvailability } from "../plan/module-files.js";
import type { Request } from "../request/request.js";
import { isStore, plainId, programSources } from "./program-sources.js";

/**
 * Whether each store would be available once the runtime is open.
 * @param external the user's store; undefined where it was not contacted
 */
export async function expectedStores(
  description: RuntimeDescription,
  request: Request,
  packageFolder: string,
  external?: Discovery,
): Promise<Availability> {
  const answers = await Promise.all(
    programSources(request).map(
      async (program) => [program.id, await description.has(program, { packageFolder })] as const,
    ),
  );
  const answersById = new Map(answers);
  const isExternal = Boolean(request.place.storeAccess.STORE_URL);
  return (id) => {
    const module = moduleAvailability(request.place, external, id);
    if (module !== undefined) return module;
    if (!isExternal || !isStore(id)) return answersById.get(id) ?? false;
    return external === undefined || externalAvailability(external, id);
  };
}

/** Whether the user's store serves as this store, or a text that says what it is. */
export function externalAvailability(external: Discovery, id: string): true | string {
  const { store, version: actualVersion } = external;
  const { version } = parseStoreText(id);
  if (version && !isRequestedVersion(version, actualVersion))
    return `the store that already runs is ${store} ${actualVersion}`;
  return store === plainId(id) || `the store that already runs is ${store}`;
}

/** Whether a store, service or module is available, or a text that says why not. */
export function availability(
  request: Request,
  runtime: Runtime,
  external: Discovery | undefined,
  id: string,
): boolean | string {
  const module = moduleAvailability(request.place, external, id);
  if (module !== undefined) return module;
  if (isStore(id) && findStore(plainId(id)).program === undefined) return true;
  if (!external || !isStore(id)) {
    const foundProgram = runtime.program(id);
    return typeof foundProgram === "string" ? foundProgram : true;
  }
  return externalAvailability(external, id);
}

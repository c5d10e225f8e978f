import type { Discovery } from "../../contract/store.js";
import { isRequestedVersion, parseStoreText } from "../../contract/target.js";
import type { Runtime, RuntimeDescription } from "../../runtimes/runtime-types.js";
import { type Availability, findStore } from "../../targets/resolve.js";
import { moduleAvailability } from "../plan/module-files.js";
import type { Request } from "../request/request.js";
import { isStore, plainId, programSources } from "./program-sources.js";

/** Whether each store would be available once the runtime is open. */
export async function expectedStores(
  description: RuntimeDescription,
  request: Request,
  packageFolder: string,
): Promise<Availability> {
  const answers = await Promise.all(
    programSources(request).map(
      async (program) => [program.id, await description.has(program, { packageFolder })] as const,
    ),
  );
  const answersById = new Map(answers);
  const isExternal = Boolean(request.place.storeAccess.STORE_URL);
  return (id) =>
    moduleAvailability(request.place, undefined, id) ??
    ((isExternal && isStore(id)) || (answersById.get(id) ?? false));
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
  const { version } = parseStoreText(id);
  if (version && !isRequestedVersion(version, external.version))
    return `the store that already runs is ${external.store} ${external.version}`;
  return external.store === plainId(id) || `the store that already runs is ${external.store}`;
}

import { isApp } from "../contract/app.js";
import type { Decider, Target } from "../contract/target.js";
import { definedOnly } from "../kit/defined-only.js";
import { findLimiter, findStore } from "./find-description.js";
import { COPY, isCopy, isEncrypted, SAME_SCRIPT } from "./options.js";
import type { ClientDescription } from "./target-types.js";

type NamedTarget = Pick<Target, "store" | "label" | "options">;

/**
 * What plan and results say of a target, so that nobody reads it from the target's text
 * again.
 */
export function propertiesOf(
  client: ClientDescription,
  { store, label, options: ids }: NamedTarget,
) {
  return definedOnly({
    decided_by: deciderOf(client, store),
    algorithm: findLimiter(client.limiter).algorithm,
    module: client.module,
    service: client.service,
    program: client.program,
    node: client.node,
    framework: client.framework,
    same_script: trueOrUndefined(ids.includes(SAME_SCRIPT)),
    settings: client.settings,
    encrypted: trueOrUndefined(isEncrypted({ options: ids })),
    copy_of: isCopy({ options: ids }) ? label.replace(`+${COPY}`, "") : undefined,
    decides_locally: trueOrUndefined(client.decidesLocally === true),
  });
}

/** Flags are absent where they would be false. */
const trueOrUndefined = (condition: boolean): true | undefined => condition || undefined;

function deciderOf(client: ClientDescription, storeId: string): Decider {
  const { limiter, service, module } = client;
  const { decides, engine } = findStore(storeId);
  if (isApp({ client: client.id })) return "app";
  if (limiter === "none") return "nothing";
  if (service || decides) return "service";
  if (module) return "module";
  return engine === undefined ? "in-process" : "library";
}

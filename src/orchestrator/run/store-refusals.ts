import type { Configuration } from "../../contract/configuration.js";
import { storeProgram, type Target } from "../../contract/target.js";
import { environmentError, messageOf } from "../../kit/errors.js";
import { findModule } from "../../targets/modules/index.js";
import { isEncrypted } from "../../targets/options.js";
import { findService } from "../../targets/services/index.js";
import { moduleRefusal } from "../plan/module-files.js";
import type { RunningRole } from "./part-supervisor.js";

/** What programs without TLS say of `--tls-port`; older ones do not even know it. */
const WITHOUT_TLS = /Failed finding TLS support|tls-port[\s\S]*Bad directive/;

/** How a program was ended by a signal. A container reports the signal as a code above 128. */
const CRASH = / ended (?:during the run )?with (SIG[A-Z]+|1[3-5]\d)\b/;

/** Why a start failed, and the roles that had started by then. */
export interface FailedStart {
  error: unknown;
  roles: readonly RunningRole[];
}

/** A service that cannot read a setting of the user ends, and its last lines name it. */
export function settingRefusal(
  id: string,
  settings: Configuration["service_env"],
  failed: FailedStart,
): Error | undefined {
  const services = failed.roles.filter(({ kind }) => kind === "service");
  const lines = [...linesBeforeReady(failed), ...lastLines(services)];
  const refused = findService(id).refusedSetting?.(lines);
  const value = refused && settings?.[refused.name];
  if (!refused || value === undefined) return undefined;
  const { name, takes } = refused;
  return environmentError(
    `--service-env ${id}:${name}=${value}: the service cannot read this value: give ${takes}`,
    { cause: failed.error },
  );
}

/** A program that was built without TLS ends, and its log says so. */
export function encryptionRefusal(target: Target, failed: FailedStart): Error | undefined {
  if (!isEncrypted(target)) return undefined;
  const text = [messageOf(failed.error), ...allLines(failed)].join("\n");
  if (!WITHOUT_TLS.test(text)) return undefined;
  const program = storeProgram(target);
  return environmentError(
    `+tls: the program of ${program} was built without TLS: name one with it by --program ${program}=PATH, or use containers`,
    { cause: failed.error },
  );
}

/**
 * A store that cannot load its module ends, and its log says why; one that a module crashes just
 * ends. @param file of the module; absent where the run does not load it
 */
export function moduleRefusalOf(
  { module: id }: Target,
  file: string | undefined,
  failed: FailedStart,
): Error | undefined {
  if (!id || !file) return undefined;
  const reason = moduleRefusal(allLines(failed)) ?? crashReason(failed.error);
  if (!reason) return undefined;
  const { remedy } = findModule(id);
  return environmentError(`${id}: the store does not load ${file}: ${reason}: ${remedy}`, {
    cause: failed.error,
  });
}

function crashReason(error: unknown): string | undefined {
  const crash = CRASH.exec(` ${messageOf(error)}`)?.[1];
  return crash && `it ended with ${crash}`;
}

const allLines = (failed: FailedStart): string[] => [
  ...lastLines(failed.roles),
  ...linesBeforeReady(failed),
];

const lastLines = (roles: readonly RunningRole[]): string[] =>
  roles.flatMap(({ part }) => part.lastLines());

/** A part that ends before it is ready has no role yet: its lines are those of the cause. */
function linesBeforeReady({ error }: FailedStart): string[] {
  const { cause } = error as Error;
  return cause instanceof Error ? cause.message.split("\n") : [];
}

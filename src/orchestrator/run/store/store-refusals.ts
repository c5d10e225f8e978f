import type { Configuration } from "../../../contract/configuration.js";
import { storeProgram, type Target } from "../../../contract/target.js";
import { environmentError, messageOf } from "../../../kit/errors.js";
import { findModule } from "../../../targets/modules/index.js";
import { isEncrypted } from "../../../targets/options.js";
import { findService } from "../../../targets/services/index.js";
import { moduleRefusal } from "../../plan/module-files.js";
import type { RunningRole } from "../part-supervisor.js";

/** Matches messages of programs without TLS on `--tls-port`, which older ones do not even know. */
const WITHOUT_TLS = /Failed finding TLS support|tls-port[\s\S]*Bad directive/;

/** Matches the end of a program by a signal, which a container reports as a code above 128. */
const CRASH = / ended (?:during the run )?with (SIG[A-Z]+|1[3-5]\d)\b/;

/** Why a start failed, and the roles that had started by then. */
export interface FailedStart {
  error: unknown;
  roles: readonly RunningRole[];
}

/** The error of a service that ended because it cannot read a setting of the user. */
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

/** The error of a store whose program was built without TLS, as its log says. */
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
 * The error of a store that cannot load its module, as its log says, or that the module crashes.
 * @param file the module's file; absent where the run does not load it
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

/** The lines of a part that ended before it was ready. It has no role yet, and the cause has them. */
function linesBeforeReady({ error }: FailedStart): string[] {
  const { cause } = error as Error;
  return cause instanceof Error ? cause.message.split("\n") : [];
}

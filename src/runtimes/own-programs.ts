import { isRequestedVersion } from "../contract/target.js";
import { environmentError } from "../kit/errors.js";
import type {
  FoundProgram,
  OwnProgram,
  Part,
  PartAllocation,
  ProgramSource,
} from "./runtime-types.js";

/** The programs of this project, which have an image each and run in Node.js everywhere. */
export const ownPrograms: readonly OwnProgram[] = ["server", "loadtest"];

/** A part with a program of this project, and with further members. */
export const ownPart = (role: string, program: string, members: Partial<Part> = {}): Part => ({
  role,
  program,
  arguments: () => [],
  environment: () => ({}),
  workingFolder: "package",
  ...members,
});

/**
 * The variables of a part, which are the same in every runtime. A part that follows its image has
 * those of the image in the place of our defaults.
 */
export const programEnvironment = (
  part: Part,
  allocation: PartAllocation,
): Record<string, string> => {
  const defaults = { LC_ALL: "C", TZ: "UTC", NODE_ENV: "production" };
  return { ...(part.followsImage ? {} : defaults), ...part.environment(allocation) };
};

/** The role of a part that idles until processes are executed in it. Engines accept it as a name. */
export const helperRole = (program: string): string =>
  `helper-${program.replaceAll(/[~._]/g, "-").toLowerCase()}`;

/** @throws environmentError for a program that has another version than the requested one */
export function requireVersion(
  { id, version }: ProgramSource,
  { path, image, version: actualVersion }: FoundProgram,
): void {
  if (version === undefined || isRequestedVersion(version, actualVersion)) return;
  const flag = image ? `--image ${id}=REF` : `--program ${id}=PATH`;
  throw environmentError(
    `${id} was requested, but ${path} is ${actualVersion}: name it with ${flag}`,
  );
}

/** The version of a program that prints none. */
export const UNKNOWN_VERSION = "unknown";

/** The version in the output of `--version`, e.g. `v=9.1.2` or `memcached 1.6.38`. */
export const versionIn = (printed: string): string =>
  /\bv?=?(\d+(?:\.\d+)+)/.exec(printed)?.[1] ?? UNKNOWN_VERSION;

/** The version that Go writes into programs, which is the start of a commit's hash or a release. */
export function goVersionIn(file: Buffer): string | undefined {
  const marker = file.indexOf("\nmod\t", undefined, "latin1");
  if (marker < 0) return undefined;
  const information = file.subarray(marker, marker + 20_000).toString("latin1");
  const revision = /\nbuild\tvcs\.revision=([0-9a-f]{8})/.exec(information)?.[1];
  const version = /^\nmod\t\S+\tv(\S+)/.exec(information)?.[1];
  return revision ?? /[-.]\d{14}-([0-9a-f]{8})/.exec(version ?? "")?.[1] ?? version;
}

/** The version of an image, which is its tag or else the first digits of its id. */
export function imageVersion({ name, id }: { name: string; id: string }): string {
  const [reference = ""] = name.split("@");
  const tag = /:([^:/]+)$/.exec(reference)?.[1];
  return tag && tag !== "latest" ? tag : id.replace("sha256:", "").slice(0, 12);
}

import { isRequestedVersion } from "../contract/target.js";
import { environmentError } from "../kit/errors.js";
import type {
  OwnProgram,
  Part,
  PartAllocation,
  ProgramFacts,
  ProgramSource,
} from "./runtime-types.js";

/** The programs of this project: each has an image of its own, and runs in Node.js everywhere. */
export const ownPrograms: readonly OwnProgram[] = ["server", "loadtest"];

export const ownPart = (role: string, program: string, more: Partial<Part> = {}): Part => ({
  role,
  program,
  arguments: () => [],
  environment: () => ({}),
  workingFolder: "package",
  ...more,
});

/** A part's variables, the same in every runtime. */
export const programEnvironment = (
  part: Part,
  allocation: PartAllocation,
): Record<string, string> => {
  return { LC_ALL: "C", TZ: "UTC", NODE_ENV: "production", ...part.environment(allocation) };
};

/** The role of a part that idles until processes are executed in it: a name that engines take. */
export const helperRole = (program: string): string =>
  `helper-${program.replaceAll(/[~._]/g, "-").toLowerCase()}`;

export function requireVersion(
  { id, version }: ProgramSource,
  { path, image, ...seen }: ProgramFacts,
): void {
  if (version === undefined || isRequestedVersion(version, seen.version)) return;
  const flag = image ? `--image ${id}=REF` : `--program ${id}=PATH`;
  throw environmentError(
    `${id} was requested, but ${path} is ${seen.version}: name it with ${flag}`,
  );
}

/** What a program that prints none has as its version. */
export const UNKNOWN_VERSION = "unknown";

/** The version in what a program prints for `--version`, e.g. `v=9.1.2` or `memcached 1.6.38`. */
export const versionIn = (printed: string): string =>
  /\bv?=?(\d+(?:\.\d+)+)/.exec(printed)?.[1] ?? UNKNOWN_VERSION;

/** The version that Go writes into programs: a commit's first eight digits, or a release. */
export function goVersionIn(file: Buffer): string | undefined {
  const marker = file.indexOf("\nmod\t", undefined, "latin1");
  if (marker < 0) return undefined;
  const information = file.subarray(marker, marker + 20_000).toString("latin1");
  const revision = /\nbuild\tvcs\.revision=([0-9a-f]{8})/.exec(information)?.[1];
  const version = /^\nmod\t\S+\tv(\S+)/.exec(information)?.[1];
  return revision ?? /[-.]\d{14}-([0-9a-f]{8})/.exec(version ?? "")?.[1] ?? version;
}

/** The version that an image's name tells: its tag, else the first digits of its id. */
export function imageVersion({ name, id }: { name: string; id: string }): string {
  const [reference = ""] = name.split("@");
  const tag = /:([^:/]+)$/.exec(reference)?.[1];
  return tag && tag !== "latest" ? tag : id.replace("sha256:", "").slice(0, 12);
}

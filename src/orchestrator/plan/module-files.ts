import { hash } from "node:crypto";
import { open, readFile, stat } from "node:fs/promises";
import { resolve } from "node:path";
import type { Discovery } from "../../contract/store.js";
import { environmentError, messageOf } from "../../kit/errors.js";
import type { Platform } from "../../runtimes/runtime-types.js";
import { requestedModules } from "../../targets/candidate-programs.js";
import { modules } from "../../targets/modules/index.js";
import type { ModuleDescription } from "../../targets/target-types.js";
import type {
  NamedPrograms,
  Request,
  RequestedPlace,
  RequestedTargets,
} from "../request/request.js";
import { targetTexts } from "../request/target-texts.js";

/**
 * The absolute path of each module that the user names, by id. A flag wins over the module's
 * variable.
 */
export function moduleFiles(
  programs: NamedPrograms,
  env: NodeJS.ProcessEnv = process.env,
): Record<string, string> {
  return Object.fromEntries(
    modules.flatMap(({ id, variable }) => {
      const path = programs.paths[id] ?? env[variable];
      return path ? [[id, resolve(path)]] : [];
    }),
  );
}

export function usedModules(targets: RequestedTargets): ModuleDescription[] {
  const used = requestedModules(targetTexts(targets));
  return modules.filter(({ id }) => used.includes(id));
}

export function moduleAvailability(
  { programs, storeAccess }: RequestedPlace,
  external: Discovery | undefined,
  id: string,
): true | string | undefined {
  const module = modules.find((candidate) => candidate.id === id);
  if (!module) return undefined;
  if (external) {
    return (
      external.modules?.includes(id) ||
      `the store that already runs has not loaded ${id}: start it with --loadmodule and the module's file`
    );
  }
  // The user's store was not contacted yet, and loads its modules itself.
  if (storeAccess.STORE_URL) return true;
  return moduleFiles(programs)[id]
    ? true
    : `${id} is a module, and no file was named: ${module.remedy}`;
}

/** The sha256 of a file's bytes. @throws environmentError where it cannot be read */
export async function sha256Of(path: string): Promise<string> {
  try {
    return hash("sha256", await readFile(path));
  } catch (error) {
    throw environmentError(`${path} cannot be read: ${messageOf(error)}`, { cause: error });
  }
}

/**
 * The hashes of the files of modules that the requested targets use; empty for a store of the user.
 */
export async function moduleHashes({
  targets,
  place,
}: Request): Promise<Record<string, { sha256: string }>> {
  if (place.storeAccess.STORE_URL) return {};
  const files = moduleFiles(place.programs);
  const hashes = usedModules(targets).flatMap(({ id }) => {
    const path = files[id];
    return path ? [sha256Of(path).then((sha256) => [id, { sha256 }] as const)] : [];
  });
  return Object.fromEntries(await Promise.all(hashes));
}

/** Checks the files of modules that targets use. @throws environmentError that names file and fix */
export async function requireModules(
  { targets, place }: Request,
  platform: Platform | undefined,
): Promise<void> {
  if (place.storeAccess.STORE_URL) return;
  const files = moduleFiles(place.programs);
  for (const { id, remedy } of usedModules(targets)) {
    const path = files[id];
    const problem = path && (await fileProblem(path, platform));
    if (problem) throw environmentError(`${id}: ${path} ${problem}: ${remedy}`);
  }
}

async function fileProblem(
  path: string,
  platform: Platform | undefined,
): Promise<string | undefined> {
  let header: Buffer;
  try {
    if (!(await stat(path)).isFile()) return "is not a file";
    header = await headerOf(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return "does not exist";
    return code === "EACCES" ? "is not readable" : `cannot be read (${messageOf(error)})`;
  }
  const library = libraryPlatform(header);
  if (!library) return "is not a shared library";
  if (!platform) return undefined;
  if (library.system !== platform.system)
    return `is a library for ${library.system}, but the store runs on ${platform.system}`;
  if (!library.architectures.includes(platform.architecture))
    return `is a library for ${library.architectures.join(" and ")}, but the store runs on ${platform.architecture}`;
  return undefined;
}

const HEADER_BYTES = 64;

async function headerOf(path: string): Promise<Buffer> {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(HEADER_BYTES), 0, HEADER_BYTES, 0);
    return buffer.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}

/** `e_machine` of an ELF header, as `process.arch` names it. */
const ELF_MACHINES: Readonly<Record<number, string>> = {
  3: "ia32",
  8: "mips",
  21: "ppc64",
  22: "s390x",
  40: "arm",
  62: "x64",
  183: "arm64",
  243: "riscv64",
  258: "loong64",
};
const ELF_SHARED_OBJECT = 3;

/** `cputype` of a Mach-O header. */
const MACHO_CPUS: Readonly<Record<number, string>> = { 16777223: "x64", 16777228: "arm64" };
const MACHO_64 = 0xfeedfacf;
const MACHO_SEVERAL = 0xcafebabe;

/**
 * The platform of a shared library, from the first bytes of its file; undefined for another kind of
 * file.
 */
export function libraryPlatform(
  header: Buffer,
): { system: "linux" | "darwin"; architectures: string[] } | undefined {
  if (header.length < HEADER_BYTES) return undefined;
  if (header.toString("latin1", 0, 4) === "\x7fELF") {
    const isLittleEndian = header[5] === 1;
    const number = (offset: number) =>
      isLittleEndian ? header.readUInt16LE(offset) : header.readUInt16BE(offset);
    if (number(16) !== ELF_SHARED_OBJECT) return undefined;
    const machine = number(18);
    return { system: "linux", architectures: [ELF_MACHINES[machine] ?? `machine ${machine}`] };
  }
  const cpu = (type: number) => MACHO_CPUS[type] ?? `CPU type ${type}`;
  if (header.readUInt32LE(0) === MACHO_64)
    return { system: "darwin", architectures: [cpu(header.readUInt32LE(4))] };
  // A file with several libraries has their number in its header, and then 20 bytes for each. Java
  // classes begin with the same four bytes and a version, which is larger.
  const several = header.readUInt32BE(4);
  if (header.readUInt32BE(0) === MACHO_SEVERAL && several <= 2)
    return {
      system: "darwin",
      architectures: Array.from({ length: several }, (_, index) =>
        cpu(header.readUInt32BE(8 + 20 * index)),
      ),
    };
  return undefined;
}

/** Matches the messages of a store that does not load a module. */
const REFUSALS = [
  /\bModule (?<path>.+) failed to load: (?:\k<path>: )?(?<reason>.+)$/,
  /\bModule .+ (?<reason>does not export \S+|initialization failed)/,
];

export function moduleRefusal(lines: readonly string[]): string | undefined {
  const reasons = lines.flatMap((line) =>
    REFUSALS.flatMap((refusal) => refusal.exec(line)?.groups?.reason ?? []),
  );
  return reasons.at(-1)?.trim().replace(/\.$/, "");
}

import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { EXIT } from "../../../../src/kit/errors.js";
import {
  libraryPlatform,
  moduleFiles,
  moduleHashes,
  requireModules,
} from "../../../../src/orchestrator/plan/module-files.js";
import { expectFailure } from "../../../helpers/errors.js";
import { temporaryFolders } from "../../../helpers/folders.js";
import { requestOf } from "../../../helpers/request.js";

const newFolder = temporaryFolders();
const LINUX = { system: "linux", architecture: "x64" };

/** The header of an ELF file. */
function elf({ type = 3, machine = 62, isLittle = true } = {}): Buffer {
  const header = Buffer.alloc(64);
  header.write("\x7fELF", "latin1");
  header[5] = isLittle ? 1 : 2;
  for (const [offset, value] of [
    [16, type],
    [18, machine],
  ] as const)
    if (isLittle) header.writeUInt16LE(value, offset);
    else header.writeUInt16BE(value, offset);
  return header;
}

/** The header of a Mach-O file; several architectures in one file have another one. */
function macho(...types: number[]): Buffer {
  const header = Buffer.alloc(64);
  if (types.length === 1) {
    header.writeUInt32LE(0xfeedfacf, 0);
    header.writeUInt32LE(types[0] ?? 0, 4);
    return header;
  }
  header.writeUInt32BE(0xcafebabe, 0);
  header.writeUInt32BE(types.length, 4);
  for (const [index, type] of types.entries()) header.writeUInt32BE(type, 8 + 20 * index);
  return header;
}

test.each([
  ["x64", elf(), { system: "linux", architectures: ["x64"] }],
  ["arm64", elf({ machine: 183 }), { system: "linux", architectures: ["arm64"] }],
  [
    "big-endian s390x",
    elf({ machine: 22, isLittle: false }),
    { system: "linux", architectures: ["s390x"] },
  ],
  [
    "an unknown machine",
    elf({ machine: 999 }),
    { system: "linux", architectures: ["machine 999"] },
  ],
  ["macOS", macho(0x0100000c), { system: "darwin", architectures: ["arm64"] }],
  [
    "macOS twice",
    macho(0x01000007, 0x0100000c),
    { system: "darwin", architectures: ["x64", "arm64"] },
  ],
  ["an object file", elf({ type: 1 }), undefined],
  ["a text", Buffer.from("#!/bin/sh\n".padEnd(64)), undefined],
  ["an empty file", Buffer.alloc(0), undefined],
  [
    "a Java class",
    Buffer.from([0xca, 0xfe, 0xba, 0xbe, 0, 0, 0, 61, ...Array(56).fill(0)]),
    undefined,
  ],
])("the platform of %s is read from the first bytes", (_, header, expected) => {
  expect(libraryPlatform(header)).toEqual(expected);
});

const fileOf = (content: Buffer): string => {
  const path = join(newFolder(), "lib.so");
  writeFileSync(path, content);
  return path;
};

const asked = (path: string, clients = "ioredis+redis-cell") =>
  requestOf("--clients", clients, "--program", `redis-cell=${path}`);

test.each([
  ["is not there", () => join(newFolder(), "none.so"), ""],
  ["is a folder", () => newFolder(), ""],
  ["is no library", () => fileOf(Buffer.from("hello")), "library"],
  ["is of another architecture", () => fileOf(elf({ machine: 183 })), "arm64"],
  ["is of another system", () => fileOf(macho(0x01000007)), "darwin"],
])(
  "a module that %s is an unfit machine, in one line with file and fix",
  async (_, makePath, problem) => {
    const path = makePath();
    const request = asked(path);
    const told = [path, problem, "--program redis-cell=", "REDIS_CELL_MODULE"];
    await expectFailure(() => requireModules(request, LINUX), EXIT.environment, ...told);
    // No target uses it.
    await requireModules(asked(path, "ioredis"), LINUX);
  },
);

test("a module that fits is accepted, and hashed by its bytes", async () => {
  const path = fileOf(elf());
  chmodSync(path, 0o755);
  await requireModules(asked(path), LINUX);
  const { "redis-cell": first } = await moduleHashes(asked(path));
  expect(first?.sha256).toMatch(/^[0-9a-f]{64}$/);
  const { "redis-cell": other } = await moduleHashes(asked(fileOf(elf({ machine: 183 }))));
  expect(other?.sha256).not.toBe(first?.sha256);
  expect(await moduleHashes(asked(path, "ioredis"))).toEqual({});
});

test("a flag wins over the module's variable; both give an absolute path", () => {
  const env = { REDIS_CELL_MODULE: "cell.so", REDIS_SHIELD_MODULE: "/opt/shield.so" };
  expect(moduleFiles(requestOf().place.programs, env)).toEqual({
    "redis-cell": join(process.cwd(), "cell.so"),
    "redis-shield": "/opt/shield.so",
  });
  expect(moduleFiles(asked("/opt/other.so").place.programs, env)).toMatchObject({
    "redis-cell": "/opt/other.so",
  });
});

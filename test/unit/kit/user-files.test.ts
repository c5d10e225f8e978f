import { execFileSync } from "node:child_process";
import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { afterEach, describe, expect, test, vi } from "vitest";
import { storeAddressFrom } from "../../../src/contract/store-url.js";
import { readUserFile } from "../../../src/kit/user-files.js";
import { userFolder } from "../../../src/kit/user-folder.js";
import { Checksums } from "../../../src/orchestrator/files/checksums.js";
import { requireWritable } from "../../../src/orchestrator/files/results-folder.js";
import { acquireLock } from "../../../src/orchestrator/ownership/state-folder.js";
import { readHostsFile } from "../../../src/orchestrator/request/access.js";
import { configLayer } from "../../../src/orchestrator/request/config-file.js";
import { lineLog } from "../../../src/orchestrator/ui/event-log.js";
import { readPlugin } from "../../../src/plugins/source.js";
import { ownStateFolder, temporaryFolders } from "../../helpers/folders.js";

const newFolder = temporaryFolders();
const ownState = ownStateFolder(newFolder);
afterEach(() => vi.unstubAllEnvs());

function pipe(path = join(newFolder(), "pipe")): string {
  execFileSync("mkfifo", [path]);
  return path;
}

/** What no reader may wait for, or read to its end. */
const others = (): string[] => [pipe(), newFolder(), "/dev/zero", "/dev/null"];
const usage = { exitCode: 2 };
const environment = { exitCode: 3 };

describe("a file from a user is a file, and of a limited size [R-no-file-1]", () => {
  test("as campaign file, hosts file, certificate and plugin", async () => {
    for (const path of others()) {
      expect(() => configLayer(path), path).toThrow(expect.objectContaining(usage));
      expect(() => readHostsFile(path, "--hosts"), path).toThrow(expect.objectContaining(usage));
      const store = { STORE_URL: "rediss://127.0.0.1:1", STORE_CA: path };
      expect(() => storeAddressFrom(store), path).toThrow(expect.objectContaining(usage));
      await expect(readPlugin(path), path).rejects.toMatchObject(usage);
    }
    const path = join(newFolder(), "large.yaml");
    writeFileSync(path, "");
    truncateSync(path, 17 * 1024 ** 2);
    expect(() => configLayer(path)).toThrow(expect.objectContaining(usage));
    expect(() => readUserFile(path, 16 * 1024 ** 2)).toThrow("16 MiB");
  });

  test("as lock, checksums, copy of a result and log", async () => {
    for (const make of [pipe, (path: string) => void mkdirSync(path)]) {
      const state = ownState();
      mkdirSync(state, { recursive: true });
      make(join(state, "lock.json"));
      await expect(acquireLock("20260102_030405")).rejects.toMatchObject(environment);
      const folder = newFolder();
      make(join(folder, "SHA256SUMS"));
      await expect(Checksums.read(folder)).rejects.toMatchObject(environment);
      await expect(requireWritable(join(folder, "SHA256SUMS"))).rejects.toMatchObject(environment);
      const reported: string[] = [];
      const append = lineLog(join(folder, "SHA256SUMS"), (text) => reported.push(text));
      append("a line");
      append("another");
      expect(reported).toHaveLength(1);
    }
    await expect(requireWritable("/dev/null")).rejects.toMatchObject(environment);
  });
});

test("what a campaign wrote is not read or written through a link [R-link-6]", async () => {
  const folder = newFolder();
  const target = join(folder, "elsewhere");
  writeFileSync(target, "as it was");
  for (const name of ["SHA256SUMS", "benchmark.log"]) symlinkSync(target, join(folder, name));
  await expect(Checksums.read(folder)).rejects.toMatchObject(environment);
  await expect(requireWritable(join(folder, "SHA256SUMS"))).rejects.toMatchObject(environment);
  lineLog(join(folder, "benchmark.log"), () => {})("a line");
  expect(readFileSync(target, "utf8")).toBe("as it was");
});

test("settings that nest a thousand deep, or whose aliases explode, are refused in a line [R-file-2]", () => {
  const words = "abcdefghi".split("");
  const bomb = words.map((word, at) => {
    const items = at === 0 ? "x" : `*${words[at - 1]}`;
    return `${word}: &${word} [${Array(9).fill(items).join(",")}]`;
  });
  const texts = [
    `clients: ${"[".repeat(1000)}${"]".repeat(1000)}`,
    "[".repeat(100_000),
    `clients:\n${"- ".repeat(100_000)}x`,
    `clients: ${"{a: ".repeat(1000)}1${"}".repeat(1000)}`,
    bomb.join("\n"),
  ];
  for (const text of texts) {
    const path = join(newFolder(), "settings.yaml");
    writeFileSync(path, text);
    for (const read of [configLayer, (file: string) => readHostsFile(file, "--hosts")]) {
      expect(() => read(path)).toThrow(expect.objectContaining(usage));
      expect(() => read(path)).toThrow(/^[^\n]*cannot be read: [^\n]*$/);
    }
  }
});

test("a user without a home has one below the temporary folder, unless it is another's [R-no-home-1]", () => {
  const temporary = newFolder();
  vi.stubEnv("TMPDIR", temporary);
  for (const home of ["relative", "/dev/null"]) {
    vi.stubEnv("HOME", home);
    const state = userFolder({}, "XDG_STATE_HOME");
    expect(dirname(userFolder({}, "XDG_CACHE_HOME"))).toBe(
      join(temporary, basename(readdirSync(temporary)[0] ?? ""), ".cache"),
    );
    expect(state.startsWith(`${temporary}/`)).toBe(true);
  }
  expect(userFolder({ XDG_STATE_HOME: "/state" }, "XDG_STATE_HOME")).toBe("/state/ratelimit-bench");
  const [name = ""] = readdirSync(temporary);
  const folder = join(temporary, name);
  expect(statSync(folder).mode & 0o777).toBe(0o700);
  chmodSync(folder, 0o777);
  expect(() => userFolder({}, "XDG_CACHE_HOME")).toThrow(expect.objectContaining(environment));
  rmSync(folder, { recursive: true });
  symlinkSync(newFolder(), folder);
  expect(() => userFolder({}, "XDG_STATE_HOME")).toThrow("XDG_STATE_HOME");
});

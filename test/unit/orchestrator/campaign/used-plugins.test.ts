import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { MeasuredResult } from "../../../../src/contract/result.js";
import { EXIT } from "../../../../src/kit/errors.js";
import { traceExampleText } from "../../../../src/orchestrator/campaign/dry-run.js";
import {
  checkPlugins,
  registerPlugins,
  withSources,
} from "../../../../src/orchestrator/campaign/used-plugins.js";
import { parseSingle } from "../../../../src/orchestrator/request/original.js";
import { expectFailure } from "../../../helpers/errors.js";
import { planOf } from "../../../helpers/events.js";
import { temporaryFolders } from "../../../helpers/folders.js";
import { requestOf } from "../../../helpers/request.js";

const newFolder = temporaryFolders();
const identities = (sha: string) => [{ name: "mine.js", sha256: sha.repeat(64) }];
const loaded = (server: string, generator: string) =>
  ({
    plugins: identities(generator),
    consumers: [
      { id: "server-1", plugins: identities("a") },
      { id: "server-2", plugins: identities(server) },
    ],
  }) as unknown as MeasuredResult;

test("--plugin is repeatable and wins over PLUGINS; paths are absolute, each once", () => {
  expect(requestOf().place.plugins).toEqual([]);
  const path = join(newFolder(), "a b.js");
  writeFileSync(path, "");
  const request = requestOf("--plugin", path, "--plugin", "package.json", "--plugin", path);
  expect(request.place.plugins).toEqual([path, join(process.cwd(), "package.json")]);
  // As the manifest keeps it: a campaign can be repeated from anywhere.
  expect(request.record.settings.plugin).toBe(JSON.stringify(request.place.plugins));
  expect(requestOf("--plugin", request.record.settings.plugin ?? "").place.plugins).toEqual(
    request.place.plugins,
  );
  expect(parseSingle({ PLUGINS: JSON.stringify([path]) }).place.plugins).toEqual([path]);
});

test("a plugin that cannot be loaded is bad usage before anything is started", async () => {
  await expectFailure(
    () => requestOf("--plugin", "/no/such.js"),
    EXIT.usage,
    "--plugin",
    "/no/such.js",
  );
  await expectFailure(() => registerPlugins(["/no/such.js"]), EXIT.usage, "/no/such.js");
  await expectFailure(() => registerPlugins(["/a\nb.js"]), EXIT.usage, "one line");
});

test("a trace and its fields are in the plan's sources and notices, its keys in nothing that is kept", async () => {
  const log = join(newFolder(), "access.log");
  writeFileSync(log, "2025-10-10T12:00:00Z,10.0.0.1\n2025-10-10T12:00:05Z,10.0.0.2\n");
  const request = requestOf("--trace", log, "--clients", "none", "--runtime", "local");
  expect(request.notices.join()).not.toContain("10.0.0.1");
  if (!request.load.trace) throw new Error("the request has no trace");
  const example = traceExampleText(request.load.trace);
  for (const part of ["line 1 ", '"10.0.0.1"', "2025-10-10T12:00:00.000Z", "2 keys", "5 s"])
    expect(example).toContain(part);

  const plan = withSources(
    planOf("--clients", "none"),
    await registerPlugins(request.place.plugins, request.load.trace),
  );
  expect(plan.sources?.join()).toContain("2 keys");
  expect(plan.sources?.join()).not.toContain("10.0.0.1");
  expect(plan.notes.join()).not.toContain("trace");
});

test("--key and --trace-zone need a trace", async () => {
  await expectFailure(() => requestOf("--key", "user"), EXIT.usage, "--key", "--trace");
  await expectFailure(() => requestOf("--trace-zone", "UTC"), EXIT.usage, "--trace-zone");
});

test("a plugin that changed since the campaign started fails the run, and is named", () => {
  expect(() => checkPlugins(identities("a"), loaded("a", "a"))).not.toThrow();
  expect(() => checkPlugins([], { consumers: [] } as unknown as MeasuredResult)).not.toThrow();
  expect(() => checkPlugins(identities("a"), loaded("b", "a"))).toThrow("mine.js has changed");
  expect(() => checkPlugins(identities("a"), loaded("b", "a"))).toThrow(
    expect.objectContaining({ role: "server-2" }),
  );
  expect(() => checkPlugins(identities("a"), loaded("a", "b"))).toThrow(
    expect.objectContaining({ role: "generator-1" }),
  );
});

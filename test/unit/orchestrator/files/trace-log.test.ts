import { spawnSync } from "node:child_process";
import { closeSync, mkdtempSync, openSync, rmSync, writeFileSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { EXIT } from "../../../../src/contract/errors.js";
import { readTrace } from "../../../../src/orchestrator/files/trace-log.js";
import { decodeTrace, encodeTrace } from "../../../../src/traffic/trace.js";
import { expectFailure } from "../../../helpers/errors.js";
import { writeAccessLog } from "../../../helpers/trace-logs.js";

const folder = mkdtempSync(join(tmpdir(), "trace-log-"));
afterAll(() => rmSync(folder, { recursive: true }));

function written(content: string | Buffer): string {
  const path = join(folder, "a log");
  writeFileSync(path, content);
  return path;
}
const read = (...lines: string[]) => readTrace(written(`${lines.join("\n")}\n`));
const combined = (address: string, time: string) =>
  `${address} - bob [${time}] "GET / HTTP/1.1" 200 5 "-" "curl"`;

describe("a trace is read by its content", () => {
  const forms: Record<string, string[]> = {
    "CSV without a header": ["1760000000.5,a", "1760000001,b", "1760000002.5,a"],
    "CSV with a header in another order": [
      'key,"time",cost',
      '"a",1760000000500,1',
      "b,1760000001000,1",
      "a,1760000002500,1",
    ],
    "JSON lines": [
      '{"time":"2025-10-09T08:53:20.500Z","key":"a"}',
      '{"time":"2025-10-09T08:53:21Z","key":"b"}',
      '{"time":"2025-10-09T10:53:22.5+02:00","key":"a","cost":1}',
    ],
    "an access log in JSON": [
      '{"ts":1760000000.5,"request":{"remote_ip":"a"}}',
      '{"ts":1760000001,"request":{"remote_ip":"b"}}',
      '{"ts":1760000002.5,"request":{"remote_ip":"a"}}',
    ],
  };
  test.each(Object.entries(forms))("%s", (_form, lines) => {
    const { facts, times_ms, keys, cost } = read(...lines);
    expect([...times_ms]).toEqual([0, 500, 2000]);
    expect([...keys]).toEqual([0, 1, 0]);
    expect(facts).toMatchObject({ lines: 3, keys: 2, span_s: 2, top_shares: { top_1: 2 / 3, top_10: 1 } });
    expect(cost).toEqual({ least: 1, most: 1 });
  });

  test("a combined access log, whose requests of a second are spread over it", () => {
    const { times_ms, keys } = read(
      combined("::1", "10/Oct/2025:13:55:36 +0000"),
      combined("10.0.0.1", "10/Oct/2025:13:55:36 +0000"),
      combined("::1", "10/Oct/2025:15:55:37 +0200"),
    );
    expect([...times_ms]).toEqual([0, 500, 1000]);
    expect([...keys]).toEqual([0, 1, 0]);
  });

  test("costs are told, and a small disorder is sorted", () => {
    const { times_ms, keys, cost } = read("10,a,3", "12,b,1", "10.5,c,7");
    expect([...times_ms]).toEqual([0, 500, 2000]);
    expect([...keys]).toEqual([0, 2, 1]);
    expect(cost).toEqual({ least: 1, most: 7 });
  });

  test("the file of a run holds no key, and is the same for the same log", () => {
    const trace = read("1,alice@example.com", "2,bob@example.com");
    const bytes = encodeTrace(trace);
    expect(bytes.includes("example.com")).toBe(false);
    expect(encodeTrace(read("1,alice@example.com", "2,bob@example.com"))).toEqual(bytes);
    const { facts, times_ms, keys } = trace;
    expect(decodeTrace(bytes)).toEqual({ facts, times_ms, keys });
    expect(() => decodeTrace(bytes.subarray(0, -1))).toThrow();
  });
});

describe("a hostile file is refused in one line that names the line", () => {
  const good = Array.from({ length: 200 }, (_, n) => `${n},key-${n % 7}`);
  const refusals: Record<string, [string | Buffer, string]> = {
    "nothing in it": ["", "no requests"],
    "another form": ["hello\nworld\n", "line 1"],
    "binary from the start": [Buffer.from([0x7f, 0x45, 0x4c, 0x46, 0, 1, 10, 0]), "line 1"],
    "zeros without an end": [Buffer.alloc(1_000_000), "line 1 is not text"],
    gzip: [Buffer.from("1f8b0800000000000003", "hex"), "line 1"],
    "binary later": [`${good.join("\n")}\n\0\0\n`, "line 201"],
    "times that run backwards": [[...good, "100,key-1"].join("\n"), "line 201"],
    "many lines without a time": [[...good, "x,y", "x,y", "x,y"].join("\n"), "line 201"],
    "a cost that is none": [["1,a,1", "2,a,-1", "3,a,x"].join("\n"), "line 2"],
    "more keys than a run can prepare": [
      Array.from({ length: 1_000_001 }, (_, n) => `${n},${n}`).join("\n"),
      "1000000 keys",
    ],
    "a line that is too long": [[...good, `201,${"k".repeat(64 * 1024)}`].join("\n"), "line 201"],
  };
  test.each(Object.entries(refusals))("%s", async (_name, [content, place]) => {
    await expectFailure(() => readTrace(written(content)), EXIT.usage, "--trace", place);
  });

  test("no file, a folder, a file that never ends", async () => {
    for (const path of [join(folder, "none"), folder, "/dev/zero"])
      await expectFailure(() => readTrace(path), EXIT.usage);
  });

  test("a line of 100 MB is refused before it is read", async () => {
    const path = join(folder, "long");
    const file = openSync(path, "w");
    writeSync(file, "1,a\n2,");
    const part = Buffer.alloc(1024 ** 2, 0x61);
    for (let written = 0; written < 100; written++) writeSync(file, part);
    closeSync(file);
    const before = process.resourceUsage().maxRSS;
    await expectFailure(() => readTrace(path), EXIT.usage, "line 2 ");
    expect(process.resourceUsage().maxRSS - before).toBeLessThan(50 * 1024);
  });
});

test("a million lines take 300 MB at most, and are all counted", () => {
  const path = join(folder, "million.log");
  writeAccessLog(path, 1_000_000);
  const code = `
    const { readFileSync } = await import("node:fs");
    const { readTrace } = await import(${JSON.stringify(join(process.cwd(), "src/orchestrator/files/trace-log.ts"))});
    const cpuOf = (work) => {
      const before = process.cpuUsage();
      const value = work();
      const { user, system } = process.cpuUsage(before);
      return [value, user + system];
    };
    const [{ facts }, cpu] = cpuOf(() => readTrace(process.argv[1]));
    const peak_kb = process.resourceUsage().maxRSS;
    const [, split] = cpuOf(() => readFileSync(process.argv[1], "latin1").split("\\n").map((line) => /.*?\\[(.*?)\\]/.exec(line)));
    console.log(JSON.stringify({ facts, peak_kb, times_splitting: cpu / split }));`;
  const { stdout, stderr } = spawnSync(
    process.execPath,
    ["--import", "tsx", "--input-type=module", "-e", code, path],
    { encoding: "utf8" },
  );
  expect(stderr).toBe("");
  const { facts, peak_kb, times_splitting } = JSON.parse(stdout);
  expect(facts).toMatchObject({ lines: 1_000_000, span_s: expect.closeTo(3600, 0) });
  expect(facts.keys).toBeGreaterThan(50_000);
  expect(facts.top_shares.top_100).toBeGreaterThan(facts.top_shares.top_1);
  expect(peak_kb).toBeLessThan(300 * 1024);
  // About 2 of what it takes to find the time in each line.
  expect(times_splitting).toBeLessThan(8);
});

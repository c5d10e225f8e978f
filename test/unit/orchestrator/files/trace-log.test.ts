import { spawnSync } from "node:child_process";
import { closeSync, mkdtempSync, openSync, rmSync, writeFileSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { EXIT } from "../../../../src/kit/errors.js";
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
const textOf = (lines: readonly string[]) => `${lines.join("\n")}\n`;
const read = (...lines: string[]) => readTrace(written(textOf(lines)));
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
    const { summary, times_ms, keys, cost } = read(...lines);
    expect([...times_ms]).toEqual([0, 500, 2000]);
    expect([...keys]).toEqual([0, 1, 0]);
    expect(summary).toMatchObject({
      lines: 3,
      keys: 2,
      span_s: 2,
      top_shares: { top_1: 2 / 3, top_10: 1 },
    });
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
    const { summary, times_ms, keys } = trace;
    expect(decodeTrace(bytes)).toEqual({ summary, times_ms, keys });
    expect(() => decodeTrace(bytes.subarray(0, -1))).toThrow();
  });
});

const request = '"GET / HTTP/1.1" 200 5 "-" "curl"';
const logged = (before: string) => `${before} - - [10/Oct/2025:13:55:36 +0000] ${request}`;
const NOON_MS = Date.UTC(2025, 9, 10, 12);
const NOON = "2025-10-10T12:00:00Z";

describe("the key of a line is found, and told with its time", () => {
  const keys: Record<string, [lines: string[], key: string]> = {
    "Apache's name of a virtual host": [[logged("example.com:443 10.0.0.1")], "10.0.0.1"],
    "an address with its port": [[logged("10.0.0.1:5123")], "10.0.0.1"],
    "an address of version 6 with its port": [[logged("[2001:db8::1]:5123")], "2001:db8::1"],
    "an address of version 6": [[logged("2001:db8::1")], "2001:db8::1"],
    "a name in place of the address": [[logged("client.example.com")], "client.example.com"],
    "a user's name with a space": [
      [`10.0.0.1 - John Smith [10/Oct/2025:13:55:36 +0000] ${request}`],
      "10.0.0.1",
    ],
    syslog: [[logged("Oct 10 13:55:36 10.9.9.9 nginx[12]: 10.0.0.1")], "10.0.0.1"],
    "syslog of RFC 5424": [
      [logged("<190>1 2025-10-10T13:55:36Z web nginx 12 - - 10.0.0.1")],
      "10.0.0.1",
    ],
    kubernetes: [[logged(`${NOON} stdout F 10.0.0.1`)], "10.0.0.1"],
    "docker compose": [[logged("web-1  | 10.0.0.1")], "10.0.0.1"],
    "JSON behind a prefix": [[`web-1  | ${NOON} {"time":"${NOON}","user":"ann"}`], "ann"],
    "Docker's own JSON": [
      [JSON.stringify({ log: `${logged("10.0.0.1")}\n`, stream: "stdout", time: NOON })],
      "10.0.0.1",
    ],
    "Caddy's JSON": [
      [
        '{"level":"info","ts":1760097600.5,"msg":"handled request","request":{"remote_ip":"10.0.0.1","remote_port":"5123"},"user_id":""}',
      ],
      "10.0.0.1",
    ],
    "a user that is not known": [[`{"time":"${NOON}","user":"-","ip":"10.0.0.1"}`], "10.0.0.1"],
    "semicolons and a decimal comma": [["1760097600,5;ann"], "ann"],
    "tabs below a header": [["Time\tUser", "1760097600.5\tann"], "ann"],
    "a key that looks like a date to JavaScript": [[`server 1,ann,${NOON}`], ""],
  };
  test.each(Object.entries(keys))("%s", (_name, [lines, key]) => {
    if (key === "") expect(() => read(...lines)).toThrow("no known form");
    else expect(read(...lines).example).toMatchObject({ key, line_number: lines.length });
  });

  const times = [
    "1760097600",
    "1760097600000",
    "1760097600000000",
    "1760097600000000000",
    "1760097600,0",
  ];
  const texts = [
    NOON,
    "2025-10-10 14:00:00,000+02:00",
    "2025/10/10 12:00:00",
    "Fri, 10 Oct 2025 12:00:00 GMT",
  ];
  test.each([...times, ...texts])("%s is a time", (time) => {
    expect(read(`{"ts":"${time}","key":"a"}`).example.time_utc).toBe(
      new Date(NOON_MS).toISOString(),
    );
  });

  test.each(["server 1", "2025-13-01 12:00:00", "May", "2025-10-10"])(
    "%s is no time",
    async (text) => {
      await expectFailure(() => read(`{"ts":"${text}","key":"a"}`), EXIT.usage, "line 1");
    },
  );

  test("a time without a zone is in UTC, unless the user names another", async () => {
    const path = written(textOf(["2025-10-10 12:00:00,ann"]));
    const hour = (zone?: string) => readTrace(path, { zone }).example.time_utc.slice(11, 13);
    expect([hour(), hour("+02:00"), hour("Europe/Berlin"), hour("UTC")]).toEqual([
      "12",
      "10",
      "10",
      "12",
    ]);
    await expectFailure(() => readTrace(path, { zone: "Mars/Base" }), EXIT.usage, "--trace-zone");

    const zoned = written(textOf([`${NOON},ann`]));
    await expectFailure(() => readTrace(zoned, { zone: "+02:00" }), EXIT.usage, "--trace-zone");
  });

  test("zeros before the lines of a log that was truncated are left out, and counted", () => {
    const { summary, zero_bytes } = readTrace(
      written(Buffer.concat([Buffer.alloc(3_000_000), Buffer.from(textOf(["1,a", "2,b"]))])),
    );
    expect(summary.lines).toBe(2);
    expect(zero_bytes).toBe(3_000_000);
  });

  test.each([20, 100_000])(
    "%i zeros in the middle of a line end it: what follows them is the next one",
    (size) => {
      const lines = Array.from({ length: 200 }, (_, index) => `${index},a`);
      const before = Buffer.from(`${textOf(lines)}200,a\n20`);
      const after = Buffer.from("201,b\n202,b\n");
      const zeros = Buffer.alloc(size);
      const { summary, left_out, zero_bytes } = readTrace(
        written(Buffer.concat([before, zeros, after])),
      );
      expect({ lines: summary.lines, left_out, zero_bytes }).toEqual({
        lines: 203,
        left_out: 1,
        zero_bytes: size,
      });
    },
  );
});

describe("a file that can be read in several ways is refused until --key says which field it is", () => {
  const anonymous = [
    `{"time":"${NOON}","user":"ann","ip":"10.0.0.1"}`,
    `{"time":"${NOON}","user":"-","ip":"10.0.0.2"}`,
  ];
  const ambiguous: Record<string, [lines: string[], key: string, found: string]> = {
    "a user in some lines alone": [anonymous, "ip", "10.0.0.1"],
    "an unknown name": [[`{"time":"${NOON}","tenant":{"id":"ann"}}`], "tenant.id", "ann"],
    "a name that servers use for client and site": [
      [`{"time":"${NOON}","host":"ann"}`],
      "host",
      "ann",
    ],
    "two addresses": [[logged("10.0.0.9 10.0.0.1")], "2", "10.0.0.1"],
    "four columns without names": [["1760097600,10.0.0.1,200,512"], "2", "10.0.0.1"],
    "another column": [["time;who;path", "1760097600;ann;/"], "who", "ann"],
  };
  test.each(Object.entries(ambiguous))("%s", async (_name, [lines, key, found]) => {
    const path = written(textOf(lines));
    await expectFailure(() => readTrace(path), EXIT.usage, "--key");
    expect(readTrace(path, { keys: [key] }).example).toMatchObject({ key: found, keys: [key] });
  });

  test("of several fields each line has the first with a value", () => {
    const { summary } = readTrace(written(textOf(anonymous)), { keys: ["user", "ip"] });
    expect(summary).toMatchObject({ lines: 2, keys: 2 });
  });

  test("a field that no line has is refused with the fields that there are", async () => {
    await expectFailure(
      () => readTrace(written(textOf(anonymous)), { keys: ["usr"] }),
      EXIT.usage,
      "--key",
      '"user"',
    );
  });
});

describe("a hostile file is refused in one line that names the line", () => {
  const good = Array.from({ length: 200 }, (_, n) => `${n},key-${n % 7}`);
  const refusals: Record<string, [string | Buffer, string]> = {
    "nothing in it": ["", "no requests"],
    "another form": ["hello\nworld\n", "line 1"],
    "binary from the start": [Buffer.from([0x7f, 0x45, 0x4c, 0x46, 0, 1, 10, 0]), "line 1"],
    "nothing but zeros": [Buffer.alloc(1_000_000), "no requests"],
    gzip: [Buffer.from("1f8b0800000000000003", "hex"), "line 1"],
    "binary later": [`${good.join("\n")}\n1\0a\n`, "line 201"],
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
    const [{ summary }, cpu] = cpuOf(() => readTrace(process.argv[1]));
    const peak_kb = process.resourceUsage().maxRSS;
    const [, split] = cpuOf(() => readFileSync(process.argv[1], "latin1").split("\\n").map((line) => /.*?\\[(.*?)\\]/.exec(line)));
    console.log(JSON.stringify({ summary, peak_kb, times_splitting: cpu / split }));`;
  const { stdout, stderr } = spawnSync(
    process.execPath,
    ["--import", "tsx", "--input-type=module", "-e", code, path],
    { encoding: "utf8" },
  );
  expect(stderr).toBe("");
  const { summary, peak_kb, times_splitting } = JSON.parse(stdout);
  expect(summary).toMatchObject({ lines: 1_000_000, span_s: expect.closeTo(3600, 0) });
  expect(summary.keys).toBeGreaterThan(50_000);
  expect(summary.top_shares.top_100).toBeGreaterThan(summary.top_shares.top_1);
  expect(peak_kb).toBeLessThan(300 * 1024);
  // About 2 of what it takes to find the time in each line.
  expect(times_splitting).toBeLessThan(8);
});

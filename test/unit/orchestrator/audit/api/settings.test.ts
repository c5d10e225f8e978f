import { Command } from "commander";
import { describe, expect, test } from "vitest";
import { EXIT } from "../../../../../src/kit/errors.js";
import { apiPlan, apiPlanLines } from "../../../../../src/orchestrator/audit/api/api-plan.js";
import {
  type ApiSettings,
  shownUrl,
} from "../../../../../src/orchestrator/audit/api/api-settings.js";
import { apiChecks } from "../../../../../src/orchestrator/audit/api/checks/index.js";
import { likelyWindow } from "../../../../../src/orchestrator/audit/api/find-quota.js";
import { parseKeyCarrier } from "../../../../../src/orchestrator/audit/api/key-carrier.js";
import { limitsOf, parseQuota } from "../../../../../src/orchestrator/audit/api/quota.js";
import {
  addApiFlags,
  apiSettingsOf,
  withoutCredentials,
} from "../../../../../src/orchestrator/commands/audit-url-flags.js";
import { expectFailure } from "../../../../helpers/errors.js";

const URL_TEXT = "http://127.0.0.1:3000/api/items";

function settingsOf(...flags: string[]): ApiSettings {
  const command = addApiFlags(new Command()).parse(flags, { from: "user" });
  return apiSettingsOf(command, command.getOptionValue("url") ?? URL_TEXT);
}

describe("a quota", () => {
  test.each([
    ["100/60s", 100, 60],
    ["5/s", 5, 1],
    ["1000/h", 1000, 3600],
    ["3/500ms", 3, 0.5],
  ])("%s", (text, points, window_s) => {
    expect(parseQuota("--quota", text)).toEqual({ points, window_s });
  });

  test.each(["", "100", "0/60s", "100/60", "-1/s", "1e3/s"])("is not %j", async (text) => {
    await expectFailure(() => parseQuota("--quota", text), EXIT.usage, "100/60s");
  });

  test("of a limiter with a smaller burst is that of a bucket of this size", () => {
    expect(limitsOf({ points: 600, window_s: 60 }, 5)).toMatchObject({ points: 5, window_s: 0.5 });
  });

  test.each([
    [59.2, 60],
    [61.9, 60],
    [2.03, 2],
    [0.98, 1],
    [14.7, 15],
    [0.31, 0.3],
  ])("whose window took %s s has one of %s s", (measured, likely) => {
    expect(likelyWindow(measured)).toBe(likely);
  });
});

describe("a key", () => {
  const parts = { method: "GET", path: "/items?page=1", headers: { cookie: "a=b" } };
  const put = (text: string, key: string) => parseKeyCarrier(text, false).put(parts, key);

  test("goes into the header, query or cookie that names it", () => {
    expect(put("header:X-Api-Key", "ké").headers["x-api-key"]).toBe("k\u00c3\u00a9");
    expect(put("query:userId", "a b&c").path).toBe("/items?page=1&userId=a%20b%26c");
    expect(put("cookie:sid", "k").headers.cookie).toBe("a=b; sid=k");
    expect(put("forwarded-for", "198.18.0.1").headers["x-forwarded-for"]).toBe("198.18.0.1");
  });

  test.each(["header", "header:", "heder:X", "query:", "cookie:a b", "header:X\nY", ""])(
    "is refused in %j",
    async (text) => {
      await expectFailure(() => parseKeyCarrier(text, false), EXIT.usage, "header:NAME");
    },
  );

  test("is only sent where its carrier can hold it", () => {
    const holds = (text: string, key: string) => parseKeyCarrier(text, false).canHold(key);
    expect(holds("header:X", "a\nb")).toBe(false);
    expect(holds("header:X", "")).toBe(true);
    expect(holds("cookie:sid", "é")).toBe(false);
    expect(holds("query:id", "a\0b")).toBe(true);
  });

  test("that is an address is another for each client where the API is on loopback", () => {
    const carrier = parseKeyCarrier("address", true);
    const keys = Array.from({ length: 600 }, (_, number) => carrier.freshKey(number, "00abcdef"));
    expect(new Set(keys).size).toBe(keys.length);
    expect(keys.every((key) => key.startsWith("127."))).toBe(true);
    expect(parseKeyCarrier("address", false).hasOneKey).toBe(true);
  });
});

describe("the flags", () => {
  test.each<[flags: string[], words: string]>([
    [["--url", "ftp://a"], "--url"],
    [["--url", "http://user:secret@127.0.0.1/"], "--header"],
    [["--header", "no colon"], "--header"],
    [["--denied", "200"], "--denied"],
    [["--method", "get"], "--method"],
    [["--body", "/no/such/file"], "--body"],
    [["--ca", "/no/such/file"], "--ca"],
    [["--also", "items"], "--also"],
    [["--instance", "127.0.0.1:1"], "--instance"],
    [["--algorithm", "fixed-window", "--burst", "3"], "--burst"],
    [["--requests-per-minute", "0"], "--requests-per-minute"],
    [["--max-requests", "1.5"], "--max-requests"],
  ])("%j are refused", async (flags, words) => {
    await expectFailure(() => settingsOf(...flags), EXIT.usage, words);
  });

  test("take another path with its quota, and several instances", () => {
    const flags = "--also /v2 --also /login=5/60s --instance http://127.0.0.1:3001";
    const { otherPaths, instances } = settingsOf(...flags.split(" "));
    expect(otherPaths).toEqual([
      { path: "/v2" },
      { path: "/login", quota: { points: 5, window_s: 60 } },
    ]);
    expect(instances.map(({ port }) => port)).toEqual(["3001"]);
  });

  test("leave no credentials in the command and the address that are written", () => {
    const url = "http://127.0.0.1/items?token=secret";
    const argv = ["--url", url, "--header", "Authorization: secret", "--header=Cookie: secret"];
    expect(withoutCredentials(argv).join(" ")).not.toContain("secret");
    expect(shownUrl(new URL(url))).toBe("http://127.0.0.1/items?token=…");
  });
});

describe("the plan", () => {
  test("names requests, time and caps", () => {
    const settings = settingsOf("--quota", "100/60s", "--key", "header:X-Api-Key");
    const lines = apiPlanLines(
      settings,
      apiPlan(settings, { points: 100, window_s: 60 }, apiChecks),
    );
    expect(lines.join("\n")).toMatch(/about [\d,]+ requests in [4-9] min/);
    expect(lines.join("\n")).toContain("2,000 in a minute, 10,000 in all");
  });

  test("refuses a quota that needs more requests than allowed, with their number", async () => {
    const settings = settingsOf("--max-requests", "3000");
    const quota = { points: 1000, window_s: 1 };
    const { requests } = apiPlan({ ...settings, maxRequests: 1e9 }, quota, apiChecks);
    await expectFailure(() => apiPlan(settings, quota, apiChecks), EXIT.usage, `give ${requests}`);
  });

  test("takes longer where all requests have one key, which must come back for each check", () => {
    const quota = { points: 5, window_s: 10 };
    const secondsOf = (url: string) => apiPlan(settingsOf("--url", url), quota, apiChecks).seconds;
    expect(secondsOf("http://localhost/")).toBeGreaterThan(3 * secondsOf("http://127.0.0.1/"));
  });
});

import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { BenchError, EXIT } from "../../../../src/kit/errors.js";
import { makePlan } from "../../../../src/orchestrator/plan/make-plan.js";
import { parseSingle } from "../../../../src/orchestrator/request/original.js";
import { parseCampaign } from "../../../../src/orchestrator/request/parse-request.js";
import type { Request } from "../../../../src/orchestrator/request/request.js";
import { FILE_SETTINGS, SETTINGS } from "../../../../src/orchestrator/request/settings.js";
import { runtimeIds } from "../../../../src/runtimes/index.js";
import { temporaryFolders } from "../../../helpers/folders.js";
import { everything } from "../../../helpers/request.js";

const newFolder = temporaryFolders();

const HOSTILE = {
  "a command in it": "$(touch x)",
  "a second command": ";rm -rf x",
  "a path out of its place": "../../no-such-place",
  "a newline": "3\n4",
  "a NUL": "3\0",
  "300 characters": "9".repeat(300),
  "a leading dash": "-rf",
  "a page's markup": "<img onerror=x>",
} as const;
type Hostile = keyof typeof HOSTILE;

/**
 * Any text without control characters is a path that there may be: it is data, and goes nowhere but
 * to the system.
 */
const PATHS = ["output", "valkey-server", "redis-server", "store-ca", "config"];
const isPath = (key: string, text: string): boolean => PATHS.includes(key) && !/[\n\0]/.test(text);

/** Linters that run beside make the folders of their caches here. */
const entries = () => readdirSync(process.cwd()).filter((name) => !/^\.\w+_cache$/.test(name));
let before: string[];
beforeEach(() => {
  before = entries();
});

/** Reads it, and plans it, as a campaign does before anything is looked for. */
function planned(read: () => Request | undefined): Request {
  const request = read();
  if (!request) throw new Error("help was asked for");
  makePlan(request, everything);
  // The rest of what the CLI does before it starts anything.
  const known = ["auto", ...runtimeIds];
  if (!known.includes(request.place.runtime))
    throw new BenchError(request.place.runtime, EXIT.usage);
  return request;
}

/** Bad usage in one line, without any effect; a path may also be taken, as it stands. */
function expectHarmless(key: string, text: string, read: () => Request | undefined): void {
  let failure: unknown;
  let request: Request | undefined;
  try {
    request = planned(read);
  } catch (error) {
    failure = error;
  }
  if (isPath(key, text) && request)
    expect(JSON.stringify(request)).toContain(JSON.stringify(text).slice(1, -1));
  else {
    expect(failure, `${key} took ${JSON.stringify(text.slice(0, 40))}`).toBeInstanceOf(BenchError);
    expect(failure).toMatchObject({ exitCode: EXIT.usage });
    expect((failure as Error).message).not.toMatch(/[\n\0]/);
    expect((failure as Error).message.length).toBeLessThan(1_500);
  }
  expect(entries()).toEqual(before);
}

const named = Object.keys(HOSTILE) as Hostile[];

describe.each(named)("%s is refused or plain data, and has no effect [R-hostile-1],", (what) => {
  const text = HOSTILE[what];

  test.each(SETTINGS.filter(({ value }) => value).map(({ key }) => key))("in --%s", (key) => {
    const clients = key === "clients" ? [] : ["--clients", "none"];
    expectHarmless(key, text, () => parseCampaign([...clients, `--${key}`, text], {}));
  });

  test.each(SETTINGS.flatMap(({ key, variable }) => (variable ? [[variable, key] as const] : [])))(
    "in %s",
    (variable, key) => {
      expectHarmless(key, text, () => parseCampaign(["--clients", "none"], { [variable]: text }));
    },
  );

  test.each([
    "RATE_LIMITER_TYPE",
    "USE_VALKEY_CLUSTER",
    "USE_REDIS_CLUSTER",
    "STORE",
    "REQUEST_TYPE",
    "DURATION",
    "CONNECTIONS",
    "COMPUTATION_COMPLEXITY",
    "RUNS",
    "WARMUP",
    "COOLDOWN",
    "TRAFFIC",
    "RUNTIME",
    "SEED",
    "WORKERS",
    "OUTPUT_DIR",
    "OUTPUT_FILE",
  ])("in %s of a single run", (variable) => {
    const key = variable.startsWith("OUTPUT_") ? "output" : variable;
    expectHarmless(key, text, () => parseSingle({ RATE_LIMITER_TYPE: "none", [variable]: text }));
  });

  test.each(FILE_SETTINGS.filter(({ value }) => value).map(({ key }) => key))(
    "as %s in a file",
    (key) => {
      const path = join(newFolder(), "campaign.yaml");
      writeFileSync(path, JSON.stringify({ clients: "none", [key]: text }));
      expectHarmless(key, text, () => parseCampaign(["--config", path], {}));
    },
  );
});

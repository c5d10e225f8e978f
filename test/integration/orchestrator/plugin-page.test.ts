import { execFile, execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { delimiter, join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { describe, expect, onTestFinished, test } from "vitest";
import { manifestSchema } from "../../../src/contract/manifest.js";
import { type MeasuredResult, measuredResultSchema } from "../../../src/contract/result.js";
import { EXIT } from "../../../src/kit/errors.js";
import { Campaign } from "../../helpers/campaign.js";
import { expectReconciled } from "../../helpers/expectations.js";
import { temporaryFolders } from "../../helpers/folders.js";
import { ownInvalidity } from "../../helpers/measured-campaign.js";
import { pluginPage, savePage } from "../../helpers/plugin-page.js";
import { type Ended, isSetUp, ROOT } from "../../helpers/programs.js";
import { storeProgram } from "../../helpers/store.js";

const newFolder = temporaryFolders();

/**
 * A shell of a user who has installed the package: its command is on the PATH, and nothing else of
 * it.
 */
function shell(command: string, folder: string, home: string): Promise<Ended> {
  const bin = join(home, "bin");
  mkdirSync(bin, { recursive: true });
  const cli = join(ROOT, "dist/orchestrator/cli.js");
  writeFileSync(join(bin, "ratelimit-bench"), `#!/bin/sh\nexec node '${cli}' "$@"\n`, {
    mode: 0o755,
  });
  const PATH = `${bin}${delimiter}${process.env.PATH}`;
  const env = { PATH, HOME: home, XDG_STATE_HOME: join(home, "state"), RATELIMIT_BENCH: ROOT };
  return new Promise((resolve) => {
    const parameters = ["-euo", "pipefail", "-c", command];
    const child = execFile("bash", parameters, { cwd: folder, env }, (error, stdout, stderr) =>
      resolve({ code: error ? Number(error.code) : 0, stdout, stderr }),
    );
    onTestFinished(() => void child.kill());
  });
}

const PLUGINS = ["my-ioredis.js", "my-client.js", "my-limiter.js", "my-traffic.js", "my-store.js"];

const sha256 = (path: string) => createHash("sha256").update(readFileSync(path)).digest("hex");

describe("docs/extending.md, followed literally in an empty folder", () => {
  const { files, commands } = pluginPage();
  const measure = commands.find((command) => command.startsWith("ratelimit-bench run")) ?? "";
  const check = commands.find((command) => command.includes("test:plugin")) ?? "";

  test("has nothing that is not tried here", () => {
    expect(files.map(({ name }) => name)).toEqual(PLUGINS);
    const { version } = createRequire(import.meta.url)("ioredis/package.json");
    expect(commands).toEqual([`npm install ioredis@${version}\n`, measure, check]);
    expect(measure).not.toBe(check);
  });

  test("its campaign is valid and reconciles, and says which bytes were measured", async () => {
    const home = newFolder();
    const folder = newFolder();
    const paths = savePage(folder);
    // What `npm install` would have put there.
    mkdirSync(join(folder, "node_modules"));
    symlinkSync(join(ROOT, "node_modules/ioredis"), join(folder, "node_modules/ioredis"));
    // Where an engine answers, the page's command takes it; that is another test's, in
    // test/containers.
    const { code, stderr, stdout } = await shell(
      measure
        .replace("ratelimit-bench run", "ratelimit-bench run --runtime local")
        .replace("custom:2 --warmup 1", "custom:1 --warmup 0.2"),
      folder,
      home,
    );
    expect([EXIT.done, EXIT.runsInvalid], stderr + stdout).toContain(code);
    const latest = join(folder, "results", "latest");
    const read = (name: string) => JSON.parse(readFileSync(join(latest, name), "utf8"));
    const plugins = PLUGINS.map((name, index) => ({ name, sha256: sha256(paths[index] ?? "") }));
    const manifest = manifestSchema.parse(read("manifest.json"));
    expect(manifest.plugins).toEqual(plugins);
    expect(
      manifest.plan.sources?.filter((source) => source.startsWith("from the plugin")),
    ).toHaveLength(PLUGINS.length);
    const results = readdirSync(latest)
      .filter((name) => /_run1\.json$/.test(name))
      .map((name): MeasuredResult => measuredResultSchema.parse(read(name)));
    expect(results.map(({ configuration }) => configuration?.target.label).sort()).toEqual([
      "ioredis@my-store",
      "ioredis@valkey",
      "ioredis@valkey+my-limiter",
      "my-client",
      "my-ioredis",
    ]);
    for (const result of results) {
      expect(ownInvalidity(result)).toEqual([]);
      expectReconciled(result);
      expect(result.prediction).toMatchObject({ limited_share: 0.25, basis: "traffic" });
      expect(result.plugins).toEqual(plugins);
      expect(result.consumers.map((consumer) => consumer.plugins)).toEqual([plugins]);
      // The plugin's store gives all the evidence that its engine can read.
      // So short a round has too few cycles for M26.
      const ofPlugin = {
        rule: "M27",
        text: "no counts of my-limiter (fixed window) are read by key",
      };
      const isOfPlugin = result.configuration?.target.limiter === "my-limiter";
      expect(result.verdict.not_applicable.filter(({ rule }) => rule !== "M26")).toEqual(
        isOfPlugin ? [ofPlugin] : [],
      );
    }
    // One script by two clients on two stores, and that of the plugin's limiter.
    const scripts = new Map(
      results.map(({ configuration, consumers }) => [
        configuration?.target.label,
        consumers[0]?.limiter_script?.name_or_sha1,
      ]),
    );
    const scriptOfPlugin = scripts.get("ioredis@valkey+my-limiter");
    scripts.delete("ioredis@valkey+my-limiter");
    expect(new Set(scripts.values()).size).toBe(1);
    expect([...scripts.values()]).not.toContain(scriptOfPlugin);
    const settings = results.find(
      ({ configuration }) => configuration?.target.store === "my-store",
    )?.store;
    expect(settings?.settings["io-threads"]).toBe("2");
    expect(readdirSync(join(latest, "report"))).toContain("index.html");
  });

  /** A client that is refused when it is loaded, and traffic that fails while it is asked. */
  async function expectOwnLines(): Promise<void> {
    const folder = newFolder();
    const asked = (lines: readonly string[]) => {
      writeFileSync(join(folder, "my-client.js"), lines.join("\n"));
      return shell(check, folder, newFolder());
    };
    const loading = await asked(["const a = 1;", "export default { a: nothing.b };"]);
    expect(loading.code).toBe(2);
    expect(loading.stderr).toContain("my-client.js:2:21");

    // Good when it is loaded, and not any more later. Traffic needs no store.
    const asking = await asked([
      "let calls = 0;",
      "const population = () => {",
      '  if (calls++ > 0) throw new Error("broken");',
      '  return { requests: [["a"]], shares: Float64Array.of(1) };',
      "};",
      "const limits = { points: 1, window_s: 1, block_s: 0 };",
      'export default { traffic: [{ id: "odd", summary: "odd", limits, population }] };',
    ]);
    expect(asking.code).toBe(1);
    const lines = stripVTControlCharacters(asking.stdout).split("\n");
    // A promise and what was seen, without the suite's code.
    const promise = lines.findIndex((line) => line.startsWith("DOES NOT HOLD: traffic odd, "));
    expect(promise, asking.stdout).toBeGreaterThanOrEqual(0);
    const seen = lines[promise + 1];
    expect(seen).toMatch(/^ {2}broken, at /);
    expect(seen).toContain(` ${join(folder, "my-client.js")}:3:`);
    expect(lines.some((line) => line.includes("expect("))).toBe(false);
  }

  // On both stores where there is a Redis, and else on Valkey alone, which it says.
  async function expectPasses(): Promise<void> {
    const folder = newFolder();
    savePage(folder);
    const { code, stdout, stderr } = await shell(check, folder, newFolder());
    expect(code, stderr + stdout).toBe(0);
    const plainOutput = stripVTControlCharacters(stdout);
    const {
      passed,
      skipped = 0,
      all,
    } = /Tests +(?<passed>\d+) passed(?: \| (?<skipped>\d+) skipped)? \((?<all>\d+)\)/.exec(
      plainOutput,
    )?.groups ?? {};
    expect(Number(passed) + Number(skipped), stdout).toBe(Number(all));
    expect(Number(passed)).toBeGreaterThanOrEqual(10);
    if (storeProgram("redis")) {
      expect([skipped, stdout.includes("tests are skipped")], stdout).toEqual([0, false]);
    } else {
      expect(Number(skipped)).toBeGreaterThan(0);
    }
  }

  // The suite mostly waits.
  test("its client passes the contract suite, and an error is told with the user's own path and line, while a plugin is loaded and while it is asked", async () => {
    expect(isSetUp()).toBe(true);
    await Promise.all([expectPasses(), expectOwnLines()]);
  });
});

describe("a plugin of one file, wherever it lies", () => {
  const saved = (text: string): string => {
    const path = join(newFolder(), "other.js");
    writeFileSync(path, text);
    return path;
  };

  test("may import what the project has, which its own folder has not", async () => {
    const path = saved(
      'import { Redis } from "ioredis"; import "node:net";\nif (!Redis) throw new Error("none");\nexport const plugin = { options: [{ id: "x", summary: "x", apply: (client) => client }] };\n',
    );
    // The target does not exist: what is wrong with a plugin is said first, and nothing is started.
    const { code, stderr } = await Campaign.run(newFolder(), "nobody", ["--plugin", path]).ended;
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining('"nobody"') });
  });

  test("is refused in one line when it imports another file or a name that is not there, does not parse or throws", () => {
    const refused = [
      ['import "./helper.js";', "./helper.js"],
      ["const a = 1;\nexport default {};;]", "other.js:2:20"],
      ["const a = 1;\n\nexport default a.b.c;", "other.js:3:20"],
      ['import { nothing } from "ioredis";', "other.js:1:10"],
    ] as const;
    // Node itself loads them, as in the programs.
    const load = `const { loadPlugins } = await import("${join(ROOT, "dist/plugins/load.js")}");
for (const path of process.argv.slice(1))
  await loadPlugins([path]).catch(({ exitCode, message }) => console.log(exitCode, message));`;
    const paths = refused.map(([text]) => saved(text));
    const output = execFileSync(process.execPath, ["--input-type=module", "-e", load, ...paths], {
      encoding: "utf8",
    });
    const lines = output.trimEnd().split("\n");
    expect(lines).toHaveLength(refused.length);
    for (const [n, [, said]] of refused.entries()) {
      expect(lines[n]).toMatch(/^2 [^\n]*other\.js/);
      expect(lines[n]).toContain(said);
    }
  });
});

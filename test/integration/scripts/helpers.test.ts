import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { temporaryFolders } from "../../helpers/folders.js";
import { ROOT } from "../../helpers/programs.js";

const newFolder = temporaryFolders();
const TOOLS = [
  ...[
    "bash",
    "sh",
    "cat",
    "tr",
    "sed",
    "awk",
    "df",
    "getconf",
    "uptime",
    "ls",
    "head",
    "tail",
    "grep",
    "mkdir",
  ],
  ...["chmod", "rm", "id", "timeout", "sysctl", "dirname", "hostname", "cut", "mktemp", "sleep"],
];

/** A PATH with the system's small tools and nothing else but these programs, as shell scripts. */
function pathWith(programs: Readonly<Record<string, string>>): string {
  const folder = newFolder();
  for (const tool of TOOLS) {
    const found = ["/usr/bin", "/bin", "/usr/sbin", "/sbin"].map((each) => join(each, tool)).find(existsSync);
    if (found) symlinkSync(found, join(folder, tool));
  }
  for (const [name, script] of Object.entries(programs)) {
    writeFileSync(join(folder, name), `#!/bin/sh\n${script}\n`);
    chmodSync(join(folder, name), 0o755);
  }
  return folder;
}

function run(script: string, parameters: readonly string[], PATH: string, env = {}) {
  const ended = spawnSync("bash", [join(ROOT, "scripts", script), ...parameters], {
    env: { PATH, HOME: newFolder(), ...env },
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
  });
  return { code: ended.status, stdout: ended.stdout, stderr: ended.stderr };
}

const FIT = { node: "echo v22.1.0", python3: "exit 0" };

describe("check-config.sh", () => {
  const statusOf = (stdout: string, check: string) =>
    JSON.parse(stdout).checks.find((each: { check: string }) => each.check === check)?.status;

  test("without an engine a campaign can start on local processes; --runtime docker cannot", () => {
    const path = pathWith(FIT);
    const auto = run("check-config.sh", ["--json"], path);
    expect(auto.code, auto.stderr).toBe(0);
    expect(JSON.parse(auto.stdout).fit).toBe(true);
    expect(statusOf(auto.stdout, "docker")).toBe("warn");
    const docker = run("check-config.sh", ["--json", "--runtime", "docker"], path);
    expect(docker.code).toBe(3);
    expect(statusOf(docker.stdout, "docker")).toBe("fail");
  });

  test.each([
    ["an engine without permission", { docker: "echo permission denied >&2; exit 1" }, /docker .*usermod/],
    ["an engine that is not running", { docker: "echo cannot connect >&2; exit 1" }, /docker .*start it/],
    ["an old Node.js", { node: "echo v18.0.0" }, /node .*20\.19/],
    [
      "an old Python",
      { python3: 'case $* in *version_info*) exit 1;; esac; echo "Python 3.8"' },
      /python .*3\.11/,
    ],
  ])("%s is named with its mend", (_case, programs, expected) => {
    const { code, stdout } = run(
      "check-config.sh",
      ["--runtime", "docker"],
      pathWith({ ...FIT, ...programs }),
    );
    expect(code).toBe(3);
    expect(stdout).toMatch(expected);
  });

  test("works without Node.js and Python, and its JSON stays JSON", () => {
    const { code, stdout } = run(
      "check-config.sh",
      ["--json"],
      pathWith({ docker: `echo '"\\' >&2; exit 1` }),
    );
    expect(code).toBe(3);
    expect(statusOf(stdout, "node")).toBe("fail");
    expect(statusOf(stdout, "python")).toBe("fail");
  });
});

describe("docker-to-podman.sh", () => {
  test("installs a shim, never over another docker, and removes only its own", () => {
    const path = pathWith({ podman: 'echo "podman got $*"' });
    const folder = join(newFolder(), "bin");
    expect(run("docker-to-podman.sh", ["--install", folder, "--dry-run"], path).code).toBe(0);
    expect(existsSync(folder)).toBe(false);
    expect(run("docker-to-podman.sh", ["--install", folder], path).code).toBe(0);
    const shim = spawnSync(join(folder, "docker"), ["ps", "-a b"], { env: { PATH: path }, encoding: "utf8" });
    expect(shim.stdout.trim()).toBe("podman got ps -a b");
    expect(run("docker-to-podman.sh", ["--uninstall", folder], path).code).toBe(0);
    expect(readdirSync(folder)).toEqual([]);

    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "docker"), "somebody else's");
    for (const action of ["--install", "--uninstall"]) {
      expect(run("docker-to-podman.sh", [action, folder], path).code).toBe(2);
      expect(readdirSync(folder)).toEqual(["docker"]);
    }
  });
});

test("setup-podman.sh says what is missing and installs nothing by itself", () => {
  const { code, stdout } = run("setup-podman.sh", [], pathWith({ "apt-get": "touch $HOME/installed" }));
  expect(code).toBe(3);
  expect(stdout).toMatch(/podman .*apt-get install/);
  const dry = run("setup-podman.sh", ["--install", "--dry-run"], pathWith({ "apt-get": "echo INSTALLED" }));
  expect(dry.stdout).not.toContain("INSTALLED");
});

test.each(["check-config.sh", "fix-network.sh", "setup-podman.sh", "docker-to-podman.sh"])(
  "%s explains itself, and refuses what it does not know",
  (script) => {
    const path = pathWith(FIT);
    const help = run(script, ["--help"], path);
    expect(help.code).toBe(0);
    expect(help.stdout).toContain("--dry-run");
    const bad = run(script, ["--$(touch x)"], path);
    expect(bad.code).toBe(2);
    expect(bad.stderr.trim().split("\n")).toHaveLength(1);
  },
);

test("fix-network.sh without an engine is an environment error", () => {
  expect(run("fix-network.sh", [], pathWith({})).code).toBe(3);
});

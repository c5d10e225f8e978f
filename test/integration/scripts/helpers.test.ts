import { spawnSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { temporaryFolders } from "../../helpers/folders.js";
import { ROOT } from "../../helpers/programs.js";

const newFolder = temporaryFolders();
const TOOLS = (
  "bash sh cat tr sed awk df getconf uptime ls head tail grep mkdir chmod rm id timeout sysctl dirname hostname cut mktemp " +
  "sleep uname ps readlink"
).split(" ");

/** A PATH with the system's small tools and nothing else but these programs, as shell scripts. */
function pathWith(programs: Readonly<Record<string, string>>): string {
  const folder = newFolder();
  for (const tool of TOOLS) {
    const program = ["/usr/bin", "/bin", "/usr/sbin", "/sbin"]
      .map((folderOfPath) => join(folderOfPath, tool))
      .find(existsSync);
    if (program) symlinkSync(program, join(folder, tool));
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
    JSON.parse(stdout).checks.find((candidate: { check: string }) => candidate.check === check)
      ?.status;

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
    [
      "an engine without permission",
      { docker: "echo permission denied >&2; exit 1" },
      /docker .*usermod/,
    ],
    [
      "an engine that is not running",
      { docker: "echo cannot connect >&2; exit 1" },
      /docker .*start it/,
    ],
    ["an old Node.js", { node: "echo v18.0.0" }, /node .*20\.19/],
    [
      "an old Python",
      { python3: 'case $* in *version_info*) exit 1;; esac; echo "Python 3.8"' },
      /python .*3\.11/,
    ],
  ])("%s is named with its fix", (_case, programs, expected) => {
    const path = pathWith({ ...FIT, ...programs });
    const { code, stdout } = run("check-config.sh", ["--runtime", "docker"], path);
    expect(code).toBe(3);
    expect(stdout).toMatch(expected);
  });

  test.each([
    ["exit 134", "fail"],
    ["exit 0", "ok"],
  ])(
    "limited address space is tried out: where Node.js answers with %s it is %s",
    (answer, expected) => {
      const path = pathWith({ ...FIT, node: `[ "$1" = -e ] && ${answer}; echo v22.1.0` });
      const limited = `ulimit -v 8000000; exec ${join(ROOT, "scripts/check-config.sh")} --json`;
      const { stdout } = spawnSync("bash", ["-c", limited], {
        env: { PATH: path },
        encoding: "utf8",
      });
      expect(statusOf(stdout, "ulimits")).toBe(expected);
    },
  );

  test("works without Node.js and Python, and its JSON stays JSON", () => {
    const path = pathWith({ docker: `echo '"\\' >&2; exit 1` });
    const { code, stdout } = run("check-config.sh", ["--json"], path);
    expect(code).toBe(3);
    expect(statusOf(stdout, "node")).toBe("fail");
    expect(statusOf(stdout, "python")).toBe("fail");
  });
});

test("a Node.js that does not tell its version is named, and the JSON stays JSON", () => {
  const path = pathWith({ ...FIT, node: "echo N/A: not installed" });
  const { code, stdout } = run("check-config.sh", ["--json"], path);
  expect(code).toBe(3);
  expect(JSON.parse(stdout).checks).toContainEqual(
    expect.objectContaining({ check: "node", status: "fail" }),
  );
});

test("an engine that hangs is given up, also where there is no timeout command", () => {
  const path = pathWith({ ...FIT, docker: "exec sleep 60" });
  rmSync(join(path, "timeout"), { force: true });
  const { code, stdout } = run("check-config.sh", ["--runtime", "docker"], path);
  expect(code).toBe(3);
  expect(stdout).toMatch(/docker .*does not answer/);
}, 40_000);

test("docker-to-podman.sh installs a shim, never over another docker, and removes only its own", () => {
  const path = pathWith({ podman: 'echo "podman got $*"' });
  const folder = join(newFolder(), "bin");
  expect(run("docker-to-podman.sh", ["--install", folder, "--dry-run"], path).code).toBe(0);
  expect(existsSync(folder)).toBe(false);
  expect(run("docker-to-podman.sh", ["--install", folder], path).code).toBe(0);
  const shim = spawnSync(join(folder, "docker"), ["ps", "-a b"], {
    env: { PATH: path },
    encoding: "utf8",
  });
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

test("setup-podman.sh says what is missing and installs nothing by itself", () => {
  const { code, stdout } = run(
    "setup-podman.sh",
    [],
    pathWith({ "apt-get": "touch $HOME/installed" }),
  );
  expect(code).toBe(3);
  expect(stdout).toMatch(/podman .*apt-get install/);
  const dry = run(
    "setup-podman.sh",
    ["--install", "--dry-run"],
    pathWith({ "apt-get": "echo INSTALLED" }),
  );
  expect(dry.stdout).not.toContain("INSTALLED");
});

test.each(["check-config.sh", "fix-network.sh", "setup-podman.sh", "docker-to-podman.sh"])(
  "%s explains itself, and refuses what it does not know",
  (script) => {
    const path = pathWith(FIT);
    const help = run(script, ["--help"], path);
    expect(help.code).toBe(0);
    expect(help.stdout).toContain("--dry-run");
    for (const flag of ["--$(touch x)", "--a\nb"]) {
      const bad = run(script, [flag], path);
      expect(bad.code).toBe(2);
      expect(bad.stderr.trim().split("\n")).toHaveLength(1);
    }
  },
);

test("help needs nothing that is installed; a campaign without Python is an environment error", () => {
  const bare = pathWith({});
  for (const [script, flags] of [
    ["run-all.sh", ["--quick", "--help"]],
    ["run-all.sh", ["help"]],
    ["run-benchmark.sh", ["-h"]],
  ] as const)
    expect(run(script, flags, bare)).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("Usage"),
    });
  expect(run("run-all.sh", ["help", "faults"], bare)).toMatchObject({
    code: 0,
    stdout: expect.stringContaining("--fault"),
  });
  for (const topic of ["fault", "../help/run", ""]) {
    const { code, stderr } = run("run-all.sh", ["help", topic], bare);
    expect([topic, code, stderr.trim().split("\n").length]).toEqual([topic, topic ? 2 : 0, 1]);
  }
  const python = pathWith({ python3: "exit 1" });
  expect(
    run("run-all.sh", ["--quick"], `${python}:${process.env.PATH}`, { HOME: newFolder() }).code,
  ).toBe(3);
});

test("fix-network.sh without an engine is an environment error", () => {
  expect(run("fix-network.sh", [], pathWith({})).code).toBe(3);
});

/** An engine with one network of ours, which notes what it removes. */
function engineWith(owner: string, removals: string) {
  const docker = `case "$*" in
  *"network ls"*ratelimit-bench.owner*) echo n1 ;;
  *inspect*owner*) echo '${owner}' ;;
  *inspect*) echo net ;;
  "ps "*) echo c1 ;;
  *rm*) echo "$*" >>"$HOME/removed"; ${removals} ;;
  esac`;
  return pathWith({ docker });
}

describe("fix-network.sh", () => {
  test("without /proc (macOS) the network of a live process stays", () => {
    // What /proc is there cannot be taken away: the script is told another place.
    const script = readFileSync(join(ROOT, "scripts/fix-network.sh"), "utf8").replaceAll(
      "/proc/",
      "/no-proc/",
    );
    const HOME = newFolder();
    const file = join(HOME, "fix.sh");
    writeFileSync(file, script);
    const PATH = engineWith(`${process.pid}:Sat Nov 21 04:00:00 2026:${hostname()}`, ":");
    const ended = spawnSync("bash", [file, "--yes"], { env: { PATH, HOME }, encoding: "utf8" });
    expect(ended.stdout).toContain("in use   net");
    expect(existsSync(join(HOME, "removed"))).toBe(false);
  });

  test("what cannot be removed is an environment error, and the rest is still tried", () => {
    const HOME = newFolder();
    const { code } = run("fix-network.sh", ["--yes"], engineWith(`1:0:${hostname()}`, "exit 1"), {
      HOME,
    });
    expect(code).toBe(3);
    expect(readFileSync(join(HOME, "removed"), "utf8")).toContain("network rm n1");
  });

  test("a network that goes while it is looked at is no error", () => {
    const docker = 'case "$*" in *"network ls"*owner*) echo n1 ;; *inspect*) exit 1 ;; esac';
    expect(run("fix-network.sh", [], pathWith({ docker })).code).toBe(0);
  });
});

test("the shim is not written through a link that leads nowhere", () => {
  const folder = newFolder();
  symlinkSync(join(folder, "elsewhere"), join(folder, "docker"));
  expect(run("docker-to-podman.sh", ["--install", folder], pathWith({ podman: "" })).code).toBe(2);
  expect(existsSync(join(folder, "elsewhere"))).toBe(false);
});

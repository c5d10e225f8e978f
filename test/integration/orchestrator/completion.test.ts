import { execFileSync, spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { temporaryFolders } from "../../helpers/folders.js";
import { needs } from "../../helpers/needs.js";
import { ROOT } from "../../helpers/programs.js";

const CLI = join(ROOT, "dist/orchestrator/cli.js");
const newFolder = temporaryFolders();

let script: string;
beforeAll(() => {
  script = execFileSync(process.execPath, [CLI, "completion", "bash"], { encoding: "utf8" });
});

describe("bash", () => {
  /** The completions that bash gets for a line, with the cursor at its end or at `point`. */
  function completionsOf(line: string, point = line.length): string[] {
    const wordBreaks = "$' \\t\\n\"\\'><=;|&(:'";
    const ask = `COMP_WORDBREAKS=${wordBreaks} COMP_LINE=$1 COMP_POINT=$2; _ratelimit_bench; printf '%s\\n' "\${COMPREPLY[@]}"`;
    const { stdout, stderr } = spawnSync(
      "bash",
      ["-uc", `${script}\n${ask}`, "bash", line, String(point)],
      {
        encoding: "utf8",
      },
    );
    // Options of readline can only be set while it completes.
    expect(stderr).toBe("");
    return stdout.split("\n").filter(Boolean);
  }

  test.each<[string, string[]]>([
    ["ratelimit-bench co", ["completion"]],
    ["ratelimit-bench --v", ["--version"]],
    ["ratelimit-bench completion ", ["bash", "zsh"]],
    ["ratelimit-bench help cl", ["clean"]],
    ["ratelimit-bench run --dur", ["--duration-mode"]],
    ["ratelimit-bench run --traffic mi", ["mixed2", "mixed10"]],
    ["ratelimit-bench run --quick --workload b", ["both"]],
    [
      "ratelimit-bench run --clients none,io",
      ["none,iovalkey", "none,iovalkey:cluster", "none,ioredis"],
    ],
    ["ratelimit-bench run --runs ", ["auto"]],
    ["ratelimit-bench run --seed ", []],
    ["ratelimit-bench run --output ", []],
    ["ratelimit-bench clean --cl", []],
    ["ratelimit-bench nonsense ", []],
  ])("%j", (line, expected) => {
    expect(completionsOf(line)).toEqual(expect.arrayContaining(expected));
    if (expected.length === 0) expect(completionsOf(line)).toEqual([]);
  });

  test("completes what is before the cursor", () => {
    expect(completionsOf("ratelimit-bench ru --quick", "ratelimit-bench ru".length)).toEqual([
      "run",
    ]);
  });
});

const LINES: readonly [typed: string, got: readonly string[]][] = [
  ["compl\tba\t", ["completion", "bash"]],
  ["run --runt\tloc\t", ["run", "--runtime", "local"]],
  ["run --traffic=rea\t", ["run", "--traffic=realistic"]],
  ["run --clients none,ioredis@valkey:cl\t", ["run", "--clients", "none,ioredis@valkey:cluster"]],
  ["run --duration-mode cus\t9", ["run", "--duration-mode", "custom:9"]],
  ["repo\t--inc\tsta\t", ["report", "--include-trends", "start"]],
];

/** Runs `source <(ratelimit-bench completion …)` in a shell on a terminal, then types the lines. */
function completesWhatIsTyped(shell: string, command: string): void {
  const home = newFolder();
  const start = join(home, "start");
  // `--runt⇥` is completed to `--runtime` or to `--runtime=`, as the shell likes.
  const printArguments = `{ printf '<%s>' "\${@/#--runtime=local/--runtime><local}"; echo; }`;
  writeFileSync(
    start,
    `source <("$NODE" "$CLI" completion ${shell})\nratelimit-bench() ${printArguments}\nPS1=\nexport TERM=dumb\n`,
  );
  const typed = LINES.map(([line]) => `ratelimit-bench ${line}\n`).join("");
  const { stdout } = spawnSync(
    "script",
    ["--quiet", "--return", "--command", command, "/dev/null"],
    {
      input: `. "$HOME/start"\n${typed}exit\n`,
      encoding: "utf8",
      // Files are completed, too.
      cwd: home,
      env: { PATH: process.env.PATH, HOME: home, NODE: process.execPath, CLI, TERM: "dumb" },
      timeout: 240_000,
    },
  );
  const got = stdout.split(/\r?\n/).filter((line) => line.startsWith("<"));
  expect(got, stdout).toEqual(LINES.map(([, words]) => words.map((word) => `<${word}>`).join("")));
}

test("bash at a terminal completes what is typed", () => {
  completesWhatIsTyped("bash", "bash --norc --noprofile -i");
});
test("zsh at a terminal completes what is typed", needs(["zsh"]), () => {
  completesWhatIsTyped("zsh", "zsh -f -i");
});

import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { needNames } from "../helpers/need-names.js";
import { needs } from "../helpers/needs.js";
import { ROOT } from "../helpers/programs.js";

const nothing = { find: () => undefined, fix: "install redis-server" };
const there = { find: () => "/usr/bin/zsh", fix: "install zsh" };
const machine = { redis: nothing, zsh: there };

test("a test is skipped where what it needs is missing, and runs where it is there; its tag names the need", () => {
  const told: string[] = [];
  const err = vi
    .spyOn(process.stderr, "write")
    .mockImplementation((text) => told.push(String(text)) > 0);
  onTestFinished(() => err.mockRestore());
  expect(needs(["redis"], "", machine)).toEqual({ tags: ["redis"], skip: true });
  expect(needs(["zsh"], "", machine)).toEqual({ tags: ["zsh"], skip: false });
  expect(needs(["zsh", "redis"], "zsh", machine)).toEqual({ tags: ["zsh", "redis"], skip: true });
  expect(new Set(told)).toEqual(
    new Set(["tests are skipped: no redis was found: install redis-server\n"]),
  );
});

test("what REQUIRE names must be there: the test fails instead, and says what to install", () => {
  expect(() => needs(["redis"], "zsh,redis", machine)).toThrow(
    "no redis was found: install redis-server",
  );
  expect(() => needs(["zsh"], "zsh,rediss", machine)).toThrow(
    "REQUIRE names rediss; valid: redis, zsh",
  );
});

test("REQUIRE names only what tests can need, in docs and in .ci/run", () => {
  const texts = ["CONTRIBUTING.md", ".ci/run"].map((path) =>
    readFileSync(join(ROOT, path), "utf8"),
  );
  const lists = texts.flatMap((text) => [...text.matchAll(/REQUIRE\+?=,?([a-z][a-z,-]*)/g)]);
  const names = lists.flatMap(([, list = ""]) => list.split(","));
  expect(names.length).toBeGreaterThan(10);
  expect(names.filter((name) => !needNames.some((each) => each === name))).toEqual([]);
});

test("newcomer.sh hides engine, stores, browser and shells, and leaves what a newcomer has", (context) => {
  const has =
    "for name; do command -v $name >/dev/null && printf '%s ' $name; done; printf %s $DOCKER_HOST";
  const names = "node npm npx python3 bash git tar awk sed grep find sort sha256sum".split(" ");
  const hidden =
    "docker podman redis-server valkey-server memcached chromium google-chrome zsh tmux go gcc".split(
      " ",
    );
  const script = join(ROOT, "scripts/ci/newcomer.sh");
  const env = {
    ...process.env,
    REDIS_SERVER: "/bin/true",
    CHROMIUM: "/bin/true",
    REQUIRE: "valkey",
  };
  const command = `${has}; printf ' %s' "\${REDIS_SERVER-none}" "\${CHROMIUM-none}" "$REQUIRE"`;
  const ended = spawnSync(script, ["bash", "-c", command, "bash", ...names, ...hidden], {
    env,
    encoding: "utf8",
  });
  // It knows Debian's packages alone.
  if (ended.status === 3) context.skip(ended.stderr.trim());
  expect(ended.stdout).toBe(`${names.join(" ")} unix:///nonexistent/docker.sock none none valkey`);
});

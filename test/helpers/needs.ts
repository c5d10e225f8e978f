import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { decidingProgram } from "./deciding-server.js";
import { envoyProgram } from "./envoy.js";
import { fakeredisPython } from "./fakeredis.js";
import { moduleFile } from "./module-file.js";
import { browserProgram, programOnPath, ROOT } from "./programs.js";
import { storeProgram } from "./store.js";

interface Thing {
  find: () => string | undefined;
  fix: string;
}

/** What tests use and a machine need not have. */
const things = {
  valkey: { find: () => storeProgram("valkey"), fix: "run scripts/setup.sh --dev, or set VALKEY_SERVER" },
  redis: { find: () => storeProgram("redis"), fix: "install redis-server, or set REDIS_SERVER" },
  memcached: { find: () => storeProgram("memcached"), fix: "install memcached, or set MEMCACHED_SERVER" },
  "redis-cell": { find: () => moduleFile("redis-cell"), fix: "set REDIS_CELL_MODULE (see docs/clients.md)" },
  "redis-shield": {
    find: () => moduleFile("redis-shield"),
    fix: "set REDIS_SHIELD_MODULE (see docs/clients.md)",
  },
  throttlecrab: {
    find: () => decidingProgram("throttlecrab"),
    fix: "set THROTTLECRAB_SERVER, or put throttlecrab-server on PATH",
  },
  gubernator: {
    find: () => decidingProgram("gubernator"),
    fix: "set GUBERNATOR_SERVER, or put gubernator on PATH (see docs/clients.md)",
  },
  "envoy-ratelimit": { find: envoyProgram, fix: "set ENVOY_RATELIMIT to Envoy's program ratelimit" },
  "redis-benchmark": {
    find: () => programOnPath("redis-benchmark"),
    fix: "install redis-benchmark (package redis-tools)",
  },
  wrk: { find: () => programOnPath("wrk"), fix: "install wrk" },
  fakeredis: { find: fakeredisPython, fix: "run scripts/setup.sh --dev, or set FAKEREDIS_PYTHON" },
  chromium: { find: browserProgram, fix: "install chromium, or set CHROMIUM" },
  zsh: { find: () => programOnPath("zsh"), fix: "install zsh" },
  kubernetes: { find: kubernetesServer, fix: "set KUBECONFIG to that of a cluster for tests" },
  "docker-hosts": {
    find: dockerHosts,
    fix: "be root, with dockerd and ip (see test/helpers/docker-hosts.sh)",
  },
  actionlint: { find: actionlint, fix: "run scripts/ci/actionlint.sh --install, with Go" },
} satisfies Record<string, Thing>;
export type Need = keyof typeof things;

/** Whether this machine can start engines in namespaces of their own. */
function dockerHosts(): string | undefined {
  const programs = ["dockerd", "ip", "nsenter", "unshare", "openssl"].map(programOnPath);
  return process.getuid?.() === 0 && !programs.includes(undefined) ? programs[0] : undefined;
}

function actionlint(): string | undefined {
  const { status, stdout } = spawnSync(join(ROOT, "scripts/ci/actionlint.sh"), ["--find"], {
    encoding: "utf8",
  });
  return status === 0 ? stdout.trim() : undefined;
}

/** Only a cluster that is given for tests: that of a developer's own kubeconfig is not for them. */
function kubernetesServer(): string | undefined {
  if (!process.env.KUBECONFIG) return undefined;
  const { status, stdout } = spawnSync("kubectl", ["version", "--request-timeout=5s", "--output=json"], {
    encoding: "utf8",
  });
  return status === 0 ? stdout : undefined;
}

/**
 * The options of a test or suite that needs these. It has their names as tags, so that `--tags-filter` can run it
 * alone, and is skipped where one of them is missing.
 * @param required names that must not be missing, comma separated
 * @throws Error where a required one is missing, or has a name that nothing has
 */
export function needs(
  names: readonly Need[],
  required = process.env.REQUIRE ?? "",
  all: Readonly<Record<string, Thing>> = things,
): { tags: string[]; skip: boolean } {
  const requested = required.split(",").filter(Boolean);
  const unknown = requested.find((name) => !(name in all));
  if (unknown) throw new Error(`REQUIRE names ${unknown}; valid: ${Object.keys(all).join(", ")}`);
  const missing = names.filter((name) => !all[name]?.find());
  for (const name of missing) {
    const message = `no ${name} was found: ${all[name]?.fix}`;
    if (requested.includes(name)) throw new Error(`${message} (REQUIRE names it)`);
    process.stderr.write(`tests are skipped: ${message}\n`);
  }
  return { tags: [...names], skip: missing.length > 0 };
}

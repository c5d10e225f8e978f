import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { nginxProgram } from "./apis/nginx.js";
import { decidingProgram } from "./deciding-server.js";
import { envoyProgram } from "./envoy.js";
import { fakeredisPython } from "./fakeredis.js";
import { moduleFile } from "./module-file.js";
import { type Need, needNames, remedies } from "./need-names.js";
import { browserProgram, programOnPath, ROOT } from "./programs.js";
import { storeProgram } from "./store.js";

interface Thing {
  find: () => string | undefined;
  fix: string;
}

/** How each is found on this machine. */
const finders: Readonly<Record<Need, Thing["find"]>> = {
  valkey: () => storeProgram("valkey"),
  redis: () => storeProgram("redis"),
  memcached: () => storeProgram("memcached"),
  "redis-cell": () => moduleFile("redis-cell"),
  "redis-shield": () => moduleFile("redis-shield"),
  throttlecrab: () => decidingProgram("throttlecrab"),
  gubernator: () => decidingProgram("gubernator"),
  "envoy-ratelimit": envoyProgram,
  "redis-benchmark": () => programOnPath("redis-benchmark"),
  wrk: () => programOnPath("wrk"),
  nginx: nginxProgram,
  fakeredis: fakeredisPython,
  chromium: browserProgram,
  zsh: () => programOnPath("zsh"),
  kubernetes: kubernetesServer,
  "docker-hosts": dockerHosts,
  actionlint,
};

const needsOfProject = Object.fromEntries(
  needNames.map((name) => [name, { find: finders[name], fix: remedies[name] }]),
);

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
  const { status, stdout } = spawnSync(
    "kubectl",
    ["version", "--request-timeout=5s", "--output=json"],
    {
      encoding: "utf8",
    },
  );
  return status === 0 ? stdout : undefined;
}

/**
 * The options of a test or suite that needs these. It has their names as tags, so that
 * `--tags-filter` can run it alone, and is skipped where one of them is missing.
 * @param required names that must not be missing, comma separated
 * @throws Error where a required one is missing, or has a name that nothing has
 */
export function needs(
  names: readonly Need[],
  required = process.env.REQUIRE ?? "",
  all: Readonly<Record<string, Thing>> = needsOfProject,
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

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import {
  containerOptions,
  ULIMITS,
} from "../../../../src/runtimes/containers/container-options.js";
import { findStore, findTopology } from "../../../../src/targets/resolve.js";
import { partOf } from "../../../helpers/fake-runtime.js";
import { ROOT } from "../../../helpers/programs.js";

const textOf = (name: string): string => readFileSync(join(ROOT, name), "utf8");
const directives = (name: string): string[] =>
  textOf(name)
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("#"));
const STORES = ["valkey", "redis"] as const;

describe("valkey.conf and redis.conf", () => {
  test("say the same, but for what Redis alone has", () => {
    const redis = directives("redis.conf").filter((line) => !line.startsWith("dynamic-hz "));
    expect(directives("valkey.conf")).toEqual(redis);
  });

  test.each(STORES)(
    "%s.conf can be turned into arguments, and leaves place and topology to others",
    (store) => {
      const lines = directives(`${store}.conf`);
      for (const line of lines) expect(line).toMatch(/^[a-z-]+( ""|( [0-9a-z-]+)+)$/);
      const names = lines.map((line) => line.split(" ")[0] ?? "");
      expect(new Set(names).size).toBe(names.length);
      expect(names.filter((name) => /^(port|bind|dir|include|cluster-.*)$/.test(name))).toEqual([]);
      const kept = ['save ""', "appendonly no", "maxmemory 1gb", "maxmemory-policy volatile-lru"];
      expect(lines).toEqual(expect.arrayContaining(kept));
    },
  );
});

interface Service {
  extends?: { file: string; service: string } | string;
  image?: string;
  entrypoint?: string[];
  ports?: string[];
  volumes?: string[];
}
interface ComposeFile {
  name: string;
  services: Record<string, Service>;
  networks: Record<string, unknown>;
}
const compose = (name: string) => parse(textOf(name), { merge: true }) as ComposeFile;
const common = compose("docker/common.yml").services;

/** The services that this one is made of, itself first. */
function lineage({ extends: parent }: Service): string[] {
  if (parent === undefined) return [];
  const name = typeof parent === "string" ? parent : parent.service;
  return [name, ...lineage(common[name] ?? {})];
}

describe.each([
  "docker-compose.yml",
  ...STORES.map((store) => `docker-compose-${store}-cluster.yml`),
])("%s", (name) => {
  const { services, networks } = compose(name);

  test("hardens every service, publishes no store, and gives nobody the engine or a second chance", () => {
    for (const service of Object.values(services)) {
      expect(lineage(service).at(-1)).toBe("hardened");
      expect(service.ports).toBeUndefined();
      expect(service).toMatchObject({ networks: ["bench"] });
      for (const volume of service.volumes ?? [])
        expect(volume).toMatch(/^\.\/(valkey|redis)\.conf:.*:ro$/);
    }
    expect(Object.keys(networks)).toEqual(["bench"]);
    expect(common.store?.ports).toBeUndefined();
    expect(`${textOf(name)}${textOf("docker/common.yml")}`).not.toMatch(
      /docker\.sock|\brestart: (always|on|unless)/,
    );
    expect(services.server && lineage(services.server)[0]).toBe("server");
    expect(services.loadtest && lineage(services.loadtest)[0]).toBe("loadtest");
  });
});

test("the server is published on loopback alone", () => {
  expect(
    Object.entries(common).flatMap(([name, { ports }]) => (ports ? [[name, ports]] : [])),
  ).toEqual([
    // biome-ignore lint/suspicious/noTemplateCurlyInString: Compose's own variable
    ["server", ["127.0.0.1:${SERVER_PORT:-0}:3001"]],
  ]);
});

describe.each(STORES)("the %s nodes of the compose files", (store) => {
  const { program = "", image } = findStore(store);
  const conf = `/etc/${store}.conf`;
  const wanted = `\${${image?.variable}:-${image?.name}}`;

  test("run the program and image that campaigns run", () => {
    const node = compose("docker-compose.yml").services[store];
    expect(node).toMatchObject({ image: wanted, entrypoint: [program, conf, "--dir", "/data"] });
  });

  test("are six alike in a cluster, with the settings of a campaign's cluster", () => {
    const { services } = compose(`docker-compose-${store}-cluster.yml`);
    const nodes = Object.entries(services).filter(([name]) => name.startsWith(`${store}-`));
    expect(nodes.map(([name]) => name)).toEqual(
      [1, 2, 3, 4, 5, 6].map((number) => `${store}-${number}`),
    );
    for (const [, node] of nodes) expect(node).toEqual(nodes[0]?.[1]);
    expect(nodes[0]?.[1]).toMatchObject({
      image: wanted,
      entrypoint: [program, conf, "--dir", "/data", ...findTopology("cluster").nodeArguments],
    });
  });
});

test.each(["server", "loadtest"])(
  "Dockerfile.%s starts from the compose files' Node.js, and needs no BuildKit",
  (id) => {
    const text = textOf(`Dockerfile.${id}`);
    const version = /^ARG NODE_VERSION=(\d+)$/m.exec(text)?.[1];
    expect(common[id === "server" ? "server-image" : id]).toMatchObject({
      build: {
        dockerfile: `Dockerfile.${id}`,
        args: { NODE_VERSION: `\${NODE_VERSION:-${version}}` },
      },
    });
    expect(text).not.toMatch(/^# *syntax=|--mount=|<<|--chmod|--link/m);
    expect(text).toMatch(/^USER [1-9]\d*:[1-9]\d*$/m);
  },
);

test("a container by hand is hardened as one of a campaign", () => {
  const { User, HostConfig } = containerOptions({
    part: partOf("server"),
    name: "",
    image: "",
    place: { network: "" },
    command: ["node"],
    environment: {},
    labels: {},
    ulimits: ULIMITS,
  });
  expect(common.hardened).toMatchObject({
    user: User,
    cap_drop: HostConfig?.CapDrop,
    security_opt: HostConfig?.SecurityOpt?.map((option: string) => `${option}:true`),
    read_only: HostConfig?.ReadonlyRootfs,
    pids_limit: HostConfig?.PidsLimit,
    ulimits: { nproc: ULIMITS.nproc },
    logging: { driver: HostConfig?.LogConfig?.Type, options: HostConfig?.LogConfig?.Config },
  });
});

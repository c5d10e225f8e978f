import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { EXIT } from "../../../../src/kit/errors.js";
import { readHostsFile } from "../../../../src/orchestrator/request/access.js";
import { parseCampaign } from "../../../../src/orchestrator/request/parse-request.js";
import { expectFailure, failureOf } from "../../../helpers/errors.js";
import { temporaryFolders } from "../../../helpers/folders.js";

const request = (...flags: string[]) => parseCampaign(["--clients", "none", ...flags], {});

describe("access to a Kubernetes", () => {
  test("has what was given", () => {
    const flags =
      "--kube-context prod --namespace bench --node-store disk=ssd --host-network".split(" ");
    const registry = ["--registry", "registry.example.org:5000/bench/"];
    expect(request("--runtime", "kubernetes", ...flags, ...registry)?.place.access).toEqual({
      kubernetes: {
        context: "prod",
        namespace: "bench",
        nodes: { store: "disk=ssd" },
        host_network: true,
        registry: "registry.example.org:5000/bench",
      },
    });
    expect(request("--runtime", "kubernetes")?.place.access).toEqual({ kubernetes: { nodes: {} } });
    expect(request()?.place.access).toEqual({});
  });

  test.each([
    ["--namespace", "Bench"],
    ["--namespace", "a/b"],
    ["--node-server", "a=b=c"],
    ["--node-generator", "a=b=c"],
    ["--registry", "https://registry.example.org"],
    ["--registry", "registry.example.org/bench:1"],
  ])("%s %s is refused", async (flag, value) => {
    await expectFailure(
      () => request("--runtime", "kubernetes", flag, value),
      EXIT.usage,
      flag,
      value,
    );
  });

  test.each([
    ["--kube-context", "x"],
    ["--namespace", "x"],
    ["--node-store", "a=b"],
    ["--registry", "r.example"],
    ["--host-network"],
  ])("%s is refused with another runtime", async (...flags) => {
    const [flag = ""] = flags;
    const asked = () => request("--runtime", "docker", ...flags);
    await expectFailure(asked, EXIT.usage, flag, "--runtime kubernetes");
  });
});

const newFolder = temporaryFolders();

function read(text: string) {
  const path = join(newFolder(), "hosts.yaml");
  writeFileSync(path, text);
  return readHostsFile(path, "--hosts");
}

const THREE = `hosts:
  - { name: a, docker: "ssh://bench@10.0.0.11", address: 10.0.0.11, roles: [store] }
  - { name: b, docker: "tcp://10.0.0.12:2376", tls: ./certs, address: 10.0.0.12, roles: [server] }
  - { name: c, docker: my-context, address: c.lan, roles: [generator] }
`;

test("a file names engines by role; certificates are found beside it", () => {
  const { network, hosts } = read(THREE);
  expect(network).toBe("host");
  const engines = ["ssh://bench@10.0.0.11", "tcp://10.0.0.12:2376", "my-context"];
  expect(hosts.map(({ docker }) => docker)).toEqual(engines);
  expect(hosts[1]?.tls).toMatch(/^\/.*\/certs$/);
});

test.each([
  [
    "an unknown key",
    THREE.replace("address: 10.0.0.11", "adress: 10.0.0.11"),
    /line 2: .*"?adress.*address/,
  ],
  ["an unknown key at the top", `netwerk: host\n${THREE}`, /line 1: .*"netwerk".*network/],
  ["a role without a host", THREE.replace("[generator]", "[server]"), /generator/],
  ["two hosts of one name", THREE.replace("name: b", "name: a"), /line 3: /],
  ["an address of the machine alone", THREE.replace("c.lan", "127.0.0.1"), /line 4: c: .*127/],
  ["an address with a port", THREE.replace("c.lan", "c.lan:80"), /line 4: hosts\.2\.address/],
  [
    "an endpoint of another kind",
    THREE.replace("my-context", "http://c"),
    /line 4: hosts\.2\.docker/,
  ],
  ["an option as the host of ssh", THREE.replace("bench@10.0.0.11", "-oProxyCommand=x"), /docker/],
  ["certificates for ssh", THREE.replace("my-context", "my-context, tls: x"), /tls/],
  ["an unknown role", THREE.replace("[server]", "[servers]"), /line 3: hosts\.1\.roles\.0/],
  ["a network of one machine", `network: bridge\n${THREE}`, /line 1: .*bridge/],
  ["no hosts", "network: host", /hosts/],
  ["an empty file", "", /hosts/],
  ["broken YAML", "hosts: [", /line 1: /],
])("%s is refused in one line with 2", async (_what, text, message) => {
  const error = await failureOf(() => read(text));
  expect(error.message).toMatch(message);
  expect(error.message).toMatch(/^hosts\.yaml line \d+: [^\n]+$/);
  expect(error.exitCode).toBe(2);
});

test("a file that is not there is named", () => {
  expect(() => readHostsFile("/nowhere/hosts.yaml", "--hosts")).toThrow(
    /^--hosts \/nowhere\/hosts\.yaml /,
  );
});

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readHostsFile } from "../../../../src/orchestrator/request/hosts-file.js";
import { failureOf } from "../../../helpers/errors.js";
import { temporaryFolders } from "../../../helpers/folders.js";

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
  ["an unknown key", THREE.replace("address: 10.0.0.11", "adress: 10.0.0.11"), /line 2: .*"?adress.*address/],
  ["an unknown key at the top", `netwerk: host\n${THREE}`, /line 1: .*"netwerk".*network/],
  ["a role without a host", THREE.replace("[generator]", "[server]"), /generator/],
  ["two hosts of one name", THREE.replace("name: b", "name: a"), /line 3: /],
  ["an address of the machine alone", THREE.replace("c.lan", "127.0.0.1"), /line 4: c: .*127/],
  ["an address with a port", THREE.replace("c.lan", "c.lan:80"), /line 4: hosts\.2\.address/],
  ["an endpoint of another kind", THREE.replace("my-context", "http://c"), /line 4: hosts\.2\.docker/],
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
  expect(() => readHostsFile("/nowhere/hosts.yaml", "--hosts")).toThrow(/^--hosts \/nowhere\/hosts\.yaml /);
});

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Campaign } from "../helpers/campaign.js";
import { added, everything, inspected, running, tryDocker } from "../helpers/engine.js";
import { expectReconciled } from "../helpers/expectations.js";
import { temporaryFolders } from "../helpers/folders.js";
import { savePage } from "../helpers/plugin-page.js";

const newFolder = temporaryFolders();

/** A folder with a package of its own beside it, which the project does not have. */
function folderPlugin(home: string): string {
  const folder = join(home, "my traffic");
  mkdirSync(join(folder, "node_modules", "users"), { recursive: true });
  const write = (name: string, text: string) =>
    writeFileSync(join(folder, name), text, { mode: 0o600 });
  write("package.json", '{"name":"my-traffic","version":"3.2.1","type":"module","main":"main.js"}');
  write("node_modules/users/package.json", '{"name":"users","type":"module","main":"index.js"}');
  write("node_modules/users/index.js", 'export const users = ["user-1", "exhausted-1"];');
  write(
    "main.js",
    `import { users } from "users";
export const plugin = { traffic: [{
  id: "halves", summary: "every other request is denied", limits: { points: 1000000000, window_s: 60, block_s: 0 },
  population: () => ({ requests: users.map((user) => [user]), shares: Float64Array.of(0.5, 0.5) }),
}] };
`,
  );
  return folder;
}

/** A store that is Redis under another name. */
function storePlugin(home: string): string {
  const plugin = join(home, "my-store.js");
  writeFileSync(
    plugin,
    `export default { stores: [{
  id: "mystore", engine: "resp", program: "redis-server", compatibleWith: "redis", arguments: ["--save", "", "--protected-mode", "no"],
  versionField: "redis_version", topologies: ["standalone"],
}] };
`,
  );
  return plugin;
}

test("plugins and memcached are measured in containers, from images that hold them: nothing is mounted, nothing can be written", async () => {
  const before = everything();
  const home = newFolder();
  const client = savePage(home).find((path) => path.endsWith("/my-client.js")) ?? "";
  const campaign = Campaign.run(home, "my-client@valkey,memcached,ioredis@mystore", [
    "--runtime",
    "docker",
    "--plugin",
    client,
    "--plugin",
    folderPlugin(home),
    "--traffic",
    "halves",
    "--plugin",
    storePlugin(home),
    "--image",
    "mystore=redis:8.0",
    "--duration-mode",
    "custom:2",
  ]);
  await campaign.waitForLog("measure");
  const roles = running();
  for (const role of ["server-1", "generator-1"]) {
    const id = roles.get(role) ?? "";
    expect(inspected(id).Mounts, role).toEqual([]);
    const ask = "ls -l /app/plugins/0/my-client.js; touch /app/plugins/0/other.js";
    const { output } = tryDocker("exec", id, "sh", "-c", ask);
    expect(output, role).toMatch(/^-r..r..r.. 1 root root.*read-only/is);
  }
  await campaign.ends();
  expect(added(before)).toEqual([]);

  const { plugins, images = {} } = campaign.manifest;
  const [ofFile, ofFolder] = [{ name: "my-client.js" }, { name: "my traffic", version: "3.2.1" }];
  expect(plugins).toMatchObject([ofFile, ofFolder, { name: "my-store.js" }]);
  expect(images.server?.name).toMatch(/-plugins$/);
  // No image of another store was needed.
  expect(Object.keys(images).sort()).toEqual([
    "loadtest",
    "memcached",
    "mystore",
    "server",
    "valkey",
  ]);
  expect(campaign.measured).toHaveLength(3);
  const versions = { memcached: /^1\.6/, mystore: /^8\.0/, valkey: /^8\.1/ };
  for (const result of campaign.measured) {
    const { configuration, prediction, consumers, verdict } = result;
    expectReconciled(result);
    expect(Object.keys(configuration?.caps ?? {}).sort()).toEqual(["generator", "server", "store"]);
    expect(result.versions.store).toMatch(
      versions[configuration?.target.store as keyof typeof versions],
    );
    expect(prediction?.limited_share).toBe(0.5);
    expect(consumers[0]?.plugins).toEqual(plugins);
    expect(verdict.reasons.filter(({ severity }) => severity === "invalid")).toEqual([]);
  }
});

import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { deriveImages, pathsInImage } from "../../../../src/runtimes/containers/derived-images.js";
import { temporaryFolders } from "../../../helpers/folders.js";

const newFolder = temporaryFolders();
const version = (name: string, version: string, digit: string) => ({
  name,
  version,
  sha256: digit.repeat(64),
  packages: { [name]: version },
});

/**
 * An engine without a derived image until its builder has run; the builder keeps what it was given,
 * by tag.
 */
function ground(home: string) {
  const built = join(home, "built");
  const binary = join(home, "builder");
  mkdirSync(built);
  writeFileSync(binary, `#!/bin/sh\ncp -R . "${built}/$3"\n`);
  chmodSync(binary, 0o755);
  const inspect = (name: string) => async () => {
    if (readdirSync(built).includes(name)) return { Id: `id of ${name}` };
    throw Object.assign(new Error("none"), { statusCode: 404 });
  };
  const docker = { getImage: (name: string) => ({ inspect: inspect(name) }) };
  return { built, docker: docker as never, builder: { binary, environment: {} } };
}

test("plugins and library versions go into every image of the project, at the paths that the parts use", async () => {
  const home = newFolder();
  const { built, docker, builder } = ground(home);
  const folder = join(home, "versions");
  for (const name of ["ioredis-5.6.1", "@fastify+rate-limit-10.3.0"]) {
    mkdirSync(join(folder, name), { recursive: true });
    writeFileSync(join(folder, name, "load.mjs"), name);
  }
  writeFileSync(join(home, "my.js"), "plugin");
  const said: string[] = [];
  const options = {
    plugins: [{ path: join(home, "my.js"), identity: { name: "my.js", sha256: "a".repeat(64) } }],
    versions: {
      folder,
      installed: [version("ioredis", "5.6.1", "b"), version("@fastify/rate-limit", "10.3.0", "c")],
    },
    workFolder: home,
    signal: new AbortController().signal,
    hold: async () => {},
    onSetupStep: (text: string) => void said.push(text),
  };
  const own = { server: { name: "s:1", id: "1" }, loadtest: { name: "l:1", id: "2" } };
  const derived = await deriveImages(docker, builder, own, options);

  const [server = "", loadtest = ""] = [derived.server?.name, derived.loadtest?.name];
  const read = (image: string, path: string) => readFileSync(join(built, image, path), "utf8");
  expect(read(server, "Dockerfile")).toContain("FROM s:1\nUSER 0\nCOPY plugins /app/plugins\n");
  expect(read(server, "Dockerfile")).toMatch(
    /COPY versions \/app\/versions\n.*\nUSER 1000:1000\n$/,
  );
  expect(readdirSync(join(built, loadtest)).sort()).toEqual(["Dockerfile", "plugins", "versions"]);
  const paths = pathsInImage(options);
  expect(paths.plugins?.map((path) => read(server, path.replace("/app/", "")))).toEqual(["plugin"]);
  const versions = paths.versions?.replace("/app/", "") ?? "";
  expect(read(server, join(versions, "ioredis-5.6.1", "load.mjs"))).toBe("ioredis-5.6.1");
  expect(readdirSync(join(built, server, versions))).toContain("@fastify+rate-limit-10.3.0");

  expect(await deriveImages(docker, builder, own, options)).toEqual(derived);
  expect(said).toHaveLength(2);
  const other = { ...options, versions: { folder, installed: [version("ioredis", "5.6.1", "d")] } };
  expect((await deriveImages(docker, builder, own, other)).server?.name).not.toBe(server);
  expect(
    await deriveImages(docker, builder, own, { ...options, plugins: [], versions: undefined }),
  ).toEqual(own);
});

import { createHash } from "node:crypto";
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type Docker from "dockerode";
import { execa } from "execa";
import { environmentError, messageOf } from "../../contract/errors.js";
import { stores } from "../../targets/stores/index.js";
import type { ImageFacts, PluginPlace, RuntimeOptions } from "../types.js";
import { imageFacts } from "./engine.js";

/** The images of this project, and what each is built from. */
const OWN_IMAGES = ["server", "loadtest"] as const;
const INPUTS = [".dockerignore", "package.json", "package-lock.json", "tsconfig.json", "tsconfig.build.json"];
const INPUT_FOLDERS = ["docker", "src"];

/** Every file below a folder, in a fixed order; none where there is no such folder. */
async function filesBelow(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  return entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))
    .sort();
}

async function hashOf(dockerfile: string, nodeVersion: string, packageFolder: string): Promise<string> {
  const hash = createHash("sha256").update(nodeVersion);
  const folders = await Promise.all(INPUT_FOLDERS.map((name) => filesBelow(join(packageFolder, name))));
  const single = [dockerfile, ...INPUTS].map((name) => join(packageFolder, name));
  for (const path of [...single, ...folders.flat()]) {
    hash.update(path.slice(packageFolder.length)).update(await readFile(path).catch(() => ""));
  }
  return hash.digest("hex").slice(0, 12);
}

/** What builds images: a command of Docker's form, and where it finds the engine. */
export interface Builder {
  binary: string;
  environment: Readonly<Record<string, string>>;
}

/**
 * The project's own images, built where they are missing or older than their inputs.
 * @throws environmentError with the last line of a build that failed
 */
export async function ownImages(
  docker: Docker,
  builder: Builder,
  { packageFolder, say, signal }: Pick<RuntimeOptions, "packageFolder" | "say" | "signal">,
): Promise<Record<string, ImageFacts>> {
  const nodeVersion = process.env.NODE_VERSION || "24";
  const built: Record<string, ImageFacts> = {};
  for (const id of OWN_IMAGES) {
    const dockerfile = `Dockerfile.${id}`;
    const inputs = await hashOf(dockerfile, nodeVersion, packageFolder);
    const name = `ratelimit-bench-${id}:${inputs}`;
    let facts = await imageFacts(docker, name);
    if (!facts) {
      say(`building the image ${name}`);
      const values = [`NODE_VERSION=${nodeVersion}`, `INPUTS=${inputs}`].flatMap((value) => [
        "--build-arg",
        value,
      ]);
      const parameters = ["--file", dockerfile, "--tag", name, ...values];
      const { failed, all } = await build(builder, parameters, packageFolder, signal);
      facts = failed ? undefined : await imageFacts(docker, name);
      if (!facts) throw environmentError(`${builder.binary} build of ${dockerfile} failed: ${lastLine(all)}`);
    }
    built[id] = facts;
  }
  return built;
}

/**
 * The same images with the plugins in them, each an image of its own that is built from ours: nothing of this machine
 * is mounted. Tagged by what they were built from and by the plugins' bytes.
 * @throws environmentError with the last line of a build that failed
 */
export async function withPlugins(
  docker: Docker,
  builder: Builder,
  own: Readonly<Record<string, ImageFacts>>,
  {
    plugins = [],
    workFolder,
    say,
    signal,
  }: Pick<RuntimeOptions, "plugins" | "workFolder" | "say" | "signal">,
): Promise<Record<string, ImageFacts>> {
  if (plugins.length === 0) return { ...own };
  const derived: Record<string, ImageFacts> = {};
  const bytes = plugins.map(({ facts: { name, sha256 } }) => `${sha256} ${name}`).join("\n");
  for (const [id, base] of Object.entries(own)) {
    const inputs = createHash("sha256").update(`${base.id}\n${bytes}`).digest("hex").slice(0, 12);
    const name = `ratelimit-bench-${id}:${inputs}-plugins`;
    let facts = await imageFacts(docker, name);
    if (!facts) {
      say(
        `building the image ${name} with ${plugins.map(({ facts: { name: plugin } }) => plugin).join(", ")}`,
      );
      const context = await mkdtemp(join(workFolder, "image-"));
      await layPlugins(context, base.name, plugins);
      const { failed, all } = await build(builder, ["--tag", name], context, signal);
      facts = failed ? undefined : await imageFacts(docker, name);
      await rm(context, { recursive: true, force: true });
      if (!facts) {
        throw environmentError(`${builder.binary} build of ${name} failed: ${lastLine(all)}`);
      }
    }
    derived[id] = facts;
  }
  return derived;
}

/** Fills the folder that the image is built from; everybody may read what nobody can write in a container. */
async function layPlugins(context: string, base: string, plugins: readonly PluginPlace[]): Promise<void> {
  for (const [index, { path, facts }] of plugins.entries()) {
    await cp(path, join(context, "plugins", String(index), facts.name), {
      recursive: true,
      verbatimSymlinks: true,
    });
  }
  const readable = "RUN chmod -R a+rX /app/plugins";
  await writeFile(
    join(context, "Dockerfile"),
    `FROM ${base}\nUSER 0\nCOPY plugins /app/plugins\n${readable}\nUSER 1000:1000\n`,
  );
}

/** Where a part in a container finds them: below the project, whose packages a single file may import. */
export const pluginsInImage = (plugins: readonly PluginPlace[] = []): string[] =>
  plugins.map(({ facts }, index) => `/app/plugins/${index}/${facts.name}`);

const build = (builder: Builder, parameters: readonly string[], folder: string, signal: AbortSignal) =>
  execa(builder.binary, ["build", ...parameters, "."], {
    cwd: folder,
    env: builder.environment,
    stdin: "ignore",
    cancelSignal: signal,
    all: true,
    reject: false,
  });

const lastLine = (text: string | undefined): string => {
  const lines = (text ?? "").split("\n").filter((line) => line.trim() !== "");
  return lines.findLast((line) => /error/i.test(line)) ?? lines.at(-1) ?? "it printed nothing";
};

/** The stores' images, pulled where they are missing; a text says why one cannot be had. */
export async function storeImages(
  docker: Docker,
  say: (text: string) => void,
): Promise<Record<string, ImageFacts | string>> {
  const wanted = stores.flatMap(({ id, image }) =>
    image ? [[id, process.env[image.variable] || image.name] as const] : [],
  );
  const found = await Promise.all(
    wanted.map(async ([id, name]) => [id, await pulled(docker, name, say).catch(messageOf)] as const),
  );
  return Object.fromEntries(found);
}

async function pulled(docker: Docker, name: string, say: (text: string) => void): Promise<ImageFacts> {
  const there = await imageFacts(docker, name);
  if (there) return there;
  say(`pulling ${name}`);
  try {
    const progress = await docker.pull(name);
    await new Promise<void>((resolve, reject) => {
      docker.modem.followProgress(progress, (error: Error | null) => (error ? reject(error) : resolve()));
    });
  } catch (error) {
    throw new Error(`the image ${name} cannot be pulled: ${messageOf(error)}`, { cause: error });
  }
  const facts = await imageFacts(docker, name);
  if (!facts) throw new Error(`the image ${name} cannot be found`);
  return facts;
}

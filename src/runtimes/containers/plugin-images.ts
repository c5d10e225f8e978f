import { createHash } from "node:crypto";
import { cp, mkdtemp, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type Docker from "dockerode";
import { environmentError } from "../../contract/errors.js";
import type { ImageFacts, PluginPlace, RuntimeOptions } from "../types.js";
import { imageFacts } from "./engine.js";
import { type Builder, build, lastLine } from "./images.js";

/**
 * The same images with the plugins in them, each an image of its own that is built from ours: nothing of this machine
 * is mounted. Tagged by what they were built from and by the plugins' bytes.
 * @throws environmentError with the last line of a build that failed
 */
export async function withPlugins(
  docker: Docker,
  builder: Builder,
  own: Readonly<Record<string, ImageFacts>>,
  options: Pick<RuntimeOptions, "plugins" | "workFolder" | "say" | "signal" | "hold">,
): Promise<Record<string, ImageFacts>> {
  const { plugins = [], workFolder, say } = options;
  if (plugins.length === 0) return { ...own };
  const names = plugins.map(({ facts: { name } }) => name).join(", ");
  const bytes = plugins.map(({ facts: { name, sha256 } }) => `${sha256} ${name}`).join("\n");
  const derived: Record<string, ImageFacts> = {};
  for (const [id, base] of Object.entries(own)) {
    const inputs = createHash("sha256").update(`${base.id}\n${bytes}`).digest("hex").slice(0, 12);
    const name = `ratelimit-bench-${id}:${inputs}-plugins`;
    let facts = await imageFacts(docker, name);
    if (!facts) {
      say(`building the image ${name} with ${names}`);
      const context = await mkdtemp(join(workFolder, "image-"));
      await layPlugins(context, base.name, plugins);
      const { failed, all } = await build(builder, ["--tag", name], context, options);
      facts = failed ? undefined : await imageFacts(docker, name);
      await rm(context, { recursive: true, force: true });
      if (!facts) throw environmentError(`${builder.binary} build of ${name} failed: ${lastLine(all)}`);
    }
    derived[id] = facts;
  }
  return derived;
}

/** Fills the folder that the image is built from; everybody may read what nobody can write in a container. */
async function layPlugins(context: string, base: string, plugins: readonly PluginPlace[]): Promise<void> {
  for (const [index, { path, facts }] of plugins.entries()) {
    const place = join(context, "plugins", String(index), facts.name);
    await cp(path, place, { recursive: true, verbatimSymlinks: true });
  }
  const steps = ["USER 0", "COPY plugins /app/plugins", "RUN chmod -R a+rX /app/plugins", "USER 1000:1000"];
  await writeFile(join(context, "Dockerfile"), `${[`FROM ${base}`, ...steps].join("\n")}\n`);
}

/** Where a part in a container finds them: below the project, whose packages a single file may import. */
export const pluginsInImage = (plugins: readonly PluginPlace[] = []): string[] =>
  plugins.map(({ facts }, index) => `/app/plugins/${index}/${facts.name}`);

/**
 * The entry of the plugin that make-plugin.sh makes of one version of a package. Beside it are the
 * harness's adapters (`dist`), the package (`node_modules`), and what they are to become
 * (`side.json`). The adapters are here, so that they load this version and no other.
 */
import { readFileSync } from "node:fs";
import Module, { createRequire } from "node:module";

const read = (file) => JSON.parse(readFileSync(new URL(file, import.meta.url), "utf8"));
const { kind, id, side, name } = read("side.json");
const newId = `${id}-${side}`;
const requireHere = createRequire(import.meta.url);

const adapters = await import(`./dist/targets/${kind}s/index.js`);
const adapter = adapters[`${kind}s`].find((candidate) => candidate.id === id);
if (!adapter) throw new Error(`ratelimit-bench has no ${kind} ${id}`);

/**
 * Gives the package those copies of its peers that the server has loaded. NestJS finds its parts by
 * their classes, which differ from copy to copy.
 */
async function sharePeers(libraries) {
  const { peerDependencies = {} } = requireHere(`${name}/package.json`);
  const requireThere = createRequire(requireHere.resolve(name));
  for (const peer of Object.keys(peerDependencies)) {
    const shared = await libraries.fromFolder(peer).catch(() => undefined);
    if (!shared) continue;
    const path = requireThere.resolve(peer);
    const exports = shared.default ?? shared;
    requireThere.cache[path] = Object.assign(new Module(path), { exports, loaded: true });
  }
}

async function limiterParts() {
  const { ownLibraries } = await import("./dist/targets/libraries.js");
  const { onDemand, applyTo, callOf, ...described } = adapter;
  // What is installed with the web framework has to be the server's copy; the package is ours.
  const sharesServer = onDemand !== undefined && onDemand.name !== adapter.package;

  const apply = (client, topology) => {
    if (!applyTo && client.limiter !== id)
      return { skip: `${client.id} does not support the limiter ${id}` };
    const varied = applyTo ? applyTo(client, topology) : client;
    return "skip" in varied ? varied : { ...varied, limiter: newId };
  };

  const create = async (client, description, limits, keyPrefix, libraries) => {
    if (sharesServer) await sharePeers(libraries);
    const fromFolder = (wanted) =>
      wanted === name || !sharesServer
        ? ownLibraries.fromFolder(wanted)
        : libraries.fromFolder(wanted);
    return adapter.create(client, description, limits, keyPrefix, { ...ownLibraries, fromFolder });
  };

  const limiter = { ...described, id: newId, create, ...(sharesServer ? { onDemand } : {}) };
  const summary = `${adapter.summary ?? id}, as the ${side} has it`;
  return { limiters: [limiter], options: [{ id: newId, summary, apply }] };
}

export default kind === "client" ? { clients: [{ ...adapter, id: newId }] } : await limiterParts();

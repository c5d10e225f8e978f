import { register } from "node:module";

/**
 * Loaded by `--import` into the command line: its local runtime then says that its parts run on several machines, by the
 * kinds of their roles. PLACEMENT is JSON, e.g. `{"generator":"left","server":"right","store":"right"}`. Everything else
 * is as it is on one machine, so these machines are one computer.
 */
const wrapper = `
  import { cpus, release, totalmem } from "node:os";
  import { local } from "./local/local-runtime.js";
  export const runtimeIds = ["local"];
  export const autoRuntimeIds = runtimeIds;
  const placement = JSON.parse(process.env.PLACEMENT);
  const names = [...new Set(Object.values(placement))].sort();
  const machines = names.map((name) => ({
    name,
    operating_system: process.platform,
    kernel: release(),
    cpus: cpus().length,
    memory_bytes: totalmem(),
    engine: "processes",
  }));
  const placed = (runtime) => new Proxy(runtime, {
    get(target, name) {
      if (name === "machines") return machines;
      if (name === "machinesFor") return (kind) => [placement[kind]];
      if (name === "start") return async (part, onBegun) => {
        const machine = part.machine ?? placement[part.kind];
        return target.start(part, (running) => {
          running.machine = machine;
          return onBegun(running);
        });
      };
      const value = target[name];
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
  const several = new Proxy(local, {
    get: (target, name) => name === "open" ? async (options) => placed(await target.open(options)) : target[name],
  });
  export const runtimesFor = () => [several];
`;

const hooks = `
  export async function load(url, context, next) {
    if (!url.endsWith("/dist/runtimes/index.js")) return next(url, context);
    return { format: "module", shortCircuit: true, source: ${JSON.stringify(wrapper)} };
  }
`;
register(`data:text/javascript,${encodeURIComponent(hooks)}`);

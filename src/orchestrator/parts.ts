import type { Configuration } from "../contract/configuration.js";
import { encodeGeneratorEnv, type GeneratorEnv } from "../contract/generator-env.js";
import { encodeProbeEnv, type ProbeAction, type ProbeEnv } from "../contract/probe-env.js";
import { healthSchema } from "../contract/server-api.js";
import { encodeServerEnv, type ServerAssignment } from "../contract/server-env.js";
import type { Part, Place } from "../runtimes/types.js";
import { findStore, findTopology } from "../targets/resolve.js";

const NONE: Readonly<Record<string, string>> = {};

/** A program of this project: the same file under every runtime. */
const ownProgram = (name: string) => ({
  program: "node",
  script: `dist/${name}/index.js`,
  workingFolder: "package" as const,
});

/** The nodes that a target's store needs, primaries first; none for a target without a store process. */
export function storeParts({ target }: Configuration): Part[] {
  const { program, arguments: fair } = findStore(target.store);
  const { primaries, replicas, nodeArguments } = findTopology(target.topology);
  if (!program) return [];
  const clustered = replicas > 0;
  return Array.from({ length: primaries + replicas }, (_, index) => ({
    role: `store-${index + 1}`,
    program,
    workingFolder: "own" as const,
    arguments: ({ host, port, secondPort, folder }: Place) => [
      ...["--port", String(port), "--bind", host, "--dir", folder],
      ...(clustered ? ["--cluster-port", String(secondPort)] : []),
      ...fair,
      ...nodeArguments,
    ],
    environment: () => NONE,
  }));
}

/** The server under test; it is ready when it echoes the run's nonce. */
export function serverPart(
  assignment: ServerAssignment & { access?: Readonly<Record<string, string>> },
): Part {
  const { program, script, workingFolder } = ownProgram("server");
  return {
    role: "server",
    program,
    workingFolder,
    arguments: () => [script],
    environment: ({ host, port }) => ({
      ...encodeServerEnv(assignment),
      ...assignment.access,
      HOST: host,
      PORT: String(port),
    }),
    ready: {
      path: "/healthz",
      accepts: (body) => healthSchema.safeParse(body).data?.run_nonce === assignment.runNonce,
    },
  };
}

export function generatorPart(work: GeneratorEnv): Part {
  const { program, script, workingFolder } = ownProgram("benchmark");
  return {
    role: "generator",
    program,
    workingFolder,
    arguments: () => [script],
    environment: () => encodeGeneratorEnv(work),
  };
}

/** @param access variables with which it gets into a store of somebody else's */
export function probePart(
  probe: Omit<ProbeEnv, "access">,
  actions: readonly ProbeAction[],
  access: Readonly<Record<string, string>> = {},
): Part {
  const { program, script, workingFolder } = ownProgram("probe");
  return {
    role: `probe-${actions.join("-")}`,
    program,
    workingFolder,
    arguments: () => [script, ...actions],
    environment: () => ({ ...encodeProbeEnv(probe), ...access }),
  };
}

import type { Configuration } from "../../contract/configuration.js";
import { encodeGeneratorEnv, type GeneratorEnv } from "../../contract/generator-env.js";
import { encodeVersions } from "../../contract/library-versions.js";
import { encodePlugins } from "../../contract/plugins.js";
import { SERVE } from "../../contract/probe-env.js";
import { healthSchema } from "../../contract/server-api.js";
import { encodeServerEnv, type ServerAssignment } from "../../contract/server-env.js";
import type { Caps, Part, PartAllocation } from "../../runtimes/types.js";
import { findStore, findTopology } from "../../targets/resolve.js";
import { confArguments } from "../../targets/stores/resp.js";

const NO_VARIABLES: Readonly<Record<string, string>> = {};

/** A program of this project; its script has the same path in every runtime. */
const ownProgram = (name: string, image: string) => ({
  program: "node",
  image,
  script: `dist/${name}/index.js`,
  workingFolder: "package" as const,
});

/** The nodes of a target's store, primaries first; none for a target without a store process. */
export function storeParts({ target }: Configuration, caps: Caps = {}): Part[] {
  const store = findStore(target.store);
  const { program } = store;
  const { primaries, replicas, nodeArguments } = findTopology(target.topology);
  if (!program) return [];
  const clustered = replicas > 0;
  const settings = confArguments(store);
  return Array.from({ length: primaries + replicas }, (_, index) => ({
    role: `store-${index + 1}`,
    program,
    image: target.store,
    caps,
    workingFolder: "own" as const,
    arguments: ({ bind, port, secondPort, folder }: PartAllocation) => [
      ...["--port", String(port), "--bind", bind, "--dir", folder],
      ...(clustered ? ["--cluster-port", String(secondPort)] : []),
      ...settings,
      ...nodeArguments,
    ],
    environment: () => NO_VARIABLES,
  }));
}

/** The server under test. It is ready when its health check returns the run's nonce. */
export function serverPart(
  assignment: ServerAssignment & { access?: Readonly<Record<string, string>> },
  caps: Caps = {},
): Part {
  const { script, ...program } = ownProgram("server", "server");
  return {
    role: "server",
    ...program,
    caps,
    arguments: () => [script],
    environment: ({ bind, port, plugins, versions }) => ({
      ...encodeServerEnv(assignment),
      ...assignment.access,
      ...encodePlugins(plugins),
      ...encodeVersions(versions),
      HOST: bind,
      PORT: String(port),
    }),
    ready: {
      path: "/healthz",
      accepts: (body) => healthSchema.safeParse(body).data?.run_nonce === assignment.runNonce,
    },
  };
}

export function generatorPart(work: GeneratorEnv, caps: Caps = {}): Part {
  const { script, ...program } = ownProgram("benchmark", "loadtest");
  return {
    role: "generator",
    ...program,
    caps,
    arguments: () => [script],
    environment: ({ plugins }) => ({ ...encodeGeneratorEnv(work), ...encodePlugins(plugins) }),
  };
}

/**
 * The probe, which reads requests from its standard input.
 * @param access the variables that give access to an external store
 */
export function probePart(access: Readonly<Record<string, string>> = NO_VARIABLES): Part {
  const { script, ...program } = ownProgram("probe", "server");
  return {
    role: "probe",
    ...program,
    interactive: true,
    arguments: () => [script, SERVE],
    environment: () => access,
  };
}

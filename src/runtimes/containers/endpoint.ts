import { existsSync } from "node:fs";
import { join } from "node:path";
import type Docker from "dockerode";
import { execa } from "execa";
import { MAX_SETTING_BYTES, readUserFile } from "../../contract/user-files.js";
import { type EngineConnection, engineAt } from "./engine.js";
import type { Builder } from "./images.js";
import { openSshTunnel } from "./ssh-tunnel.js";

export interface EngineAccess {
  connection: EngineConnection;
  builder: Builder;
  close(): Promise<void>;
}

export interface Endpoint {
  /** `unix://`, `tcp://` or `ssh://`, or the name of a Docker context. */
  docker: string;
  /** Folder with `ca.pem`, `cert.pem` and `key.pem`, for `tcp://`. */
  tls?: string | undefined;
}

/** DOCKER_HOST and what belongs to it would otherwise fill in what an endpoint does not name. */
const NOTHING_FROM_ENVIRONMENT = {
  host: undefined,
  port: undefined,
  socketPath: undefined,
  ca: undefined,
  cert: undefined,
  key: undefined,
  protocol: "http",
} as unknown as Docker.DockerOptions;

export const socketAt = (socketPath: string, name: string): Promise<EngineConnection> =>
  engineAt({ ...NOTHING_FROM_ENVIRONMENT, socketPath }, name);

export async function connectTo({ docker, tls }: Endpoint, name: string): Promise<EngineAccess> {
  if (!docker.includes("://")) return connectTo(await contextEndpoint(docker), name);
  if (docker.startsWith("unix://")) {
    return accessTo(await socketAt(docker.slice("unix://".length), name), { DOCKER_HOST: docker });
  }
  if (docker.startsWith("ssh://")) {
    const { socketPath, close } = await openSshTunnel(docker).catch((error) => {
      throw new Error(`${name} cannot be reached: ${error.message}`, { cause: error });
    });
    const host = { DOCKER_HOST: `unix://${socketPath}` };
    return accessTo(await socketAt(socketPath, name), host, close);
  }
  if (!docker.startsWith("tcp://")) throw new Error(`${name}: ${docker} is no address of an engine`);
  const { hostname, port } = new URL(docker);
  const address = {
    ...NOTHING_FROM_ENVIRONMENT,
    host: hostname,
    port: port || (tls ? "2376" : "2375"),
    ...(tls ? { protocol: "https" as const, ...certificates(tls) } : {}),
  };
  return accessTo(await engineAt(address, name), {
    DOCKER_HOST: docker,
    ...(tls ? { DOCKER_TLS_VERIFY: "1", DOCKER_CERT_PATH: tls } : {}),
  });
}

/** @param environment in which the Docker command finds the same engine */
export function accessTo(
  connection: EngineConnection,
  environment: Builder["environment"],
  close = async () => {},
): EngineAccess {
  return {
    connection,
    builder: { binary: "docker", environment },
    async close() {
      connection.close();
      await close();
    },
  };
}

function certificates(folder: string): Pick<Docker.DockerOptions, "ca" | "cert" | "key"> {
  const read = (file: string): string => readUserFile(join(folder, file), MAX_SETTING_BYTES).toString("utf8");
  return { ca: read("ca.pem"), cert: read("cert.pem"), key: read("key.pem") };
}

const FORMAT = '{"host":{{json .Endpoints.docker.Host}},"folder":{{json .Storage.TLSPath}}}';

/** The endpoint of a Docker context; absent: the current one. @throws Error without such a context */
async function contextEndpoint(context?: string): Promise<Endpoint> {
  const { stdout, failed } = await execa(
    "docker",
    ["context", "inspect", "--format", FORMAT, ...(context === undefined ? [] : ["--", context])],
    { reject: false, timeout: 10_000, stdin: "ignore" },
  );
  if (failed) throw new Error(`there is no Docker context ${context ?? ""}: see docker context ls`);
  const { host, folder } = JSON.parse(stdout) as { host: string; folder: string };
  const tls = join(folder, "docker");
  return { docker: host, ...(existsSync(join(tls, "ca.pem")) ? { tls } : {}) };
}

/** The user's current Docker endpoint: that of DOCKER_HOST, else of the current context. */
export async function connectToCurrent(name: string): Promise<EngineAccess> {
  const { DOCKER_HOST: host } = process.env;
  if (host?.startsWith("ssh://")) return connectTo({ docker: host }, name);
  const endpoint = host ? undefined : await contextEndpoint().catch(() => undefined);
  // The library itself reads DOCKER_HOST and the variables that belong to it, and knows the default socket.
  return endpoint ? connectTo(endpoint, name) : accessTo(await engineAt({}, name), {});
}

import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import type Docker from "dockerode";
import { execa } from "execa";
import { definedOnly } from "../../kit/defined-only.js";
import { MAX_SETTING_BYTES, readUserFile } from "../../kit/user-files.js";
import { recordService, serviceFolder } from "../processes.js";
import { type EngineConnection, engineAt } from "./container-engine.js";
import type { Builder } from "./image-builds.js";

const CONNECTS_WITHIN_S = 10;
export const SSH_TUNNEL = { prefix: "ratelimit-bench-ssh-", what: "the ssh tunnel" };
/** The engine's socket, unless an address names another. */
const DEFAULT_SOCKET = "/var/run/docker.sock";

/**
 * Opens a tunnel by the user's own `ssh`, whose configuration, keys and known hosts apply. It asks
 * nothing, and ends with this process.
 * @param address an address such as `ssh://[user@]host[:port][/path/of/the/socket]`
 * @throws Error with the message of `ssh`
 */
async function openSshTunnel(address: string) {
  const { hostname, port, username, pathname } = new URL(address);
  const folder = await serviceFolder(SSH_TUNNEL);
  const socketPath = join(folder, "docker.sock");
  const remote =
    pathname === "" || pathname === "/" ? DEFAULT_SOCKET : decodeURIComponent(pathname);
  const options = {
    BatchMode: "yes",
    ConnectTimeout: CONNECTS_WITHIN_S,
    ControlPath: "none",
    ExitOnForwardFailure: "yes",
    ServerAliveInterval: 5,
    ServerAliveCountMax: 3,
  };
  const words = [
    ...Object.entries(options).flatMap(([name, value]) => ["-o", `${name}=${value}`]),
    "-T",
    "-L",
    `${socketPath}:${remote}`,
  ];
  if (port) words.push("-p", port);
  if (username) words.push("-l", decodeURIComponent(username));
  // The remote command repeats its input, which shows that the tunnel stands, and ends with its
  // input, which this process holds.
  words.push("--", hostname.replace(/^\[(.*)\]$/, "$1"), "cat");

  // The tunnel has its own process group, because Ctrl-C in the terminal must only reach the
  // orchestrator, which needs the tunnel for the clean-up.
  const ssh = execa("ssh", words, {
    reject: false,
    stdin: "pipe",
    detached: true,
    buffer: { stdout: false },
  });
  const close = async (): Promise<void> => {
    ssh.stdin?.end();
    ssh.kill();
    await ssh;
    await rm(folder, { recursive: true, force: true });
  };
  if (ssh.pid !== undefined) await recordService(folder, ssh.pid);
  const repeated = new Promise<true>((resolve) => ssh.stdout?.once("data", () => resolve(true)));
  ssh.stdin?.on("error", () => {});
  ssh.stdin?.write("\n");
  const isOpen = await Promise.race([repeated, ssh.then(() => false)]);
  if (!isOpen) {
    const { stderr, shortMessage } = await ssh;
    await close();
    const lastLine = stderr?.trim().split("\n").at(-1);
    throw new Error(`no connection by ssh: ${lastLine || shortMessage || "ssh said nothing"}`);
  }
  return { socketPath, close };
}

export interface EngineAccess {
  connection: EngineConnection;
  builder: Builder;
  close(): Promise<void>;
}

interface Endpoint {
  /** An address with `unix://`, `tcp://` or `ssh://`, or the name of a Docker context. */
  docker: string;
  /** The folder with `ca.pem`, `cert.pem` and `key.pem`, for `tcp://`. */
  tls?: string | undefined;
}

/** Options that keep DOCKER_HOST and its variables from filling in what an endpoint leaves out. */
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
  if (docker.startsWith("unix://"))
    return accessTo(await socketAt(docker.slice("unix://".length), name), { DOCKER_HOST: docker });
  if (docker.startsWith("ssh://")) {
    const { socketPath, close } = await openSshTunnel(docker).catch((error) => {
      throw new Error(`${name} cannot be reached: ${error.message}`, { cause: error });
    });
    const host = { DOCKER_HOST: `unix://${socketPath}` };
    return accessTo(await socketAt(socketPath, name), host, close);
  }
  if (!docker.startsWith("tcp://"))
    throw new Error(`${name}: ${docker} is no address of an engine`);
  const { hostname, port } = new URL(docker);
  const address = { ...NOTHING_FROM_ENVIRONMENT, host: hostname, port: port || "2375" };
  if (!tls) return accessTo(await engineAt(address, name), { DOCKER_HOST: docker });

  const secureAddress = {
    ...address,
    port: port || "2376",
    protocol: "https" as const,
    ...certificates(tls),
  };
  return accessTo(await engineAt(secureAddress, name), {
    DOCKER_HOST: docker,
    DOCKER_TLS_VERIFY: "1",
    DOCKER_CERT_PATH: tls,
  });
}

/** @param environment the variables by which the Docker command finds the same engine */
function accessTo(
  connection: EngineConnection,
  environment: Builder["environment"],
  close = async () => {},
) {
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
  const read = (file: string): string =>
    readUserFile(join(folder, file), MAX_SETTING_BYTES).toString("utf8");
  return { ca: read("ca.pem"), cert: read("cert.pem"), key: read("key.pem") };
}

const FORMAT = '{"host":{{json .Endpoints.docker.Host}},"folder":{{json .Storage.TLSPath}}}';

/**
 * The endpoint of a Docker context, which is the current one without a name.
 * @throws Error where there is no such context
 */
async function contextEndpoint(context?: string): Promise<Endpoint> {
  const words = ["context", "inspect", "--format", FORMAT];
  if (context !== undefined) words.push("--", context);
  const options = { reject: false, timeout: 10_000, stdin: "ignore" } as const;
  const { stdout, failed } = await execa("docker", words, options);
  if (failed) throw new Error(`there is no Docker context ${context ?? ""}: see docker context ls`);
  const { host, folder } = JSON.parse(stdout) as { host: string; folder: string };
  const tls = join(folder, "docker");
  return definedOnly({ docker: host, tls: existsSync(join(tls, "ca.pem")) ? tls : undefined });
}

/**
 * The endpoint of the current context; undefined where there is none.
 * @throws Error where the user names a context that does not exist
 */
const currentContext = (named: string | undefined): Promise<Endpoint | undefined> =>
  named ? contextEndpoint(named) : contextEndpoint().catch(() => undefined);

/** The user's current Docker endpoint, which DOCKER_HOST or else the current context names. */
export async function connectToCurrent(name: string): Promise<EngineAccess> {
  const { DOCKER_HOST: host } = process.env;
  if (host?.startsWith("ssh://")) return connectTo({ docker: host }, name);
  const endpoint = host ? undefined : await currentContext(process.env.DOCKER_CONTEXT);
  // The library itself reads DOCKER_HOST and the variables that belong to it, and knows the default
  // socket.
  return endpoint ? connectTo(endpoint, name) : accessTo(await engineAt({}, name), {});
}

import { rm } from "node:fs/promises";
import { join } from "node:path";
import { execa } from "execa";
import { recordService, serviceFolder } from "../helper-service.js";

const CONNECTS_WITHIN_S = 10;
export const SSH_TUNNEL = { prefix: "ratelimit-bench-ssh-", what: "the ssh tunnel" };
/** The engine's socket, unless the address names another. */
const DEFAULT_SOCKET = "/var/run/docker.sock";

/**
 * By the user's own `ssh`: its configuration, keys and known hosts apply, it asks nothing, and ends with this process.
 * @param address `ssh://[user@]host[:port][/path/of/the/socket]` @throws Error with what `ssh` says
 */
export async function openSshTunnel(address: string) {
  const { hostname, port, username, pathname } = new URL(address);
  const folder = await serviceFolder(SSH_TUNNEL);
  const socketPath = join(folder, "docker.sock");
  const remote = pathname === "" || pathname === "/" ? DEFAULT_SOCKET : decodeURIComponent(pathname);
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
    ...["-T", "-L", `${socketPath}:${remote}`],
    ...(port ? ["-p", port] : []),
    ...(username ? ["-l", decodeURIComponent(username)] : []),
    // It repeats its input, which tells that the tunnel stands, and ends with its input, which this process holds.
    ...["--", hostname.replace(/^\[(.*)\]$/, "$1"), "cat"],
  ];
  // In a group of its own: Ctrl-C in the terminal must only reach the orchestrator, which needs it for the clean-up.
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
  const stands = await Promise.race([repeated, ssh.then(() => false)]);
  if (!stands) {
    const { stderr, shortMessage } = await ssh;
    await close();
    const said = stderr?.trim().split("\n").at(-1);
    throw new Error(`no connection by ssh: ${said || shortMessage || "ssh said nothing"}`);
  }
  return { socketPath, close };
}

import { z } from "zod";

/** Several machines: how a runtime reaches them, and what it says of them. */

/**
 * The kinds of roles that a user can place. A service runs beside the store, and a helper where
 * there is room.
 */
export const placedKinds = ["store", "server", "generator"] as const;
export type PlacedKind = (typeof placedKinds)[number];

/** How a campaign reaches a Kubernetes, and where it places its roles. */
export const kubernetesAccessSchema = z.strictObject({
  /** A context of the kubeconfig. It defaults to the current one. */
  context: z.string().optional(),
  /** The namespace. It defaults to that of the context. */
  namespace: z.string().optional(),
  nodes: z.partialRecord(z.enum(placedKinds), z.string()),
  host_network: z.boolean().optional(),
  /**
   * Registry of the project's images, e.g. `registry.example.org/bench`. It is absent where the
   * nodes have them already.
   */
  registry: z.string().optional(),
});
export type KubernetesAccess = z.infer<typeof kubernetesAccessSchema>;

export const dockerHostSchema = z.strictObject({
  name: z.string(),
  /** An address with `unix://`, `tcp://` or `ssh://`, or the name of a Docker context. */
  docker: z.string(),
  address: z.string(),
  /** Folder with `ca.pem`, `cert.pem` and `key.pem`, for `tcp://`. */
  tls: z.string().optional(),
  /**
   * The kinds of roles on this machine. Several machines may serve a kind, whose roles are spread
   * over them.
   */
  roles: z.array(z.enum(placedKinds)).min(1),
});
export type DockerHost = z.infer<typeof dockerHostSchema>;

export const dockerHostsSchema = z.strictObject({
  /** `host`, or the name of an attachable overlay network that exists. */
  network: z.string(),
  hosts: z.array(dockerHostSchema).min(1),
});
export type DockerHosts = z.infer<typeof dockerHostsSchema>;

/**
 * How a campaign reaches its machines. Its lease records it, so that the next start can clean up
 * there.
 */
export const runtimeAccessSchema = z.strictObject({
  kubernetes: kubernetesAccessSchema.optional(),
  docker: dockerHostsSchema.optional(),
});
export type RuntimeAccess = z.infer<typeof runtimeAccessSchema>;

export const runtimeMachineSchema = z.strictObject({
  name: z.string(),
  operating_system: z.string(),
  kernel: z.string(),
  cpus: z.number(),
  memory_bytes: z.number(),
  /** The engine of its containers, e.g. `Docker 28.0.1` or `kubelet v1.34.4, containerd 2.1`. */
  engine: z.string(),
});
export type RuntimeMachine = z.infer<typeof runtimeMachineSchema>;

const us = z.number().min(0);

/** What lies between two machines of a campaign, measured just before its first run. */
export const machineLinkSchema = z.strictObject({
  /** Names of two machines; `there` is from the first to the second. */
  between: z.tuple([z.string(), z.string()]),
  /** Round trips of 64 bytes over one TCP connection, from both ends. */
  round_trip_us: z.strictObject({ p50: us, p90: us, count: z.int().min(1) }),
  /**
   * The rate over several TCP connections, which is a lower bound for a fast link. It is absent
   * where a cap held the program back.
   */
  bits_per_second: z
    .strictObject({ there: z.number().positive(), back: z.number().positive() })
    .optional(),
});
export type MachineLink = z.infer<typeof machineLinkSchema>;

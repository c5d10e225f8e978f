import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Duplex } from "node:stream";
import type * as Kubernetes from "@kubernetes/client-node";
import { onTestFinished } from "vitest";
import { type WebSocket, WebSocketServer } from "ws";
import { ROOT } from "./programs.js";

/**
 * A small Kubernetes without a cluster: the part of the API that the harness uses, over HTTP, and a kubelet whose pods are
 * processes of this machine. It keeps what a real API server promises there (recorded from Kubernetes 1.34): statuses,
 * refusals, watches, logs, exec over a WebSocket, and the removal of what a deleted ConfigMap owned. Images are not
 * used: the command of a pod runs here, in its own folder, to which the paths of its mounts lead.
 */

type Json = Record<string, unknown>;

/** What becomes of a new pod: it runs, it waits for ever as the status says, or the request is refused. */
export type PodPlan =
  | { is: "run" }
  | { is: "unschedulable"; message: string }
  | { is: "waiting"; reason: string; message: string }
  | { is: "refused"; code: number; message: string };

interface FakePod {
  object: Kubernetes.V1Pod & { metadata: Kubernetes.V1ObjectMeta; spec: Kubernetes.V1PodSpec };
  folder: string;
  process?: ChildProcess;
  log: Buffer;
  /** Answers that follow the log. */
  readers: Set<ServerResponse>;
  /** What runs in it by exec. */
  executed: Set<ChildProcess>;
}

interface Watcher {
  response: ServerResponse;
  namespace: string;
  selector: string;
}

class Refusal extends Error {
  readonly code: number;
  readonly reason: string;

  constructor(code: number, reason: string, message: string) {
    super(message);
    this.code = code;
    this.reason = reason;
  }
}

const notFound = (kind: string, name: string): Refusal =>
  new Refusal(404, "NotFound", `${kind} "${name}" not found`);

const USER = "system:serviceaccount:bench:ratelimit-bench";

export class FakeKubernetes {
  readonly #server = createServer((request, response) => void this.#answer(request, response));
  readonly #sockets = new Set<Socket>();
  readonly #webSockets = new WebSocketServer({
    noServer: true,
    // As the API server: the first that both know.
    handleProtocols: (offered) => [...offered][0] ?? false,
  });
  readonly #folder = mkdtempSync(join(tmpdir(), "fake-kubernetes-"));
  readonly #pods = new Map<string, FakePod>();
  readonly #configMaps = new Map<string, Kubernetes.V1ConfigMap & { metadata: Kubernetes.V1ObjectMeta }>();
  readonly #events: Json[] = [];
  readonly #watchers = new Set<Watcher>();
  #version = 1;
  #address = 2;

  /** Rights that the user does not have, e.g. `get pods/exec`. */
  readonly refused = new Set<string>();
  /** Rights that were used, as a server sees them. Dry runs are included, reviews are not. */
  readonly used = new Set<string>();
  /** Namespaces that exist; those that are being deleted accept nothing new. */
  readonly namespaces = new Map<string, "active" | "terminating">([["bench", "active"]]);
  readonly nodes = ["node1", "node2"];
  /** What becomes of a new pod. */
  planOf: (pod: Kubernetes.V1Pod) => PodPlan = () => ({ is: "run" });
  /** Requests are accepted and never answered. */
  isFrozen = false;
  /** Credentials are not accepted. */
  isExpired = false;
  /** A log keeps so many bytes, as after rotation. */
  mostLogBytes = Number.POSITIVE_INFINITY;
  gitVersion = "v1.34.4";

  private constructor() {
    this.#server.on("connection", (socket: Socket) => {
      this.#sockets.add(socket);
      socket.once("close", () => this.#sockets.delete(socket));
    });
    this.#server.on("upgrade", (request, socket, head) => this.#upgrade(request, socket, head));
  }

  /** Runs until the test has finished. */
  static async start(): Promise<FakeKubernetes> {
    const fake = new FakeKubernetes();
    await new Promise<void>((resolve) => fake.#server.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => fake.stop());
    return fake;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Path of a kubeconfig whose current context is `fake`, of the namespace `bench`. */
  get kubeconfig(): string {
    const path = join(this.#folder, "kubeconfig");
    const document = {
      apiVersion: "v1",
      kind: "Config",
      clusters: [{ name: "fake", cluster: { server: this.url, "insecure-skip-tls-verify": true } }],
      users: [{ name: "fake", user: { token: "t" } }],
      contexts: [{ name: "fake", context: { cluster: "fake", user: "fake", namespace: "bench" } }],
      "current-context": "fake",
    };
    writeFileSync(path, JSON.stringify(document));
    return path;
  }

  /** Names of all pods and ConfigMaps that exist, each with its kind. */
  get everything(): string[] {
    return [
      ...[...this.#pods.keys()].map((key) => `pod ${key}`),
      ...[...this.#configMaps.keys()].map((key) => `configmap ${key}`),
    ].sort();
  }

  podNames(): string[] {
    return [...this.#pods.values()].map(({ object }) => object.metadata.name ?? "");
  }

  /** Adds a pod of somebody else's, which does nothing. */
  addForeignPod(name: string, labels: Record<string, string> = {}): void {
    const metadata = { name, namespace: "bench", labels, uid: randomUUID() };
    const object = { metadata, spec: { containers: [] }, status: { phase: "Running" } };
    this.#pods.set(`bench/${name}`, this.#newPod(object));
  }

  /** Kills a pod's processes as the kernel does where memory is short: the pod fails with that reason. */
  killForMemory(name: string): void {
    const pod = this.#podOf("bench", name);
    pod.process?.removeAllListeners("exit");
    endGroup(pod.process);
    this.#terminated(pod, 137, "OOMKilled");
  }

  /** A node is lost: its pods end, and the cluster only knows that they are not ready. */
  loseNode(node: string): void {
    for (const pod of this.#pods.values()) {
      if (pod.object.spec.nodeName !== node) continue;
      pod.process?.removeAllListeners("exit");
      endGroup(pod.process);
      for (const process of pod.executed) endGroup(process);
      pod.object.status = {
        ...pod.object.status,
        conditions: [{ type: "Ready", status: "False" }],
      };
      this.#event(pod, "NodeNotReady", "Node is not ready");
      this.#changed("MODIFIED", pod);
    }
  }

  /** All of the namespace is gone, and the namespace itself. */
  removeNamespace(namespace: string): void {
    for (const [key, pod] of this.#pods) if (key.startsWith(`${namespace}/`)) this.#remove(pod);
    for (const key of this.#configMaps.keys())
      if (key.startsWith(`${namespace}/`)) this.#configMaps.delete(key);
    this.namespaces.delete(namespace);
  }

  async stop(): Promise<void> {
    for (const pod of this.#pods.values()) this.#remove(pod);
    for (const socket of this.#sockets) socket.destroy();
    this.#webSockets.close();
    await new Promise((resolve) => this.#server.close(resolve));
    rmSync(this.#folder, { recursive: true, force: true });
  }

  // ---- requests

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let text = "";
    for await (const chunk of request) text += chunk;
    if (this.isFrozen) return;
    const url = new URL(request.url ?? "", this.url);
    try {
      const body = text === "" ? {} : (JSON.parse(text) as Json);
      const answer = this.#route(request.method ?? "GET", url, body, response);
      if (answer !== undefined) send(response, answer.code ?? 200, answer.body);
    } catch (error) {
      const { code = 500, reason = "InternalError", message } = error as Refusal;
      send(response, code, { kind: "Status", apiVersion: "v1", status: "Failure", message, reason, code });
    }
  }

  /** @returns undefined where the answer goes on, as that of a watch does */
  #route(
    method: string,
    url: URL,
    body: Json,
    response: ServerResponse,
  ): { code?: number; body: unknown } | undefined {
    if (this.isExpired) throw new Refusal(401, "Unauthorized", "Unauthorized");
    const path = url.pathname;
    if (path === "/version" || path === "/version/")
      return { body: { gitVersion: this.gitVersion, major: "1", minor: "34" } };
    if (path.endsWith("/selfsubjectaccessreviews")) return { code: 201, body: this.#review(body) };
    if (path.endsWith("/selfsubjectreviews"))
      return { code: 201, body: { ...body, status: { userInfo: { username: USER } } } };
    const [, namespace = "", resource = "", name, subresource] =
      /^\/api\/v1\/namespaces\/([^/]+)\/([^/]+)(?:\/([^/]+)(?:\/([^/]+))?)?$/.exec(path) ?? [];
    if (resource === "") {
      this.#require("list", path.split("/").at(-1) ?? "");
      throw notFound("resource", path);
    }
    const watches = url.searchParams.get("watch") === "true";
    const verb =
      method === "POST"
        ? "create"
        : method === "DELETE"
          ? "delete"
          : watches
            ? "watch"
            : name === undefined
              ? "list"
              : "get";
    this.#require(verb, subresource === undefined ? resource : `${resource}/${subresource}`);
    const selector = url.searchParams.get("labelSelector") ?? "";
    switch (`${verb} ${resource}${subresource ? `/${subresource}` : ""}`) {
      case "create pods":
        return { code: 201, body: this.#createPod(namespace, body, url.searchParams.has("dryRun")) };
      case "list pods":
        return { body: { items: this.#selected(namespace, selector).map(({ object }) => object) } };
      case "watch pods":
        return this.#watch(namespace, selector, response);
      case "get pods":
        return { body: this.#podOf(namespace, name).object };
      case "delete pods":
        return { body: this.#deletePod(namespace, name, body) };
      case "get pods/log":
        return this.#log(this.#podOf(namespace, name), url, response);
      case "create configmaps":
        return { code: 201, body: this.#createConfigMap(namespace, body) };
      case "list configmaps":
        return {
          body: {
            items: [...this.#configMaps.values()].filter(
              ({ metadata }) => metadata.namespace === namespace && matches(metadata.labels ?? {}, selector),
            ),
          },
        };
      case "delete configmaps":
        return { body: this.#deleteConfigMap(namespace, name) };
      case "list events": {
        const [, pod] =
          /involvedObject\.name=([^,]+)/.exec(url.searchParams.get("fieldSelector") ?? "") ?? [];
        return {
          body: {
            items: this.#events.filter(
              ({ involvedObject }) => pod === undefined || (involvedObject as Json).name === pod,
            ),
          },
        };
      }
    }
    throw notFound("resource", path);
  }

  #require(verb: string, resource: string): void {
    this.used.add(`${verb} ${resource}`);
    if (!this.refused.has(`${verb} ${resource}`) && resource !== "nodes") return;
    const [plain = "", subresource] = resource.split("/");
    const what = subresource === undefined ? plain : `${plain}/${subresource}`;
    throw new Refusal(
      403,
      "Forbidden",
      `${plain} is forbidden: User "${USER}" cannot ${verb} resource "${what}" in API group "" in the namespace "bench"`,
    );
  }

  #review(body: Json): Json {
    const { resourceAttributes = {} } = body.spec as { resourceAttributes?: Record<string, string> };
    const { verb, resource, subresource } = resourceAttributes;
    const use = `${verb} ${resource}${subresource ? `/${subresource}` : ""}`;
    return { ...body, status: { allowed: !this.refused.has(use) } };
  }

  #requireNamespace(namespace: string, name: string): void {
    const state = this.namespaces.get(namespace);
    if (state === undefined) throw notFound("namespaces", namespace);
    if (state === "terminating") {
      const why = `unable to create new content in namespace ${namespace} because it is being terminated`;
      throw new Refusal(403, "Forbidden", `"${name}" is forbidden: ${why}`);
    }
  }

  // ---- ConfigMaps

  #createConfigMap(namespace: string, body: Json): Kubernetes.V1ConfigMap {
    const metadata = { ...(body.metadata as Kubernetes.V1ObjectMeta), namespace, uid: randomUUID() };
    this.#requireNamespace(namespace, metadata.name ?? "");
    const map = { ...body, metadata };
    this.#configMaps.set(`${namespace}/${metadata.name}`, map);
    return map;
  }

  /** What it owns goes with it, a moment later. */
  #deleteConfigMap(namespace: string, name = ""): Json {
    const map = this.#configMaps.get(`${namespace}/${name}`);
    if (!map) throw notFound("configmaps", name);
    this.#configMaps.delete(`${namespace}/${name}`);
    const isOwned = ({ metadata }: { metadata: Kubernetes.V1ObjectMeta }) =>
      metadata.ownerReferences?.some(({ uid }) => uid === map.metadata.uid);
    setImmediate(() => {
      for (const pod of this.#pods.values()) if (isOwned(pod.object)) this.#remove(pod);
      for (const [key, other] of this.#configMaps) if (isOwned(other)) this.#configMaps.delete(key);
    });
    return { kind: "Status", status: "Success" };
  }

  // ---- pods

  #newPod(object: FakePod["object"]): FakePod {
    const folder = mkdtempSync(join(this.#folder, "pod-"));
    return { object, folder, log: Buffer.alloc(0), readers: new Set(), executed: new Set() };
  }

  #podOf(namespace: string, name = ""): FakePod {
    const pod = this.#pods.get(`${namespace}/${name}`);
    if (!pod) throw notFound("pods", name);
    return pod;
  }

  #createPod(namespace: string, body: Json, isDryRun: boolean): Json {
    const given = body.metadata as Kubernetes.V1ObjectMeta;
    const name = given.name ?? `${given.generateName}${randomUUID().slice(0, 5)}`;
    this.#requireNamespace(namespace, name);
    const plan = this.planOf(body as unknown as Kubernetes.V1Pod);
    if (plan.is === "refused") throw new Refusal(plan.code, "Forbidden", plan.message);
    if (this.#pods.has(`${namespace}/${name}`))
      throw new Refusal(409, "AlreadyExists", `pods "${name}" already exists`);
    const metadata = { ...given, name, namespace, uid: randomUUID(), creationTimestamp: new Date() };
    const object = {
      ...body,
      metadata,
      spec: { ...(body.spec as Kubernetes.V1PodSpec) },
      status: { phase: "Pending" } as Kubernetes.V1PodStatus,
    };
    if (isDryRun) return object;
    const pod = this.#newPod(object);
    this.#pods.set(`${namespace}/${name}`, pod);
    this.#changed("ADDED", pod);
    setImmediate(() => this.#begin(pod, plan));
    return { ...object };
  }

  #begin(pod: FakePod, plan: PodPlan): void {
    const { object } = pod;
    const [container] = object.spec.containers;
    if (!container) return;
    if (plan.is === "unschedulable") {
      const condition = { type: "PodScheduled", status: "False", reason: "Unschedulable" };
      object.status = { phase: "Pending", conditions: [{ ...condition, message: plan.message }] };
      this.#event(pod, "FailedScheduling", plan.message);
      this.#changed("MODIFIED", pod);
      return;
    }
    object.spec.nodeName = this.nodes[this.#address % this.nodes.length] ?? "node1";
    const base = { name: container.name, image: container.image ?? "", restartCount: 0 };
    if (plan.is === "waiting") {
      const { reason, message } = plan;
      const waiting = { ...base, imageID: "", ready: false, state: { waiting: { reason, message } } };
      object.status = { phase: "Pending", conditions: [], containerStatuses: [waiting] };
      this.#event(pod, "Failed", `Error: ${reason}`);
      this.#changed("MODIFIED", pod);
      return;
    }
    // Every address of 127.0.0.0/8 is this machine: each pod has one of its own.
    const podIP = `127.0.1.${this.#address++}`;
    const running = { running: { startedAt: new Date() } };
    object.status = {
      phase: "Running",
      podIP,
      podIPs: [{ ip: podIP }],
      hostIP: "127.0.0.1",
      startTime: new Date(),
      conditions: [{ type: "Ready", status: "True" }],
      containerStatuses: [
        { ...base, imageID: `sha256:${"0".repeat(64)}`, ready: true, started: true, state: running },
      ],
    };
    this.#mount(pod);
    pod.process = this.#spawn(pod, [...(container.command ?? []), ...(container.args ?? [])]);
    const keep = (chunk: Buffer) => this.#logged(pod, chunk);
    pod.process.stdout?.on("data", keep);
    pod.process.stderr?.on("data", keep);
    pod.process.once("exit", (code, signal) =>
      // The rest of its output comes first.
      setImmediate(() =>
        this.#terminated(pod, signal === null ? (code ?? 0) : 137, code === 0 ? "Completed" : "Error"),
      ),
    );
    this.#changed("MODIFIED", pod);
  }

  /** Where the mounts of a pod are here. */
  #mountFolders(pod: FakePod): [mountPath: string, folder: string][] {
    const mounts = pod.object.spec.containers[0]?.volumeMounts ?? [];
    return mounts
      .map(({ mountPath, name }): [string, string] => [mountPath, join(pod.folder, name)])
      .sort(([one], [other]) => other.length - one.length);
  }

  #mount(pod: FakePod): void {
    for (const [, folder] of this.#mountFolders(pod)) mkdirSync(folder, { recursive: true });
    for (const { name, configMap } of pod.object.spec.volumes ?? []) {
      if (!configMap) continue;
      const map = this.#configMaps.get(`${pod.object.metadata.namespace}/${configMap.name}`);
      const all = { ...map?.data, ...map?.binaryData };
      const items = configMap.items ?? Object.keys(all).map((key) => ({ key, path: key }));
      for (const { key, path } of items) {
        const file = join(pod.folder, name, path);
        mkdirSync(dirname(file), { recursive: true });
        const binary = map?.binaryData?.[key];
        writeFileSync(file, binary === undefined ? (map?.data?.[key] ?? "") : Buffer.from(binary, "base64"));
      }
    }
  }

  /** A text of the pod with the paths of its mounts as they are here. */
  #here(pod: FakePod, text: string): string {
    const folders = new Map(this.#mountFolders(pod));
    if (folders.size === 0) return text;
    const paths = [...folders.keys()].map((path) => path.replaceAll(/[^\w/]/g, "\\$&"));
    return text.replaceAll(
      new RegExp(`(?<![\\w/])(?:${paths.join("|")})(?![\\w-])`, "g"),
      (path) => folders.get(path) ?? path,
    );
  }

  #spawn(pod: FakePod, command: readonly string[], isExec = false): ChildProcess {
    const [container] = pod.object.spec.containers;
    const environment: Record<string, string> = {};
    // `$(NAME)` is a variable before it, `$$` is a `$`.
    const expand = (text: string): string =>
      this.#here(pod, text).replaceAll(/\$\$|\$\((\w+)\)/g, (whole, name: string | undefined) =>
        name === undefined ? "$" : (environment[name] ?? whole),
      );
    for (const { name, value = "", valueFrom } of container?.env ?? []) {
      const isAddress = valueFrom?.fieldRef?.fieldPath === "status.podIP";
      environment[name] = isAddress ? (pod.object.status?.podIP ?? "") : expand(value);
    }
    const expanded = isExec ? command.map((word) => this.#here(pod, word)) : command.map(expand);
    const [program = "", ...parameters] = expanded;
    const child = spawn(program, parameters, {
      // An image of this project works in its package.
      cwd: container?.workingDir === undefined ? ROOT : this.#here(pod, container.workingDir),
      env: { PATH: process.env.PATH, ...environment },
      detached: true,
    });
    child.on("error", () => {});
    child.stdin?.on("error", () => {});
    return child;
  }

  #terminated(pod: FakePod, exitCode: number, reason: string): void {
    const status = pod.object.status;
    const [container] = status?.containerStatuses ?? [];
    if (!status || !container) return;
    const terminated = { exitCode, reason, finishedAt: new Date() };
    pod.object.status = {
      ...status,
      phase: exitCode === 0 ? "Succeeded" : "Failed",
      conditions: [{ type: "Ready", status: "False", reason: exitCode === 0 ? "PodCompleted" : "PodFailed" }],
      containerStatuses: [{ ...container, ready: false, started: false, state: { terminated } }],
    };
    for (const reader of pod.readers) reader.end();
    for (const process of pod.executed) endGroup(process);
    this.#changed("MODIFIED", pod);
  }

  #deletePod(namespace: string, name: string | undefined, body: Json): Kubernetes.V1Pod {
    const pod = this.#podOf(namespace, name);
    const { uid } = (body.preconditions ?? {}) as { uid?: string };
    if (uid !== undefined && uid !== pod.object.metadata.uid)
      throw new Refusal(409, "Conflict", `the UID in the precondition does not match`);
    this.#remove(pod);
    return pod.object;
  }

  #remove(pod: FakePod): void {
    const { metadata } = pod.object;
    if (!this.#pods.delete(`${metadata.namespace}/${metadata.name}`)) return;
    pod.process?.removeAllListeners("exit");
    endGroup(pod.process);
    for (const process of pod.executed) endGroup(process);
    for (const reader of pod.readers) reader.end();
    metadata.deletionTimestamp = new Date();
    this.#changed("DELETED", pod);
  }

  #event(pod: FakePod, reason: string, message: string): void {
    const metadata = { name: randomUUID(), creationTimestamp: new Date() };
    const involvedObject = { kind: "Pod", name: pod.object.metadata.name };
    this.#events.push({
      metadata,
      type: "Warning",
      reason,
      message,
      involvedObject,
      lastTimestamp: new Date(),
    });
  }

  // ---- watches and logs

  #selected(namespace: string, selector: string): FakePod[] {
    return [...this.#pods.values()].filter(
      ({ object: { metadata } }) =>
        metadata.namespace === namespace && matches(metadata.labels ?? {}, selector),
    );
  }

  #watch(namespace: string, selector: string, response: ServerResponse): undefined {
    response.writeHead(200, { "content-type": "application/json" });
    for (const { object } of this.#selected(namespace, selector))
      response.write(`${JSON.stringify({ type: "ADDED", object })}\n`);
    // So that the headers go out where there is none.
    response.flushHeaders();
    const watcher = { response, namespace, selector };
    this.#watchers.add(watcher);
    response.once("close", () => this.#watchers.delete(watcher));
  }

  #changed(type: string, { object }: FakePod): void {
    object.metadata.resourceVersion = String(++this.#version);
    if (this.isFrozen) return;
    for (const { response, namespace, selector } of this.#watchers)
      if (object.metadata.namespace === namespace && matches(object.metadata.labels ?? {}, selector))
        response.write(`${JSON.stringify({ type, object })}\n`);
  }

  #logged(pod: FakePod, chunk: Buffer): void {
    pod.log = Buffer.concat([pod.log, chunk]);
    if (pod.log.length > this.mostLogBytes) pod.log = pod.log.subarray(pod.log.length - this.mostLogBytes);
    for (const reader of pod.readers) reader.write(chunk);
  }

  #log(pod: FakePod, url: URL, response: ServerResponse): undefined {
    const waiting = pod.object.status?.containerStatuses?.[0]?.state?.waiting;
    if (pod.object.status?.phase === "Pending") {
      const why = waiting?.reason ?? "ContainerCreating";
      throw new Refusal(400, "BadRequest", `container "main" in pod is waiting to start: ${why}`);
    }
    const tail = Number(url.searchParams.get("tailLines") ?? Number.NaN);
    const text = Number.isNaN(tail) ? pod.log : lastLines(pod.log, tail);
    response.writeHead(200, { "content-type": "text/plain" });
    response.write(text);
    const isOver = pod.object.status?.phase !== "Running";
    if (url.searchParams.get("follow") !== "true" || isOver) return void response.end();
    pod.readers.add(response);
    response.once("close", () => pod.readers.delete(response));
  }

  // ---- exec

  #upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    if (this.isFrozen) return;
    const url = new URL(request.url ?? "", this.url);
    const [, namespace = "", name] = /\/namespaces\/([^/]+)\/pods\/([^/]+)\/exec$/.exec(url.pathname) ?? [];
    try {
      this.#require("get", "pods/exec");
      this.used.add("create pods/exec");
      if (this.refused.has("create pods/exec")) throw new Refusal(403, "Forbidden", "");
      const pod = this.#podOf(namespace, name);
      this.#webSockets.handleUpgrade(request, socket, head, (client) => this.#exec(pod, url, client));
    } catch (error) {
      const { code = 500 } = error as Refusal;
      socket.end(`HTTP/1.1 ${code} Refused\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
    }
  }

  /** The first byte of a message is its channel: 0 to 2 are the standard streams, 3 is the status, 255 closes one. */
  #exec(pod: FakePod, url: URL, client: WebSocket): void {
    const end = (status: Json) => {
      client.send(
        Buffer.concat([Buffer.from([3]), Buffer.from(JSON.stringify({ metadata: {}, ...status }))]),
      );
      client.close();
    };
    const failed = (message: string) =>
      end({ status: "Failure", message, reason: "InternalError", code: 500 });
    if (pod.object.status?.phase !== "Running") {
      failed("unable to upgrade connection: container not found");
      return;
    }
    const child = this.#spawn(pod, url.searchParams.getAll("command"), true);
    pod.executed.add(child);
    const send = (channel: number) => (chunk: Buffer) =>
      client.send(Buffer.concat([Buffer.from([channel]), chunk]));
    child.stdout?.on("data", send(1));
    child.stderr?.on("data", send(2));
    child.once("error", (error) => failed(error.message));
    child.once("close", (code) => {
      pod.executed.delete(child);
      if (code === 0) return end({ status: "Success" });
      const causes = [{ reason: "ExitCode", message: String(code ?? 137) }];
      end({
        status: "Failure",
        reason: "NonZeroExitCode",
        message: `exit code ${code}`,
        details: { causes },
      });
    });
    client.on("message", (data: Buffer) => {
      if (data[0] === 0) child.stdin?.write(this.#here(pod, data.subarray(1).toString("latin1")), "latin1");
      else if (data[0] === 255 && data[1] === 0) child.stdin?.end();
    });
    client.once("close", () => {
      child.stdin?.end();
      child.stdout?.destroy();
    });
  }
}

/** Ends a process and all that it started. */
function endGroup(child: ChildProcess | undefined): void {
  if (child?.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  try {
    process.kill(-child.pid, "SIGKILL");
  } catch {
    // It has ended.
  }
}

function send(response: ServerResponse, code: number, body: unknown): void {
  if (response.headersSent) return void response.end();
  response.writeHead(code, { "content-type": "application/json" });
  response.end(JSON.stringify(body));
}

/** Whether labels fit a selector of `name`, `name=value` and `name!=value`. */
function matches(labels: Record<string, string>, selector: string): boolean {
  return selector
    .split(",")
    .filter(Boolean)
    .every((term) => {
      const [, name = "", operator, value] = /^([^=!]+)(!=|==?)?(.*)$/.exec(term) ?? [];
      if (operator === undefined) return name in labels;
      return operator === "!=" ? labels[name] !== value : labels[name] === value;
    });
}

function lastLines(text: Buffer, count: number): Buffer {
  const lines = text.toString("latin1").split("\n");
  const last = lines.at(-1) === "" ? -1 : lines.length;
  return Buffer.from(lines.slice(0, last).slice(-count).join("\n") + (last === -1 ? "\n" : ""), "latin1");
}

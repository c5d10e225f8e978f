import type { RequestOptions } from "node:https";
import { PassThrough, type Writable } from "node:stream";
import { finished } from "node:stream/promises";
import type * as Kubernetes from "@kubernetes/client-node";
import type { KubernetesAccess } from "../../contract/machines.js";
import { definedOnly } from "../../kit/defined-only.js";
import { deferred } from "../deferred.js";
import { loadClientLibrary, loadKubeConfig } from "./kubeconfig.js";
import { hasApiStatus, KubernetesError, toKubernetesError } from "./kubernetes-error.js";
import {
  answerOf,
  CONNECT_TIMEOUT_MS,
  type ExecProcess,
  type Following,
  openedInTime,
  PING_EVERY_MS,
} from "./pod-connections.js";

/** Each request has its own time-out: a cluster that hangs must not hang a campaign. */
const REQUEST_TIMEOUT_MS = 15_000;
/**
 * One right that the runtime uses. `permissions.ts` lists them with their reasons; this module is
 * their only user.
 */
export interface Use {
  verb: "create" | "get" | "list" | "watch" | "delete";
  /** With its subresource, e.g. `pods/exec`. */
  resource: string;
}

/** All that is asked of a cluster, in one namespace. */
export class KubernetesApi {
  readonly namespace: string;
  readonly context: string;
  readonly #library: typeof Kubernetes;
  readonly #config: Kubernetes.KubeConfig;
  readonly #core: Kubernetes.CoreV1Api;
  readonly #used = new Map<string, Use>();

  private constructor(loaded: typeof Kubernetes, config: Kubernetes.KubeConfig, namespace: string) {
    this.#library = loaded;
    this.#config = config;
    this.namespace = namespace;
    this.context = config.getCurrentContext();
    this.#core = new loaded.CoreV1Api(this.#configuration());
  }

  static async connect(access: KubernetesAccess): Promise<KubernetesApi> {
    const config = await loadKubeConfig(access);
    const context = config.getContextObject(config.getCurrentContext());
    const namespace = access.namespace ?? context?.namespace ?? "default";
    return new KubernetesApi(await loadClientLibrary(), config, namespace);
  }

  get used(): readonly Use[] {
    return [...this.#used.values()];
  }

  get server(): string {
    return this.#config.getCurrentCluster()?.server ?? "";
  }

  #configuration(): Kubernetes.Configuration {
    const { createConfiguration, ServerConfiguration } = this.#library;
    return createConfiguration({
      baseServer: new ServerConfiguration(this.server, {}),
      authMethods: { default: this.#config },
      promiseMiddleware: [
        {
          async pre(context) {
            context.setSignal(AbortSignal.timeout(REQUEST_TIMEOUT_MS));
            return context;
          },
          async post(context) {
            return context;
          },
        },
      ],
    });
  }

  async #ask<Value>({ verb, resource }: Use, work: () => Promise<Value>): Promise<Value> {
    const request = `${verb} ${resource}`;
    this.#used.set(request, { verb, resource });
    try {
      return await work();
    } catch (error) {
      if ((error as Error).name === "AbortError") {
        const text = `the cluster did not answer within ${REQUEST_TIMEOUT_MS / 1000} s (${request})`;
        throw new KubernetesError(request, text, undefined, { cause: error });
      }
      throw toKubernetesError(request, error);
    }
  }

  /** The version of the cluster. Everybody may ask. */
  async version(): Promise<string> {
    const api = new this.#library.VersionApi(this.#configuration());
    return (await this.#ask({ verb: "get", resource: "/version" }, () => api.getCode())).gitVersion;
  }

  /**
   * Whether this user has a right in the namespace. @throws KubernetesError with 403 where it may
   * not ask
   */
  async allows({ verb, resource: path }: Use): Promise<boolean> {
    const api = new this.#library.AuthorizationV1Api(this.#configuration());
    const [resource = "", subresource = ""] = path.split("/");
    const resourceAttributes = { namespace: this.namespace, verb, resource, subresource };
    const answer = await this.#ask({ verb: "create", resource: "selfsubjectaccessreviews" }, () =>
      api.createSelfSubjectAccessReview({ body: { spec: { resourceAttributes } } }),
    );
    return answer.status?.allowed ?? false;
  }

  /**
   * The name by which the cluster knows this user. @throws KubernetesError before Kubernetes 1.28
   */
  async userName(): Promise<string | undefined> {
    const api = new this.#library.AuthenticationV1Api(this.#configuration());
    const answer = await this.#ask({ verb: "create", resource: "selfsubjectreviews" }, () =>
      api.createSelfSubjectReview({ body: {} }),
    );
    return answer.status?.userInfo?.username;
  }

  /** @param dryRun whether the cluster only checks the pod, with quota and admission */
  createPod(pod: Kubernetes.V1Pod, { dryRun = false } = {}): Promise<Kubernetes.V1Pod> {
    const request = definedOnly({
      namespace: this.namespace,
      body: pod,
      // A misspelt field is an error, and is not dropped silently.
      fieldValidation: "Strict",
      dryRun: dryRun ? "All" : undefined,
    });
    return this.#ask({ verb: "create", resource: "pods" }, () =>
      this.#core.createNamespacedPod(request),
    );
  }

  async pod(name: string): Promise<Kubernetes.V1Pod | undefined> {
    return this.#ask({ verb: "get", resource: "pods" }, () =>
      this.#core.readNamespacedPod({ namespace: this.namespace, name }),
    ).catch(undefinedIfGone);
  }

  async pods(labelSelector: string): Promise<Kubernetes.V1Pod[]> {
    const list = await this.#ask({ verb: "list", resource: "pods" }, () =>
      this.#core.listNamespacedPod({ namespace: this.namespace, labelSelector }),
    );
    return list.items;
  }

  /**
   * Deletes a pod.
   * @param uid the id of the pod, so that a later one of its name stays
   * @returns whether the pod existed
   */
  async deletePod(
    name: string,
    { graceS, uid }: { graceS: number; uid?: string },
  ): Promise<boolean> {
    const request = definedOnly({
      namespace: this.namespace,
      name,
      gracePeriodSeconds: graceS,
      body: uid === undefined ? undefined : { preconditions: { uid } },
    });
    const deleted = await this.#ask({ verb: "delete", resource: "pods" }, () =>
      this.#core.deleteNamespacedPod(request),
    ).catch(undefinedIfGone);
    return deleted !== undefined;
  }

  async createConfigMap(body: Kubernetes.V1ConfigMap): Promise<Kubernetes.V1ConfigMap> {
    return this.#ask({ verb: "create", resource: "configmaps" }, () =>
      this.#core.createNamespacedConfigMap({
        namespace: this.namespace,
        body,
        fieldValidation: "Strict",
      }),
    );
  }

  async configMaps(labelSelector: string): Promise<Kubernetes.V1ConfigMap[]> {
    const list = await this.#ask({ verb: "list", resource: "configmaps" }, () =>
      this.#core.listNamespacedConfigMap({ namespace: this.namespace, labelSelector }),
    );
    return list.items;
  }

  /** What it owns goes with it, in the background. @returns whether it was there */
  async deleteConfigMap(name: string): Promise<boolean> {
    const request = { namespace: this.namespace, name, propagationPolicy: "Background" };
    const deleted = await this.#ask({ verb: "delete", resource: "configmaps" }, () =>
      this.#core.deleteNamespacedConfigMap(request),
    ).catch(undefinedIfGone);
    return deleted !== undefined;
  }

  /** Events of a pod, oldest first; an empty list where they may not be read. */
  async events(podName: string): Promise<Kubernetes.CoreV1Event[]> {
    const list = await this.#ask({ verb: "list", resource: "events" }, () =>
      this.#core.listNamespacedEvent({
        namespace: this.namespace,
        fieldSelector: `involvedObject.kind=Pod,involvedObject.name=${podName}`,
      }),
    ).catch(() => ({ items: [] }));
    const at = ({ lastTimestamp, eventTime, metadata }: Kubernetes.CoreV1Event): number =>
      (lastTimestamp ?? eventTime ?? metadata.creationTimestamp)?.valueOf() ?? 0;
    return [...list.items].sort((one, other) => at(one) - at(other));
  }

  /**
   * The nodes of the cluster; undefined where they may not be listed, which is a right beyond the
   * namespace.
   */
  async nodes(): Promise<Kubernetes.V1Node[] | undefined> {
    try {
      return (await this.#core.listNode()).items;
    } catch {
      return undefined;
    }
  }

  /** Follows pods with these labels until closed; undefined: the pod is gone. @returns ends it */
  watchPods(
    labelSelector: string,
    onChange: (name: string, pod: Kubernetes.V1Pod | undefined) => void,
  ): () => void {
    this.#used.set("watch pods", { verb: "watch", resource: "pods" });
    const { Watch } = this.#library;
    const watch = new Watch(this.#config);
    let isClosed = false;
    let controller: AbortController | undefined;
    const connect = async (): Promise<void> => {
      let failure: unknown;
      await new Promise<void>((resolve) => {
        watch
          .watch(
            `/api/v1/namespaces/${this.namespace}/pods`,
            // The cluster ends a watch after this time, and it is made again: none hangs for ever.
            { labelSelector, timeoutSeconds: 240 },
            (type, pod) => {
              if (type === "DELETED") onChange(pod.metadata?.name ?? "", undefined);
              else if (type === "ADDED" || type === "MODIFIED")
                onChange(pod.metadata?.name ?? "", pod);
            },
            (error) => {
              failure = error;
              resolve();
            },
          )
          .then((newController) => {
            controller = newController;
            if (isClosed) newController.abort();
          }, resolve);
      });
      if (!isClosed) setTimeout(() => isClosed || void connect(), failure ? 1_000 : 0);
    };
    void connect();
    return () => {
      isClosed = true;
      controller?.abort();
    };
  }

  /** The library's own function does not end the stream with the log. @throws KubernetesError */
  async followLog(pod: string, container: string, stream: Writable): Promise<Following> {
    const path = `/api/v1/namespaces/${this.namespace}/pods/${pod}/log`;
    const url = new URL(this.server + path);
    url.search = new URLSearchParams({ container, follow: "true" }).toString();
    const options: RequestOptions = { method: "GET", timeout: CONNECT_TIMEOUT_MS };
    await this.#config.applyToHTTPSOptions(options);
    const response = await this.#ask({ verb: "get", resource: "pods/log" }, () =>
      answerOf(url, options),
    );
    // Silence is normal from here on; a connection that is dead is noticed by the system.
    response.socket.setTimeout(0);
    response.socket.setKeepAlive(true, PING_EVERY_MS);
    const ended = finished(response).catch(() => {});
    response.pipe(stream, { end: false });
    ended.then(() => stream.end());
    return { ended, close: () => response.destroy() };
  }

  /** Starts a process in a container. @throws KubernetesError when it cannot be started */
  async exec(pod: string, container: string, command: readonly string[]): Promise<ExecProcess> {
    const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()];
    const { promise: exited, resolve: onExit } = deferred<number | undefined>();
    const exec = new this.#library.Exec(this.#config);
    // The cluster asks for both verbs: `get` for a WebSocket, `create` since Kubernetes 1.35.
    this.#used.set("create pods/exec", { verb: "create", resource: "pods/exec" });
    const socket = await this.#ask({ verb: "get", resource: "pods/exec" }, () =>
      openedInTime(
        exec.exec(
          this.namespace,
          pod,
          container,
          [...command],
          stdout,
          stderr,
          stdin,
          false,
          ({ status, details, message }) => {
            const code = details?.causes?.find(({ reason }) => reason === "ExitCode")?.message;
            if (status === "Success") onExit(0);
            else if (code !== undefined) onExit(Number(code));
            else {
              stderr.destroyed ||
                stderr.writableEnded ||
                stderr.write(`${message ?? "it cannot be started"}\n`);
              onExit(undefined);
            }
          },
        ),
        (late) => late.close(),
      ),
    );
    const ping = setInterval(() => socket.ping(), PING_EVERY_MS);
    ping.unref();
    socket.addEventListener("close", () => {
      clearInterval(ping);
      stdout.end();
      stderr.end();
      onExit(undefined);
    });
    return { stdin, stdout, stderr, exited, close: () => socket.close() };
  }
}

function undefinedIfGone(error: unknown): undefined {
  if (!hasApiStatus(error, 404)) throw error;
}

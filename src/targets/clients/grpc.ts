import type { ClientSettings } from "../../contract/server-api.js";
import { definedOnly } from "../../kit/defined-only.js";
import type { NodePlace } from "../../kit/env.js";
import type { Libraries } from "../target-types.js";
import { common, SERVICE_CONNECTIONS as connections, OPEN_DEADLINE_MS } from "./client-settings.js";
import type { GrpcMethod } from "./grpc-method.js";

export const GRPC_PACKAGE = "@grpc/grpc-js";

type Callback<Answer> = (error: Error | null, answer?: Answer) => void;

/** The members of a client of grpc-js that we use. */
interface GrpcClient {
  waitForReady(deadlineMs: number, callback: (error?: Error) => void): void;
  close(): void;
}

/** The service's method on a client, which has its name there. */
type Methods<Request, Answer> = Readonly<
  Record<
    string,
    (request: Request, options: { deadline: number }, callback: Callback<Answer>) => unknown
  >
>;

interface GrpcConnections<Request, Answer> {
  version: string;
  settings: ClientSettings;
  /**
   * Makes a call on the next connection.
   * @throws Error when the call fails, or takes longer than the time-out of all clients
   */
  call(request: Request): Promise<Answer>;
  close(): void;
}

/** The fields of a message as protobuf.js writes them in JSON. */
const fieldsOf = (message: string) =>
  Object.fromEntries(
    message.split(", ").map((field, index) => {
      const [name = "", type, rule] = field.split(" ").reverse();
      return [name, definedOnly({ type, id: index + 1, rule })];
    }),
  );

/** The method as protobuf.js writes proto files in JSON. */
function definitionOf({
  package: path,
  service,
  method,
  request,
  response,
  messages,
  enums = {},
}: GrpcMethod) {
  const types = Object.entries(messages).map(
    ([name, text]) => [name, { fields: fieldsOf(text) }] as const,
  );
  const values = Object.entries(enums).map(
    ([name, numbers]) => [name, { values: { ...numbers } }] as const,
  );
  const methods = { [method]: { requestType: request, responseType: response } };
  const definitions = Object.fromEntries([...types, ...values, [service, { methods }]]);
  return path
    .split(".")
    .reduceRight<object>((nested, name) => ({ [name]: { nested } }), definitions);
}

/**
 * Each connection has a subchannel of its own: grpc-js shares one between all clients of an
 * address.
 */
const options = {
  "grpc.use_local_subchannel_pool": 1,
  // A decision may have been counted although its answer was lost.
  "grpc.enable_retries": 0,
  "grpc.initial_reconnect_backoff_ms": common.reconnectDelayMs,
  "grpc.max_reconnect_backoff_ms": common.reconnectDelayMs,
  "grpc.enable_http_proxy": 0,
  "grpc.service_config_disable_resolution": 1,
} as const;

/**
 * Opens connections to a gRPC method; calls take turns. @throws Error when one is not ready in time
 */
export async function openGrpc<Request, Answer>(
  libraries: Libraries,
  { host, port }: Pick<NodePlace, "host" | "port">,
  method: GrpcMethod,
): Promise<GrpcConnections<Request, Answer>> {
  const [{ credentials, makeClientConstructor }, { fromJSON }] = await Promise.all([
    libraries.load(GRPC_PACKAGE, () => import("@grpc/grpc-js")),
    import("@grpc/proto-loader"),
  ]);
  const definitions = fromJSON(
    { nested: definitionOf(method) as never },
    { longs: Number, enums: String },
  );
  const definition = definitions[`${method.package}.${method.service}`] as never;
  const Client = makeClientConstructor(definition, method.service) as unknown as new (
    address: string,
    credentials: unknown,
    options: object,
  ) => GrpcClient & Methods<Request, Answer>;
  const clients = Array.from(
    { length: connections },
    () => new Client(`${host}:${port}`, credentials.createInsecure(), options),
  );
  const close = (): void => {
    for (const client of clients) client.close();
  };
  const connected = clients.map(
    (client) =>
      new Promise<void>((resolve, reject) => {
        client.waitForReady(Date.now() + OPEN_DEADLINE_MS, (error) =>
          error
            ? reject(new Error(`${host}:${port} does not answer (gRPC): ${error.message}`))
            : resolve(),
        );
      }),
  );
  try {
    await Promise.all(connected);
  } catch (error) {
    close();
    throw error;
  }
  let turn = 0;
  return {
    version: libraries.version(GRPC_PACKAGE),
    settings: {
      protocol: "gRPC",
      connections,
      retries: false,
      request_timeout_ms: common.requestTimeoutMs,
      reconnect_delay_ms: common.reconnectDelayMs,
      auto_pipelining: false,
    },
    call(request) {
      const client = clients[turn];
      turn = (turn + 1) % connections;
      return new Promise((resolve, reject) => {
        client?.[method.method]?.(
          request,
          { deadline: Date.now() + common.requestTimeoutMs },
          (error, answer) => (error ? reject(error) : resolve(answer as Answer)),
        );
      });
    },
    close,
  };
}

/** One method of a service, with the messages and enums that it uses by name. */
export interface GrpcMethod {
  /** The name of the protocol's package, e.g. `envoy.service.ratelimit.v3`. */
  package: string;
  service: string;
  method: string;
  request: string;
  response: string;
  /** The fields of each message as in a proto file, without numbers, which count from 1. */
  messages: Readonly<Record<string, string>>;
  enums?: Readonly<Record<string, Readonly<Record<string, number>>>>;
}

const block = (kind: string, name: string, lines: readonly string[]): string[] => [
  `${kind} ${name} {`,
  ...lines.map((line) => `  ${line}`),
  "}",
];

export function protoText({
  package: path,
  service,
  method,
  request,
  response,
  messages,
  enums = {},
}: GrpcMethod): string {
  const lines = [
    'syntax = "proto3";',
    `package ${path};`,
    ...Object.entries(enums).flatMap(([name, values]) =>
      block(
        "enum",
        name,
        Object.entries(values).map(([value, number]) => `${value} = ${number};`),
      ),
    ),
    ...Object.entries(messages).flatMap(([name, fields]) =>
      block(
        "message",
        name,
        fields.split(", ").map((field, index) => `${field} = ${index + 1};`),
      ),
    ),
    ...block("service", service, [`rpc ${method}(${request}) returns (${response});`]),
  ];
  return `${lines.join("\n")}\n`;
}

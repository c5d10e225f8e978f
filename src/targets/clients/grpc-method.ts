type Field = { type: string; id: number; rule?: "repeated" };

/** One method of a service, with the messages and enums that it uses by name. */
export interface GrpcMethod {
  /** E.g. `envoy.service.ratelimit.v3`. */
  package: string;
  service: string;
  method: string;
  request: string;
  response: string;
  messages: Readonly<Record<string, Readonly<Record<string, Field>>>>;
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
        Object.entries(fields).map(
          ([field, { type, id, rule }]) => `${rule ? `${rule} ` : ""}${type} ${field} = ${id};`,
        ),
      ),
    ),
    ...block("service", service, [`rpc ${method}(${request}) returns (${response});`]),
  ];
  return `${lines.join("\n")}\n`;
}

/** What is read of a JSON Schema as zod writes it. */
export interface JsonSchema {
  readonly [keyword: string]: unknown;
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly items?: JsonSchema;
  readonly prefixItems?: readonly JsonSchema[];
  readonly additionalProperties?: JsonSchema | false;
  readonly propertyNames?: JsonSchema;
  readonly anyOf?: readonly JsonSchema[];
  readonly oneOf?: readonly JsonSchema[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly pattern?: string;
}

const knownKeywords = new Set([
  "$schema",
  "$defs",
  "type",
  "properties",
  "required",
  "items",
  "prefixItems",
  "additionalProperties",
  "propertyNames",
  "anyOf",
  "oneOf",
  "const",
  "enum",
  "pattern",
  "format",
  "minimum",
  "maximum",
  "exclusiveMinimum",
  "minLength",
  "maxLength",
  "minItems",
  "maxItems",
]);

/**
 * Nothing that a schema demands is left unchecked. @throws Error for a keyword without a rule in
 * the records
 */
export function refuseUnknownKeywords(schema: JsonSchema, place: string): void {
  const unknown = Object.keys(schema).find((keyword) => !knownKeywords.has(keyword));
  if (unknown !== undefined) throw new Error(`${place}: no rule for ${unknown}`);
}

/** Replaces what a schema refers to by what stands there: equal objects become one class. */
export function withReferencesResolved(schema: object): JsonSchema {
  return resolved(schema, Reflect.get(schema, "$defs") ?? {}) as JsonSchema;
}

function resolved(node: unknown, definitions: Readonly<Record<string, unknown>>): unknown {
  if (Array.isArray(node)) return node.map((item) => resolved(item, definitions));
  if (typeof node !== "object" || node === null) return node;

  const reference: unknown = Reflect.get(node, "$ref");
  if (typeof reference === "string") {
    return resolved(definitions[reference.replace("#/$defs/", "")], definitions);
  }

  const members = Object.entries(node).filter(([name]) => name !== "$defs");
  return Object.fromEntries(members.map(([name, value]) => [name, resolved(value, definitions)]));
}

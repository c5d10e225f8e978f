/**
 * What the generator reads of a JSON Schema as zod writes it. Any other word is an error: nothing
 * is left unchecked.
 */
interface Schema {
  readonly [word: string]: unknown;
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly prefixItems?: readonly Schema[];
  readonly additionalProperties?: Schema | false;
  readonly propertyNames?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly pattern?: string;
}

const words = new Set(
  `$schema $defs type properties required items prefixItems additionalProperties propertyNames anyOf oneOf const enum
   pattern format minimum maximum exclusiveMinimum minLength maxLength minItems maxItems`.split(
    /\s+/,
  ),
);
const keywords = new Set([
  "from",
  "class",
  "global",
  "in",
  "is",
  "not",
  "pass",
  "import",
  "def",
  "lambda",
]);

/** The schema with what it refers to in place: equal objects become one class. */
const resolved = (node: unknown, defs: Readonly<Record<string, unknown>>): unknown => {
  if (Array.isArray(node)) return node.map((each) => resolved(each, defs));
  if (typeof node !== "object" || node === null) return node;
  const ref: unknown = Reflect.get(node, "$ref");
  if (typeof ref === "string") return resolved(defs[ref.replace("#/$defs/", "")], defs);
  return Object.fromEntries(
    Object.entries(node).flatMap(([name, value]) =>
      name === "$defs" ? [] : [[name, resolved(value, defs)]],
    ),
  );
};

const pascal = (name: string): string =>
  name.replaceAll(/(?:^|[^A-Za-z0-9])+([A-Za-z0-9])/g, (_, letter: string) => letter.toUpperCase());
const literal = (values: readonly unknown[]): string =>
  `Literal[${values.map((value) => JSON.stringify(value)).join(", ")}]`;
const annotated = (type: string, bounds: readonly string[]): string =>
  bounds.length > 0 ? `Annotated[${type}, Meta(${bounds.join(", ")})]` : type;

/**
 * Names of types that many members have; any other that two members have is called after the first
 * of them.
 */
const common: Readonly<Record<string, string>> = {
  "Annotated[int, Meta(ge=0, le=9007199254740991)]": "Count",
  "Annotated[int, Meta(ge=1, le=9007199254740991)]": "CountFrom1",
  "Annotated[int, Meta(ge=0)] | Annotated[float, Meta(ge=0)]": "Amount",
  "Annotated[int, Meta(gt=0)] | Annotated[float, Meta(gt=0)]": "Positive",
  "Annotated[int, Meta(ge=0, le=1)] | Annotated[float, Meta(ge=0, le=1)]": "Share",
  'Annotated[str, Meta(pattern=r"(?a)^[a-z0-9][a-z0-9.-]{0,39}\\Z")]': "Id",
};
const width = 120;
const short = 12;

/** A class in few lines: its members stand side by side. */
const packed = (head: string, statements: readonly string[]): string[] => {
  const one = `${head} ${statements.join("; ")}`;
  if (one.length <= width) return [one];
  const lines: string[] = [];
  for (const statement of statements) {
    const longer = `${lines.at(-1)}; ${statement}`;
    if (lines.length > 0 && longer.length <= width) lines[lines.length - 1] = longer;
    else lines.push(`    ${statement}`);
  }
  return [head, ...lines];
};

class Module {
  readonly lines: string[] = [];
  /** How many members have a type. */
  readonly uses = new Map<string, number>();
  readonly #names = new Map<string, string>();
  readonly #taken = new Set<string>();
  readonly #expected: ReadonlyMap<string, number>;

  /** @param expected the uses that an earlier pass found: what is used twice gets a name */
  constructor(expected: ReadonlyMap<string, number>) {
    this.#expected = expected;
  }

  /** @returns the name of a type, or its text where it has none */
  #named(text: string, name: string, parent: string): string {
    this.uses.set(text, (this.uses.get(text) ?? 0) + 1);
    if (text.length <= short || (this.#expected.get(text) ?? 0) < 2) return text;
    const known = this.#names.get(text);
    if (known !== undefined) return known;
    const own = this.#free(common[text] ?? pascal(name), parent);
    this.#names.set(text, own);
    this.lines.push(`${own}: TypeAlias = ${text}`);
    return own;
  }

  #free(name: string, parent: string): string {
    let own = this.#taken.has(name) ? `${parent}${name}` : name;
    for (let number = 2; this.#taken.has(own); number++)
      own = `${own.replace(/\d+$/, "")}${number}`;
    this.#taken.add(own);
    return own;
  }

  /**
   * @returns the Python type of what the schema admits; `name` is what a class of it would be
   *   called
   */
  type(schema: Schema, name: string, parent: string): string {
    const unknown = Object.keys(schema).find((word) => !words.has(word));
    if (unknown !== undefined) throw new Error(`${parent}.${name}: no rule for ${unknown}`);
    const alternatives = schema.anyOf ?? schema.oneOf;
    if (alternatives) return this.#union(alternatives, name, parent);
    if (schema.const === true) return "bool";
    if (schema.const !== undefined) return literal([schema.const]);
    if (schema.enum) return this.#named(literal(schema.enum), name, parent);
    const types = [schema.type ?? "any"].flat();
    return types.map((type) => this.#one(type, schema, name, parent)).join(" | ");
  }

  #one(type: string, schema: Schema, name: string, parent: string): string {
    switch (type) {
      case "null":
        return "None";
      case "boolean":
        return "bool";
      case "integer":
        return this.#named(annotated("int", bounds(schema, Math.ceil)), name, parent);
      case "number":
        return this.#named(
          `${annotated("int", bounds(schema, Math.ceil))} | ${annotated("float", bounds(schema))}`,
          name,
          parent,
        );
      case "string": {
        // In Python `$` also stands before a last line feed, and classes hold letters and digits of
        // all scripts.
        const pattern = schema.pattern?.replace(/\$$/, "\\Z");
        const found = pattern === undefined ? [] : [`pattern=r"(?a)${pattern}"`];
        const text = annotated("str", [...found, ...lengths(schema, "minLength", "maxLength")]);
        return this.#named(text, name, parent);
      }
      case "array": {
        if (schema.prefixItems) {
          return `tuple[${schema.prefixItems.map((each) => this.type(each, name, parent)).join(", ")}]`;
        }
        const items = this.type(
          schema.items ?? {},
          name.endsWith("s") ? name.slice(0, -1) : name,
          parent,
        );
        return annotated(`list[${items}]`, lengths(schema, "minItems", "maxItems"));
      }
      case "object":
        return this.#object(schema, name, parent);
      default:
        throw new Error(`${parent}.${name}: no rule for type ${type}`);
    }
  }

  #object(schema: Schema, name: string, parent: string): string {
    if (schema.properties) return this.record(schema, name, parent);
    const key = this.type(schema.propertyNames ?? { type: "string" }, name, parent);
    const value = schema.additionalProperties || {};
    return `dict[${key}, ${this.type(value, name.endsWith("s") ? name.slice(0, -1) : name, parent)}]`;
  }

  /**
   * Objects that share a constant are told apart by it; others become one record that must have one
   * of its shapes.
   */
  #union(alternatives: readonly Schema[], name: string, parent: string): string {
    const objects = alternatives.filter(({ type }) => type === "object");
    if (objects.length < 2)
      return alternatives.map((each) => this.type(each, name, parent)).join(" | ");
    const tag = Object.entries(objects[0]?.properties ?? {}).find(
      ([, { const: value }]) => typeof value === "string",
    )?.[0];
    if (tag !== undefined) {
      return objects
        .map((each) =>
          this.record(
            each,
            `${pascal(String(each.properties?.[tag]?.const))}${pascal(name)}`,
            parent,
            tag,
          ),
        )
        .join(" | ");
    }
    const properties = Object.assign({}, ...objects.map((each) => each.properties));
    const shapes = objects.map(
      ({ required }) => `(${(required ?? []).map((each) => `"${each}",`).join(" ")})`,
    );
    return this.record({ type: "object", properties }, name, parent, undefined, [
      `__post_init__ = one_of(${shapes.join(", ")})`,
    ]);
  }

  /** @returns the name of the class of an object with named members */
  record(
    schema: Schema,
    name: string,
    parent: string,
    tag?: string,
    checks: readonly string[] = [],
  ): string {
    const key = JSON.stringify([schema, tag, checks]);
    const known = this.#names.get(key);
    if (known !== undefined) return known;
    const own = this.#free(pascal(name), parent);
    this.#names.set(key, own);
    const required = new Set(schema.required);
    const members = Object.entries(schema.properties ?? {}).filter(([member]) => member !== tag);
    const written = members.map(([member, inner]) => {
      const type = this.type(inner, member, own);
      const [python, renamed] = keywords.has(member)
        ? [`${member}_`, `name="${member}"`]
        : [member, ""];
      if (required.has(member)) return `${python}: ${type}${renamed && ` = field(${renamed})`}`;
      // Absence and null say different things.
      if (type.endsWith("| None")) return `${python}: ${type} | UnsetType = UNSET`;
      return `${python}: Maybe[${type}] = ${renamed ? `field(default=None, ${renamed})` : "None"}`;
    });
    // Python wants those with a default behind the others.
    const statements = [true, false].flatMap((first) =>
      written.filter((_, index) => required.has(members[index]?.[0] ?? "") === first),
    );
    const flags = members
      .filter(([, inner]) => inner.const === true)
      .map(([member]) => JSON.stringify(member));
    if (flags.length > 0) statements.push(`__post_init__ = only_true(${flags.join(", ")})`);
    const told =
      tag === undefined
        ? ""
        : `, tag_field="${tag}", tag=${JSON.stringify(schema.properties?.[tag]?.const)}`;
    this.lines.push(
      ...packed(`class ${own}(Record${told}):`, [
        ...statements,
        ...checks,
        ...(statements.length > 0 ? [] : ["pass"]),
      ]),
    );
    return own;
  }
}

const bounds = (schema: Schema, rounded = (bound: number): number => bound): string[] =>
  Object.entries({ ge: "minimum", gt: "exclusiveMinimum", le: "maximum" }).flatMap(
    ([word, name]) => {
      const bound = schema[name];
      return typeof bound === "number" ? [`${word}=${rounded(bound)}`] : [];
    },
  );

const lengths = (schema: Schema, least: string, most: string): string[] =>
  Object.entries({ min_length: least, max_length: most }).flatMap(([word, name]) =>
    typeof schema[name] === "number" ? [`${word}=${schema[name]}`] : [],
  );

/** The records of all schemas; `uses` are those of an earlier pass. */
const write = (
  schemas: Readonly<Record<string, object>>,
  uses: ReadonlyMap<string, number>,
): Module => {
  const module = new Module(uses);
  for (const [name, schema] of Object.entries(schemas)) {
    const root = resolved(schema, Reflect.get(schema, "$defs") ?? {}) as Schema;
    const kinds = (root.oneOf ?? []).flatMap((alternative) => {
      const status = alternative.properties?.status;
      const values = (status?.enum ?? [status?.const]).map(String);
      const own = module.record(alternative, `${values.join("_or_")}_${name}`, "");
      return values.map((value) => `"${value}": ${own}`);
    });
    if (root.oneOf)
      module.lines.push(`${name.toUpperCase()}S: dict[str, type[Record]] = {${kinds.join(", ")}}`);
    else module.record(root, name, "");
  }
  return module;
};

/**
 * The report's records: a Python class for every object of the schemas, with the bounds of every
 * member, so that msgspec decodes and checks in one step.
 * @param schemas by the name of the document; one with alternatives has a class for each `status`
 */
export const recordsModule = (schemas: Readonly<Record<string, object>>): string => `\
"""The documents of the contract's JSON Schemas. Generated by \`npm run generate\`: do not edit."""

from typing import Annotated, Literal, TypeAlias

from msgspec import UNSET, Meta, UnsetType, field

from report.results.record import Maybe, Record, one_of, only_true

${write(schemas, write(schemas, new Map()).uses).lines.join("\n")}
`;

import { type JsonSchema, refuseUnknownKeywords, withReferencesResolved } from "./json-schema.js";
import { annotated, lengthBounds, literal, numberBounds, rawString } from "./python-text.js";

/** Names of members that Python does not allow. */
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

/**
 * Names of types that many members have; any other that two members have is called after the first
 * of them.
 */
const commonNames: Readonly<Record<string, string>> = {
  "Annotated[int, Meta(ge=0, le=9007199254740991)]": "Count",
  "Annotated[int, Meta(ge=1, le=9007199254740991)]": "CountFrom1",
  "Annotated[int, Meta(ge=0)] | Annotated[float, Meta(ge=0)]": "Amount",
  "Annotated[int, Meta(gt=0)] | Annotated[float, Meta(gt=0)]": "Positive",
  "Annotated[int, Meta(ge=0, le=1)] | Annotated[float, Meta(ge=0, le=1)]": "Share",
  'Annotated[str, Meta(pattern=r"(?a)^[a-z0-9][a-z0-9.-]{0,39}\\Z")]': "Id",
};

/** A type as short as this is repeated, because a name would say less. */
const LONGEST_UNNAMED = 12;

/** `a-b` and `a_b` as the name of a class: `AB`. */
const pascal = (name: string): string =>
  name.replaceAll(/(?:^|[^A-Za-z0-9])+([A-Za-z0-9])/g, (_, letter: string) => letter.toUpperCase());

/** What one of several is called, after the member that holds them. */
const singular = (name: string): string => (name.endsWith("s") ? name.slice(0, -1) : name);

/** How a class is told from the others of a union, and what its members must fulfil together. */
interface ClassRules {
  /** The member whose constant tells the class. */
  tag?: string;
  checks?: readonly string[];
}

/** The aliases and classes of a Python module, in the order in which they need each other. */
class PythonModule {
  readonly statements: string[] = [];
  /** How many members have a type. */
  readonly uses = new Map<string, number>();
  readonly #names = new Map<string, string>();
  readonly #takenNames = new Set<string>();
  readonly #expectedUses: ReadonlyMap<string, number>;

  /** @param expectedUses those of an earlier pass: a type that is used twice gets a name */
  constructor(expectedUses: ReadonlyMap<string, number>) {
    this.#expectedUses = expectedUses;
  }

  /** @returns the name of a type, or its text where it has none */
  #named(text: string, name: string, parent: string): string {
    this.uses.set(text, (this.uses.get(text) ?? 0) + 1);
    if (text.length <= LONGEST_UNNAMED) return text;
    if ((this.#expectedUses.get(text) ?? 0) < 2) return text;

    const knownName = this.#names.get(text);
    if (knownName !== undefined) return knownName;

    const newName = this.#freeName(commonNames[text] ?? pascal(name), parent);
    this.#names.set(text, newName);
    this.statements.push(`${newName}: TypeAlias = ${text}`);
    return newName;
  }

  #freeName(name: string, parent: string): string {
    let freeName = this.#takenNames.has(name) ? `${parent}${name}` : name;
    for (let number = 2; this.#takenNames.has(freeName); number++) {
      freeName = `${freeName.replace(/\d+$/, "")}${number}`;
    }
    this.#takenNames.add(freeName);
    return freeName;
  }

  /**
   * @returns the Python type of what the schema admits; `name` is what a class of it would be
   *   called
   */
  type(schema: JsonSchema, name: string, parent: string): string {
    refuseUnknownKeywords(schema, `${parent}.${name}`);
    const alternatives = schema.anyOf ?? schema.oneOf;
    if (alternatives) return this.#union(alternatives, name, parent);
    // A flag is absent where it would be false. The class checks that.
    if (schema.const === true) return "bool";
    if (schema.const !== undefined) return literal([schema.const]);
    if (schema.enum) return this.#named(literal(schema.enum), name, parent);

    const types = [schema.type ?? "any"].flat();
    return types.map((type) => this.#typeOfKind(type, schema, name, parent)).join(" | ");
  }

  #typeOfKind(kind: string, schema: JsonSchema, name: string, parent: string): string {
    switch (kind) {
      case "null":
        return "None";
      case "boolean":
        return "bool";
      case "integer":
        return this.#named(wholeNumber(schema), name, parent);
      case "number":
        return this.#named(
          `${wholeNumber(schema)} | ${annotated("float", numberBounds(schema))}`,
          name,
          parent,
        );
      case "string":
        return this.#named(text(schema), name, parent);
      case "array":
        return this.#array(schema, name, parent);
      case "object":
        return this.#object(schema, name, parent);
      default:
        throw new Error(`${parent}.${name}: no rule for type ${kind}`);
    }
  }

  #array(schema: JsonSchema, name: string, parent: string): string {
    if (schema.prefixItems) {
      const types = schema.prefixItems.map((item) => this.type(item, name, parent));
      return `tuple[${types.join(", ")}]`;
    }

    const itemType = this.type(schema.items ?? {}, singular(name), parent);
    return annotated(`list[${itemType}]`, lengthBounds(schema, "minItems", "maxItems"));
  }

  #object(schema: JsonSchema, name: string, parent: string): string {
    if (schema.properties) return this.record(schema, name, parent);

    const keyType = this.type(schema.propertyNames ?? { type: "string" }, name, parent);
    const valueType = this.type(schema.additionalProperties || {}, singular(name), parent);
    return `dict[${keyType}, ${valueType}]`;
  }

  /**
   * Objects that share a constant are told apart by it; others become one record that must have one
   * of its shapes.
   */
  #union(alternatives: readonly JsonSchema[], name: string, parent: string): string {
    const objects = alternatives.filter(({ type }) => type === "object");
    if (objects.length < 2) {
      return alternatives.map((alternative) => this.type(alternative, name, parent)).join(" | ");
    }

    const tag = tagOf(objects[0]);
    if (tag === undefined) return this.#recordOfShapes(objects, name, parent);
    return objects
      .map((object) => {
        const value = String(object.properties?.[tag]?.const);
        return this.record(object, `${pascal(value)}${pascal(name)}`, parent, { tag });
      })
      .join(" | ");
  }

  #recordOfShapes(objects: readonly JsonSchema[], name: string, parent: string): string {
    const properties = Object.assign({}, ...objects.map((object) => object.properties));
    const shapes = objects.map(({ required = [] }) => {
      const members = required.map((member) => `"${member}",`);
      return `(${members.join(" ")})`;
    });
    const checks = [`__post_init__ = one_of(${shapes.join(", ")})`];
    return this.record({ type: "object", properties }, name, parent, { checks });
  }

  /** @returns the name of the class of an object with named members */
  record(schema: JsonSchema, name: string, parent: string, rules: ClassRules = {}): string {
    const { tag, checks = [] } = rules;
    const key = JSON.stringify([schema, tag, checks]);
    const knownName = this.#names.get(key);
    if (knownName !== undefined) return knownName;

    const className = this.#freeName(pascal(name), parent);
    this.#names.set(key, className);

    const members = this.#members(schema, tag, className);
    const memberChecks = [...flagCheck(schema, tag), ...checks];
    this.statements.push(classOf(className, basesOf(schema, tag), [members, memberChecks]));
    return className;
  }

  /** The members, those with a default behind the others, as Python wants it. */
  #members(schema: JsonSchema, tag: string | undefined, className: string): string[] {
    const required: string[] = [];
    const optional: string[] = [];
    for (const [member, memberSchema] of membersOf(schema, tag)) {
      const type = this.type(memberSchema, member, className);
      if (schema.required?.includes(member)) required.push(requiredMember(member, type));
      else optional.push(optionalMember(member, type));
    }
    return [...required, ...optional];
  }
}

/** @param paragraphs of the body; an empty line separates them */
function classOf(name: string, bases: string, paragraphs: readonly (readonly string[])[]): string {
  const texts = paragraphs
    .filter((statements) => statements.length > 0)
    .map((statements) => statements.map((statement) => `    ${statement}`).join("\n"));
  const body = texts.join("\n\n") || "    pass";
  return `class ${name}(${bases}):\n${body}`;
}

const wholeNumber = (schema: JsonSchema): string =>
  annotated("int", numberBounds(schema, Math.ceil));

function text(schema: JsonSchema): string {
  const bounds = lengthBounds(schema, "minLength", "maxLength");
  if (schema.pattern === undefined) return annotated("str", bounds);

  // In Python `$` also stands before a last line feed, and classes hold letters and digits of all
  // scripts.
  const pattern = schema.pattern.replace(/\$$/, "\\Z");
  return annotated("str", [`pattern=${rawString(`(?a)${pattern}`)}`, ...bounds]);
}

/** The member whose value is a constant text, and so tells objects apart. */
function tagOf(schema: JsonSchema | undefined): string | undefined {
  const members = Object.entries(schema?.properties ?? {});
  const [name] = members.find(([, member]) => typeof member.const === "string") ?? [];
  return name;
}

const membersOf = (schema: JsonSchema, tag: string | undefined): [string, JsonSchema][] =>
  Object.entries(schema.properties ?? {}).filter(([member]) => member !== tag);

function basesOf(schema: JsonSchema, tag: string | undefined): string {
  if (tag === undefined) return "Record";
  const value = JSON.stringify(schema.properties?.[tag]?.const);
  return `Record, tag_field="${tag}", tag=${value}`;
}

function requiredMember(member: string, type: string): string {
  if (keywords.has(member)) return `${member}_: ${type} = field(name="${member}")`;
  return `${member}: ${type}`;
}

function optionalMember(member: string, type: string): string {
  // Absence and null say different things.
  if (type.endsWith(" | None")) {
    const otherType = type.slice(0, -" | None".length);
    return `${pythonName(member)}: ${otherType} | UnsetType | None = UNSET`;
  }
  if (keywords.has(member)) {
    return `${member}_: Maybe[${type}] = field(default=None, name="${member}")`;
  }
  return `${member}: Maybe[${type}] = None`;
}

const pythonName = (member: string): string => (keywords.has(member) ? `${member}_` : member);

function flagCheck(schema: JsonSchema, tag: string | undefined): string[] {
  const flags = membersOf(schema, tag)
    .filter(([, member]) => member.const === true)
    .map(([member]) => JSON.stringify(member));
  return flags.length > 0 ? [`__post_init__ = only_true(${flags.join(", ")})`] : [];
}

/** Adds the class of each alternative of a document, and a table of them by their `status`. */
function addDocument(module: PythonModule, name: string, schema: JsonSchema): void {
  if (!schema.oneOf) {
    module.record(schema, name, "");
    return;
  }

  const classes: string[] = [];
  for (const alternative of schema.oneOf) {
    const status = alternative.properties?.status;
    const values = (status?.enum ?? [status?.const]).map(String);
    const className = module.record(alternative, `${values.join("_or_")}_${name}`, "");
    classes.push(...values.map((value) => `"${value}": ${className}`));
  }
  const table = `${name.toUpperCase()}S: dict[str, type[Record]]`;
  module.statements.push(`${table} = {${classes.join(", ")}}`);
}

/** The records of all schemas; `uses` are those of an earlier pass. */
function moduleOf(
  schemas: Readonly<Record<string, object>>,
  uses: ReadonlyMap<string, number>,
): PythonModule {
  const module = new PythonModule(uses);
  for (const [name, schema] of Object.entries(schemas)) {
    addDocument(module, name, withReferencesResolved(schema));
  }
  return module;
}

/**
 * The report's records: a Python class for every object of the schemas, with the bounds of every
 * member, so that msgspec decodes and checks in one step. The text is not formatted.
 * @param schemas by the name of the document; one with alternatives has a class for each `status`
 */
export function recordsModule(schemas: Readonly<Record<string, object>>): string {
  const { uses } = moduleOf(schemas, new Map());
  const { statements } = moduleOf(schemas, uses);
  return `\
"""The documents of the contract's JSON Schemas. Generated by \`npm run generate\`: do not edit."""

from typing import Annotated, Literal, TypeAlias

from msgspec import UNSET, Meta, UnsetType, field

from report.results.record import Maybe, Record, one_of, only_true

${statements.join("\n")}
`;
}

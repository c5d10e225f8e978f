import { z } from "zod";

const literal = z.union([z.string(), z.number(), z.boolean()]);

/** A bug: what an operator makes of one place in a function. */
export const bugSchema = z.strictObject({
  /**
   * A function, or a constant of the module; a member of a class or an object is written
   * `Class.member`.
   */
  function: z.string(),
  operator: z.enum([
    ...([
      "remove-statement",
      "remove-call",
      "always",
      "never",
      "drop-operand",
      "drop-element",
    ] as const),
    ...(["change-constant", "replace-name", "swap-comparison", "swap-operands"] as const),
    ...(["leave-loop", "do-not-wait"] as const),
  ]),
  /** What the place mentions: a name, or the value of a literal. */
  of: literal,
  /**
   * What stands there instead; of `remove-call`: which argument stays, if not the object or the
   * last one.
   */
  to: literal.optional(),
  /** Which of how many such places, counted from 1. */
  at: z.tuple([z.int().min(1), z.int().min(1)]).default([1, 1]),
});
export type Bug = z.infer<typeof bugSchema>;

/** A node of a syntax tree: ESTree, also for Python (see `python_tree.py`). */
export interface Node {
  type: string;
  start: number;
  end: number;
  [member: string]: unknown;
}

/** A place: the node that has to mention `of`, and what is changed. */
interface Place {
  node: Node;
  start: number;
  end: number;
  text: string;
}

const isNode = (value: unknown): value is Node =>
  typeof value === "object" && value !== null && typeof (value as Node).type === "string";
const nodesOf = (...values: unknown[]): Node[] => values.flat().filter(isNode);

/** What an `await` waits for, or the body of a function that is one expression. */
function awaitedOf(node: Node): unknown {
  if (node.type === "AwaitExpression") return node.argument;
  return node.expression === true ? node.body : [];
}

/** The node and all below it, without types. */
function walk(node: Node): Node[] {
  const below = node.type.startsWith("TS") ? [node.expression] : Object.values(node);
  return [node, ...nodesOf(...below).flatMap(walk)];
}

const nameOf = (node: unknown): unknown =>
  isNode(node) ? (node.name ?? nameOf(node.property)) : undefined;
const mentions = (node: Node, of: Bug["of"]): boolean =>
  walk(node).some(({ type, name, value }) => name === of || (type === "Literal" && value === of));

const STATEMENT =
  /^(Expression|If|ForOf|Return|Throw)Statement$|^(Expr|AugAssign|If|For|Return|Raise)$/;
const COMPARISONS: Readonly<Record<string, string>> = {
  "<": "<=",
  "<=": "<",
  ">": ">=",
  ">=": ">",
  "===": "!==",
  "!==": "===",
};
/** Operands that change nothing. */
const NEUTRAL: Readonly<Record<string, string>> = {
  "+": "0",
  "-": "0",
  "*": "1",
  "/": "1",
  "%": "1",
  "??": "undefined",
};

/** Tests, operands of "and" and "or", and comparisons. */
function conditions(node: Node): Node[] {
  if (node.type === "LogicalExpression" && node.operator !== "??")
    return nodesOf(node.operands, node.left, node.right);
  return nodesOf(node.test, node.ifs, String(node.operator) in COMPARISONS ? node : undefined);
}

/** What the operator could change at this node. */
function placesAt(node: Node, bug: Bug, source: string, isPython: boolean): Place[] {
  const textOf = ({ start, end }: Pick<Node, "start" | "end">) => source.slice(start, end);
  const replaced = (each: Node, text: string): Place => ({
    node: each,
    start: each.start,
    end: each.end,
    text,
  });
  const pythonBoolean = bug.to === true ? "True" : "False";
  const literalText =
    isPython && typeof bug.to === "boolean" ? pythonBoolean : JSON.stringify(bug.to);
  const [left, right] = nodesOf(node.left, node.right);
  switch (bug.operator) {
    case "remove-statement":
      return STATEMENT.test(node.type) ? [replaced(node, isPython ? "pass" : ";")] : [];
    case "remove-call": {
      if (node.type !== "CallExpression" || nameOf(node.callee) !== bug.of) return [];
      const given = nodesOf(node.arguments);
      const object = isNode(node.callee) ? nodesOf(node.callee.object) : [];
      const kept = bug.to ? given[Number(bug.to) - 1] : (object[0] ?? given.at(-1));
      return kept ? [replaced(node, textOf(kept))] : [];
    }
    case "always":
      return conditions(node).map((each) => replaced(each, isPython ? "True" : "true"));
    case "never":
      return conditions(node).map((each) => replaced(each, isPython ? "False" : "false"));
    case "drop-operand": {
      const neutral = node.type === "TemplateLiteral" ? '""' : NEUTRAL[String(node.operator)];
      return neutral
        ? nodesOf(node.expressions, left, right).map((each) => replaced(each, neutral))
        : [];
    }
    case "drop-element": {
      const all = nodesOf(node.elements, node.type === "ObjectExpression" ? node.properties : []);
      return all.map((each, index) => {
        const [before, after] = [all[index - 1], all[index + 1]];
        const start = after || !before ? each.start : before.end;
        return { node: each, start, end: after?.start ?? each.end, text: "" };
      });
    }
    case "change-constant":
      return node.type === "Literal" ? [replaced(node, literalText)] : [];
    case "replace-name":
      return node.type === "Identifier" ? [replaced(node, String(bug.to))] : [];
    case "swap-comparison":
    case "swap-operands": {
      if (node.type !== "BinaryExpression" || !left || !right) return [];
      const sign = textOf({ start: left.end, end: right.start });
      const operator = String(node.operator);
      const [first, second] = bug.operator === "swap-operands" ? [right, left] : [left, right];
      const between =
        bug.operator === "swap-operands"
          ? sign
          : sign.replace(operator, COMPARISONS[operator] ?? operator);
      return [replaced(node, textOf(first) + between + textOf(second))];
    }
    case "leave-loop":
      return /^For|^While/.test(node.type)
        ? nodesOf(node.body).map((each) => replaced(each, `{ ${textOf(each)} break; }`))
        : [];
    case "do-not-wait":
      return nodesOf(awaitedOf(node)).map((each) => replaced(each, `void (${textOf(each)})`));
  }
}

const isInside = (inner: Node, outer: Node): boolean =>
  inner !== outer && inner.start >= outer.start && inner.end <= outer.end;

/** The outermost nodes that declare what this path of names leads to. */
function declarations(scope: Node, [name, ...rest]: readonly string[]): Node[] {
  if (name === undefined) return [scope];
  const found = walk(scope).filter(
    ({ type, id, key, value }) =>
      nameOf(id ?? key) === name &&
      (type !== "Property" || /Function/.test(String(nodesOf(value)[0]?.type))),
  );
  return found
    .filter((node) => !found.some((other) => isInside(node, other)))
    .flatMap((node) => declarations(node, rest));
}

/**
 * @returns the source with the bug in it
 * @throws Error where the function, or as many places as the bug says, are not there
 */
export function withBug(source: string, tree: Node, bug: Bug, isPython: boolean): string {
  const [scope, ...others] = declarations(tree, bug.function.split("."));
  if (!scope || others.length > 0)
    throw new Error(`${others.length + (scope ? 1 : 0)} times ${bug.function}`);
  const all = new Map<string, Place>();
  for (const node of walk(scope))
    for (const place of placesAt(node, bug, source, isPython))
      if (mentions(place.node, bug.of)) all.set(`${place.start} ${place.end}`, place);
  // Of places in each other the innermost counts.
  const places = [...all.values()]
    .filter((place) => ![...all.values()].some((other) => isInside(other.node, place.node)))
    .sort((a, b) => a.start - b.start);
  const [index, count] = bug.at;
  const place = places[index - 1];
  if (!place || places.length !== count) {
    const lines = places.map(({ start }) => source.slice(0, start).split("\n").length);
    throw new Error(
      `${bug.operator} of ${bug.of}: expected ${count} times, found in lines ${lines.join(", ")}`,
    );
  }
  return source.slice(0, place.start) + place.text + source.slice(place.end);
}

import { readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { LineCounter, parseDocument } from "yaml";
import type { z } from "zod";
import {
  type Claim,
  type ClaimComparison,
  type ClaimExpectation,
  claimSchema,
} from "../../../contract/claims.js";
import { messageOf, usageError } from "../../../contract/errors.js";
import { idSchema } from "../../../contract/target.js";
import { didYouMean, requireKnown } from "../../../targets/did-you-mean.js";

/** A claim and its file. */
export interface RegisteredClaim extends Claim {
  id: string;
}

/** All claims, in the order of their ids, and the campaigns that measure them. */
export interface Register {
  folder: string;
  claims: readonly RegisteredClaim[];
}

const CAMPAIGNS = "campaigns";
const ENDING = ".yaml";

/** The file of a campaign, as `run --config` takes it. */
export const campaignFile = ({ folder }: Pick<Register, "folder">, campaign: string): string =>
  join(folder, CAMPAIGNS, `${campaign}${ENDING}`);

/** Ids of the campaigns that these claims need, each once. */
export const campaignsOf = (claims: readonly RegisteredClaim[]): string[] => [
  ...new Set(claims.flatMap(({ comparisons = [] }) => comparisons.map(({ campaign }) => campaign))),
];

/** @throws usageError that names file and line of what is wrong in the first claim that is not one */
export function readRegister(folder: string): Register {
  const campaigns = idsIn(join(folder, CAMPAIGNS));
  const claims = idsIn(folder).map((id) => readClaim(join(folder, `${id}${ENDING}`), id, campaigns));
  if (claims.length === 0) throw usageError(`${folder} holds no claims: name another folder with --claims`);
  return { folder, claims };
}

/** The claims of these ids; all of them for none. @throws usageError that suggests the nearest id */
export function chosenClaims({ claims }: Register, ids: readonly string[]): readonly RegisteredClaim[] {
  for (const id of ids)
    requireKnown(
      "claim",
      id,
      claims.map((claim) => claim.id),
    );
  return ids.length === 0 ? claims : claims.filter(({ id }) => ids.includes(id));
}

function idsIn(folder: string): string[] {
  try {
    return readdirSync(folder)
      .filter((name) => name.endsWith(ENDING))
      .map((name) => {
        const id = basename(name, ENDING);
        if (idSchema.safeParse(id).success) return id;
        throw usageError(
          `${join(folder, name)}: rename it to at most 40 lower-case letters, digits and dashes, and ${ENDING}`,
        );
      })
      .sort();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === undefined) throw error;
    throw usageError(`--claims: ${folder} cannot be read: ${messageOf(error)}`, { cause: error });
  }
}

/** What is wrong, and where in the document. */
interface Fault {
  path: readonly PropertyKey[];
  text: string;
}

function readClaim(path: string, id: string, campaigns: readonly string[]): RegisteredClaim {
  const lines = new LineCounter();
  const document = parseDocument(readFileSync(path, "utf8"), { lineCounter: lines, prettyErrors: false });
  const refused = (offset: number, text: string) =>
    usageError(`${path}:${lines.linePos(offset).line || 1}: ${text}`);
  const [broken] = document.errors;
  if (broken) throw refused(broken.pos[0], broken.message.replaceAll("\n", " "));
  const parsed = claimSchema.safeParse(document.toJS());
  const fault = parsed.success ? faultsOf(parsed.data, campaigns)[0] : faultOf(parsed.error.issues);
  if (fault) {
    const where = fault.path.length > 0 ? `${fault.path.join(".")}: ` : "";
    throw refused(offsetOf(document, fault.path), `${where}${fault.text}`);
  }
  return { id, ...(parsed.data as Claim) };
}

/** The offset of the nearest node that exists: a member that is missing has none. */
function offsetOf(document: ReturnType<typeof parseDocument>, path: readonly PropertyKey[]): number {
  for (let length = path.length; length > 0; length--) {
    const node = document.getIn(path.slice(0, length), true) as
      | { range?: [number, number, number] }
      | undefined;
    if (node?.range) return node.range[0];
  }
  return 0;
}

/** The first issue of the schema in words that say what fixes it. A misspelt member explains one that is missing. */
function faultOf(issues: readonly z.core.$ZodIssue[]): Fault {
  const issue = issues.find(({ code }) => code === "unrecognized_keys") ?? issues[0];
  if (!issue) return { path: [], text: "it is no claim" };
  const { path } = issue;
  if (issue.code === "unrecognized_keys") {
    const [key = ""] = issue.keys;
    return { path: [...path, key], text: `there is no such member${didYouMean(key, membersAt(path))}` };
  }
  // Of the alternatives of `base`, the row is the one that is meant.
  if (issue.code === "invalid_union" && issue.errors[0]) {
    const inner = faultOf(issue.errors[0]);
    return { path: [...path, ...inner.path], text: inner.text };
  }
  if (issue.code === "invalid_type" && issue.message.endsWith("received undefined"))
    return { path, text: "it is missing: add it (docs/claims-register.md says what it is)" };
  return { path, text: issue.message };
}

/** Names of the members that a claim can have at this path. */
function membersAt(path: readonly PropertyKey[]): string[] {
  let schema: unknown = claimSchema;
  for (const key of path) schema = inner(schema, key);
  return Object.keys((unwrapped(schema) as { shape?: object } | undefined)?.shape ?? {});
}

function unwrapped(schema: unknown): unknown {
  const definition = (schema as { def?: { innerType?: unknown; options?: unknown[] } } | undefined)?.def;
  if (definition?.innerType) return unwrapped(definition.innerType);
  return definition?.options ? unwrapped(definition.options[0]) : schema;
}

function inner(schema: unknown, key: PropertyKey): unknown {
  const plain = unwrapped(schema) as { shape?: Record<PropertyKey, unknown>; element?: unknown } | undefined;
  return typeof key === "number" ? plain?.element : plain?.shape?.[key];
}

/** What the schema cannot say. */
function faultsOf(claim: Claim, campaigns: readonly string[]): Fault[] {
  const { comparisons = [], decomposition, cannot_be_told } = claim;
  const ids = comparisons.map(({ id }) => id);
  const published = comparisons.some(({ as_published, expected }) => as_published && expected);
  return [
    ...comparisons.flatMap((comparison, index) =>
      comparisonFaults(comparison, ["comparisons", index], campaigns),
    ),
    ...(published || cannot_be_told
      ? []
      : [
          {
            path: ["comparisons"],
            text: "give a comparison with as_published: true and what is expected of it, or cannot_be_told",
          },
        ]),
    ...ids.flatMap((id, index) =>
      ids.indexOf(id) < index
        ? [{ path: ["comparisons", index, "id"], text: `${id} is there twice: rename one of them` }]
        : [],
    ),
    ...[
      { path: ["decomposition", "of"], id: decomposition?.of },
      ...(decomposition?.steps ?? []).map(({ comparison }, index) => ({
        path: ["decomposition", "steps", index, "comparison"],
        id: comparison,
      })),
    ].flatMap(({ path, id }) =>
      id === undefined || ids.includes(id)
        ? []
        : [{ path, text: `there is no comparison ${id}${didYouMean(id, ids)}` }],
    ),
  ];
}

function comparisonFaults(
  { campaign, expected, base, metric, as_published }: ClaimComparison,
  path: readonly PropertyKey[],
  campaigns: readonly string[],
): Fault[] {
  const at = (...members: string[]) => [...path, ...members];
  const isPublished = "published" in base;
  return [
    ...(campaigns.includes(campaign)
      ? []
      : [
          {
            path: at("campaign"),
            text: `there is no ${CAMPAIGNS}/${campaign}${ENDING}${didYouMean(campaign, campaigns)}`,
          },
        ]),
    ...(isPublished && metric !== "bytes_per_key"
      ? [
          {
            path: at("base"),
            text: `${metric} depends on the machine: compare it with a row, only bytes_per_key with a published figure`,
          },
        ]
      : []),
    ...(as_published && !expected
      ? [{ path: at("expected"), text: "say what is expected under the published conditions" }]
      : []),
    ...(expected ? expectationFaults(expected, at("expected")) : []),
  ];
}

function expectationFaults(
  { ratio, at_least: low, at_most: high, refuted_below: below, refuted_above: above }: ClaimExpectation,
  path: readonly PropertyKey[],
): Fault[] {
  const least = low ?? 0;
  const most = high ?? Number.POSITIVE_INFINITY;
  const wrong = [
    [low === undefined && high === undefined, "give at_least, at_most or both: when does the claim hold?"],
    [below === undefined && above === undefined, "give refuted_below, refuted_above or both"],
    [least >= most, `at_least ${low} must be below at_most ${high}`],
    [
      ratio !== undefined && (ratio < least || ratio > most),
      `the published ratio ${ratio} must lie between the bounds`,
    ],
    [below !== undefined && below > least, `refuted_below ${below} must not be above at_least ${low ?? 0}`],
    [above !== undefined && above < most, `refuted_above ${above} must not be below at_most ${high ?? "∞"}`],
  ] as const;
  return wrong.flatMap(([is, text]) => (is ? [{ path, text }] : []));
}

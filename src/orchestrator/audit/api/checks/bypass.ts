import type { ApiDefect } from "../../../../contract/api-defects.js";
import { counted } from "../../../ui/text.js";
import { NotChecked } from "../../audited-system.js";
import {
  type ApiCheck,
  type ApiOutcome,
  broken,
  holding,
  reported,
  skippedBecause,
} from "../api-check.js";
import { type ApiSettings, pathOf } from "../api-settings.js";
import type { RequestParts } from "../key-carrier.js";
import {
  changed,
  type Renewal,
  renewalRequests,
  renewals,
  renewalText,
  type Variant,
} from "../renewal.js";

/** A kind of requests that must not get a quota of their own. */
interface Bypass {
  id: string;
  title: string;
  promise: string;
  matters: string;
  defect: ApiDefect;
  /** The variants that the API's address and method have. */
  variants(settings: ApiSettings): Variant[];
  /** Why what the variants do is told and not judged. */
  isOnlyTold?: true;
}

const withHeader = (name: string, value: (number: number) => string): Variant => ({
  what: name,
  options: (number) =>
    changed((parts) => ({
      ...parts,
      headers: { ...parts.headers, [name.toLowerCase()]: value(number) },
    })),
});

/** Addresses of a documentation network, which no client has. */
const otherAddress = (number: number): string => `203.0.113.${number}`;

const forwardingHeaders = ({ carrier }: ApiSettings): Variant[] =>
  [
    withHeader("X-Forwarded-For", otherAddress),
    withHeader("Forwarded", (number) => `for=${otherAddress(number)}`),
    withHeader("X-Real-IP", otherAddress),
  ].filter(({ what }) => carrier.text !== "forwarded-for" || what !== "X-Forwarded-For");

/** The path and the query of a request, whose `?` begins the query. */
const splitPath = (path: string): [path: string, query: string] => {
  const end = path.indexOf("?");
  return end < 0 ? [path, ""] : [path.slice(0, end), path.slice(end)];
};

/** A variant with another path, where there is another one. */
function withPath(
  what: string,
  settings: ApiSettings,
  rewrite: (path: string) => string,
): Variant[] {
  const [path] = splitPath(pathOf(settings.url));
  if (rewrite(path) === path) return [];
  const change = (parts: RequestParts): RequestParts => {
    const [, query] = splitPath(parts.path);
    return { ...parts, path: rewrite(path) + query };
  };
  return [{ what, options: () => changed(change) }];
}

/** The last letter of a path as `%6c`. */
const withEncodedLetter = (path: string): string =>
  path.replace(/[a-z](?=[^a-z]*$)/i, (letter) => `%${letter.charCodeAt(0).toString(16)}`);

function withOtherEnd(path: string): string {
  if (path === "/") return path;
  return path.endsWith("/") ? path.slice(0, -1) : `${path}/`;
}

/** The last slash twice. The path `//` has no meaning that servers agree on, so `/` stays. */
const withDoubledSlash = (path: string): string =>
  path === "/" ? path : path.replace(/\/(?=[^/]*$)/, "//");

const swappedCase = (path: string): string =>
  path.replace(/[a-z]/gi, (letter) =>
    letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase(),
  );

const BYPASSES: readonly Bypass[] = [
  {
    id: "bypass-forwarding",
    title: "Forwarding headers",
    promise: "A header that a client can write renews no quota.",
    matters: "A client that makes up a new X-Forwarded-For for each request has no limit at all.",
    defect: "renewed-by-forwarding-header",
    variants: forwardingHeaders,
  },
  {
    id: "bypass-path",
    title: "Spellings of the path",
    promise: "Another spelling of the same path renews no quota.",
    matters:
      "Routers take many spellings for one route; a limiter that counts by the text does not.",
    defect: "renewed-by-path",
    variants: (settings) => [
      ...withPath("a trailing slash more or less", settings, withOtherEnd),
      ...withPath("a doubled slash", settings, withDoubledSlash),
      ...withPath("a letter as a percent code", settings, withEncodedLetter),
    ],
  },
  {
    id: "bypass-case",
    title: "Letter case of the path",
    promise: "Other letter case of the same path renews no quota.",
    matters: "Express takes /API/Items for /api/items; a limiter that counts by the text does not.",
    defect: "renewed-by-letter-case",
    variants: (settings) => withPath("letters in the other case", settings, swappedCase),
  },
  {
    id: "bypass-query",
    title: "Added query",
    promise: "A query that means nothing renews no quota.",
    matters: "A limiter that counts by the whole address gives each made-up query a quota.",
    defect: "renewed-by-query",
    variants: () => [
      {
        what: "an added query",
        options: (number) =>
          changed((parts) => ({
            ...parts,
            path: `${parts.path}${parts.path.includes("?") ? "&" : "?"}audit=${number}`,
          })),
      },
    ],
  },
  {
    id: "bypass-head",
    title: "HEAD",
    promise: "HEAD, which does the work of GET, renews no quota.",
    matters: "HEAD runs the handler of GET in most frameworks.",
    defect: "renewed-by-method",
    variants: ({ method }) =>
      method === "GET"
        ? [{ what: "HEAD", options: () => changed((parts) => ({ ...parts, method: "HEAD" })) }]
        : [],
  },
  {
    id: "bypass-options",
    title: "OPTIONS",
    promise: "OPTIONS counts like any request.",
    matters: "Browsers send it before others, so APIs often leave it unlimited on purpose.",
    defect: "renewed-by-method",
    variants: () => [
      { what: "OPTIONS", options: () => changed((parts) => ({ ...parts, method: "OPTIONS" })) },
    ],
    isOnlyTold: true,
  },
];

const PROMISED = "all are denied while the plain request is";

function outcomeOf({ defect, isOnlyTold }: Bypass, outcomes: readonly Renewal[]): ApiOutcome {
  const undecided = outcomes.find(({ fate }) => fate === "undecided");
  if (undecided) throw new NotChecked("the quota came back while its bypasses were tried");

  const seen = outcomes.map(renewalText).join("; ");
  const renewed = outcomes.filter(({ fate }) => fate === "renewed");
  if (isOnlyTold) return reported(renewed.length === 0, PROMISED, seen);
  if (outcomes.every(({ fate }) => fate === "no such request"))
    return skippedBecause(`the API has no such request (${seen})`);
  if (renewed.length === 0) return holding(PROMISED, seen);
  return broken(defect, PROMISED, renewed.map(renewalText).join("; "), [
    { sent: "requests on a fresh key until it is denied", answered: "a denial" },
    ...renewed.map(({ variant, probes }) => ({
      sent: `${counted(probes.length, "request")} with ${variant.what}`,
      answered: renewalText({ variant, probes, fate: "renewed" }),
      promised: "all are denied",
    })),
    { sent: "the plain request", answered: "a denial" },
  ]);
}

function checkOf(bypass: Bypass): ApiCheck {
  const { id, title, promise, matters, variants } = bypass;
  return {
    id,
    title,
    promise,
    matters,
    unsupportedReason: (settings) =>
      variants(settings).length === 0 ? "this request has no such variant" : undefined,
    cost: ({ points }, settings) => ({
      requests: renewalRequests(points, variants(settings).length),
      windows: 0,
    }),
    run: async (api) => outcomeOf(bypass, await renewals(api, variants(api.settings))),
  };
}

/** A check for each kind of requests that must not renew a quota. */
export const bypasses: readonly ApiCheck[] = BYPASSES.map(checkOf);

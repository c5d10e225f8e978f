import { generateKeyPairSync, type KeyObject, randomBytes, sign } from "node:crypto";
import { isIPv4 } from "node:net";

/**
 * Vouches for the stores that this process starts. Its own key exists in memory alone, and ends
 * with the process.
 */
export interface StoreAuthority {
  /** Its certificate, PEM. */
  ca: string;
  /** The private key of all its stores, PEM. */
  key: string;
  /**
   * The certificate of a store, PEM. @param hosts names or IPv4 addresses under which the store is
   * reached
   */
  certificateFor(hosts: readonly string[]): string;
}

let made: StoreAuthority | undefined;

/** That of this process. It is made with the first store that needs it. */
export function storeAuthority(): StoreAuthority {
  made ??= newAuthority();
  return made;
}

const DAY_MS = 86_400_000;
/** Longer than any campaign; machines whose clocks differ must agree that it has begun. */
const VALID_DAYS = { before: 1, after: 365 };

function newAuthority(): StoreAuthority {
  const own = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const ofStores = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const mayOnlySign = [
    extension(OID.basicConstraints, sequence(der(TAG.boolean, TRUE)), true),
    extension(OID.keyUsage, der(TAG.bits, Buffer.from([2, 0b100])), true),
  ];
  return {
    ca: certificate(AUTHORITY, own.publicKey, mayOnlySign, own.privateKey),
    key: String(ofStores.privateKey.export({ type: "pkcs8", format: "pem" })),
    certificateFor: (hosts) => {
      const names = extension(OID.subjectNames, sequence(...hosts.map(hostName)));
      return certificate("ratelimit-bench store", ofStores.publicKey, [names], own.privateKey);
    },
  };
}

const AUTHORITY = "ratelimit-bench";

/** Tags of ASN.1 (X.690), as X.509 (RFC 5280) uses them. */
const TAG = {
  boolean: 0x01,
  integer: 0x02,
  bits: 0x03,
  bytes: 0x04,
  oid: 0x06,
  text: 0x0c,
  time: 0x17,
  sequence: 0x30,
  set: 0x31,
  dnsName: 0x82,
  address: 0x87,
  version: 0xa0,
  extensions: 0xa3,
} as const;

const OID = {
  ecdsaWithSha256: "2a8648ce3d040302",
  commonName: "550403",
  keyUsage: "551d0f",
  subjectNames: "551d11",
  basicConstraints: "551d13",
} as const;

const TRUE = Buffer.from([0xff]);

/** One value with its tag and length. */
function der(tag: number, ...contents: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(contents);
  const { length } = content;
  const bytes = length < 0x80 ? [length] : [0x82, length >> 8, length & 0xff];
  // The shortest form is required.
  if (length >= 0x80 && length < 0x100) bytes.splice(0, 2, 0x81);
  return Buffer.concat([Buffer.from([tag, ...bytes]), content]);
}

const sequence = (...contents: readonly Uint8Array[]): Buffer => der(TAG.sequence, ...contents);
const oid = (hex: string): Buffer => der(TAG.oid, Buffer.from(hex, "hex"));
const name = (text: string): Buffer =>
  sequence(der(TAG.set, sequence(oid(OID.commonName), der(TAG.text, Buffer.from(text)))));
/** `YYMMDDhhmmssZ`. */
const time = (at_ms: number): Buffer =>
  der(TAG.time, Buffer.from(`${new Date(at_ms).toISOString().replace(/\D/g, "").slice(2, 14)}Z`));
const extension = (id: string, value: Buffer, critical = false): Buffer =>
  sequence(oid(id), ...(critical ? [der(TAG.boolean, TRUE)] : []), der(TAG.bytes, value));
const hostName = (host: string): Buffer =>
  isIPv4(host)
    ? der(TAG.address, Buffer.from(host.split(".").map(Number)))
    : der(TAG.dnsName, Buffer.from(host));

function certificate(
  subject: string,
  publicKey: KeyObject,
  extensions: readonly Buffer[],
  signingKey: KeyObject,
): string {
  const serial = randomBytes(16);
  // Positive, and in its shortest form.
  serial[0] = ((serial[0] ?? 0) & 0x3f) | 0x40;
  const algorithm = sequence(oid(OID.ecdsaWithSha256));
  const now_ms = Date.now();
  const signed = sequence(
    der(TAG.version, der(TAG.integer, Buffer.from([2]))),
    der(TAG.integer, serial),
    algorithm,
    name(AUTHORITY),
    sequence(time(now_ms - VALID_DAYS.before * DAY_MS), time(now_ms + VALID_DAYS.after * DAY_MS)),
    name(subject),
    publicKey.export({ type: "spki", format: "der" }),
    der(TAG.extensions, sequence(...extensions)),
  );
  const signature = der(TAG.bits, Buffer.from([0]), sign("sha256", signed, signingKey));
  const lines = sequence(signed, algorithm, signature)
    .toString("base64")
    .match(/.{1,64}/g);
  return ["-----BEGIN CERTIFICATE-----", ...(lines ?? []), "-----END CERTIFICATE-----", ""].join(
    "\n",
  );
}

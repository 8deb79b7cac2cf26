import { createHash } from 'node:crypto';
import { UUID, uuidv7 } from 'uuidv7';
import type { Micros } from './time.ts';

const printable = /^[^\p{Cc}\p{Cs}\p{Zl}\p{Zp}]+$/u;

/** The rule for ids, for error messages. */
export const idRule = 'should be 1 to 256 printable characters';

/**
 * Whether a client's id is 1–256 printable characters (code points): no controls, line breaks or
 * lone surrogates.
 */
export const isId = (text: string): boolean =>
  text.length > 0 &&
  text.length <= 512 &&
  (text.length <= 256 || [...text].length <= 256) &&
  printable.test(text);

/** The most bytes of an alias or a tag: a key that holds it has 1,024 at most. */
const maxLabelBytes = 768;

/** Whether a text can be an alias or a tag. */
export const isLabel = (text: string): boolean => isId(text) && Buffer.byteLength(text) <= maxLabelBytes;

/** Makes an id: a UUIDv7, so that ids are in order of time. */
export const newId = (): string => uuidv7();

const latestMillis = 2 ** 48 - 1;

/**
 * Makes the same id from the same time and seed: a UUIDv7 whose random bits come from the SHA-256
 * of the seed.
 */
export const deriveId = (time: Micros, seed: string): string => {
  const hash = createHash('sha256').update(seed).digest();
  const millis = Math.min(Math.max(Math.floor(time / 1000), 0), latestMillis);
  const bits = [hash.readUInt16BE(0) & 0xfff, hash.readUInt32BE(2) >>> 2, hash.readUInt32BE(6)] as const;
  return UUID.fromFieldsV7(millis, ...bits).toString();
};

/** A project's id, `<entity>/<project>`. Only {@link parseProjectId} makes one. */
export type ProjectId = string & { readonly __brand: 'ProjectId' };

const part = /^[A-Za-z0-9_.-]{1,128}$/;
const isPart = (text: string): boolean => part.test(text) && text !== '.' && text !== '..';

/** The rule for project ids, for error messages. */
export const projectIdRule =
  'should be <entity>/<project>: exactly one slash, both parts 1 to 128 letters, digits, "_", "-" or "."';

/**
 * Parses `<entity>/<project>`: exactly one slash. Both parts have 1–128 letters, digits, `_`, `-`
 * or `.`, and neither is `.` or `..`.
 *
 * @returns the id; undefined if the text is not one
 */
export const parseProjectId = (text: string): ProjectId | undefined => {
  const [entity, project, ...rest] = text.split('/');
  if (entity === undefined || project === undefined || rest.length > 0) return undefined;
  return isPart(entity) && isPart(project) ? (text as ProjectId) : undefined;
};

/**
 * Identifies a call or a record among all projects. Neither field can contain the line break
 * between them.
 */
export const qualifiedId = (projectId: ProjectId, id: string): string => `${projectId}\n${id}`;

/** A ref, parsed: the object, op or call that it names, and its project. */
export type Ref =
  | {
      readonly kind: 'object' | 'op';
      readonly projectId: ProjectId;
      readonly name: string;
      readonly digest: string;
      /** The path into an object's value, without its leading slash; empty if there is none. */
      readonly path: string;
    }
  | { readonly kind: 'call'; readonly projectId: ProjectId; readonly callId: string };

/** The service's own name, in fields, refs and keys. */
export const serviceName = 'svc';

/** What every ref begins with, as it is stored and answered. */
export const refScheme = 'svc:///';

/** What refs begin with as Weave's SDKs write them. It is accepted wherever ours is. */
const weaveScheme = 'weave:///';

const weaveRefs = /(?<!\\)"weave:\/\/\//g;

/**
 * A JSON text whose refs are as they are stored: Weave's scheme becomes ours at the beginning of every
 * text in it.
 */
export const storedRefs = (json: string): string =>
  json.includes(`"${weaveScheme}`) ? json.replace(weaveRefs, `"${refScheme}`) : json;

/** A ref as it is stored. Any other text stays as it is. */
export const storedRef = (text: string): string =>
  text.startsWith(weaveScheme) ? refScheme + text.slice(weaveScheme.length) : text;

/** Splits a ref into its project, the kind of what it names, and what follows. */
const splitRef = (refText: string) => {
  const text = storedRef(refText);
  if (!text.startsWith(refScheme)) return undefined;
  const [entity, project, kind, ...rest] = text.slice(refScheme.length).split('/');
  return { projectId: parseProjectId(`${entity}/${project}`), kind, tail: rest.join('/') };
};

const named = /^([^/:]+):([^/:]+)(?:\/(.+))?$/u;

/** A ref to a table, `svc:///<entity>/<project>/table/<digest>`, parsed. */
export interface TableRef {
  readonly projectId: ProjectId;
  readonly digest: string;
}

/**
 * Parses a ref to a table.
 *
 * @returns undefined if the text is none
 */
export const parseTableRef = (text: string): TableRef | undefined => {
  const { projectId, kind, tail } = splitRef(text) ?? {};
  if (projectId === undefined || kind !== 'table' || !tail || tail.includes('/')) return undefined;
  return { projectId, digest: tail };
};

/**
 * Parses a ref to an object or op, `svc:///<entity>/<project>/<object|op>/<name>:<digest>`, or to a
 * call, `svc:///<entity>/<project>/call/<id>`. A path may follow an object's digest. Weave's scheme is
 * accepted too.
 *
 * @returns the ref; undefined if the text is none
 */
export const parseRef = (text: string): Ref | undefined => {
  const { projectId, kind, tail } = splitRef(text) ?? {};
  if (projectId === undefined || !tail) return undefined;
  if (kind === 'call') return { kind, projectId, callId: tail };
  if (kind !== 'object' && kind !== 'op') return undefined;
  const [, name, digest, path = ''] = named.exec(tail) ?? [];
  if (name === undefined || digest === undefined || (kind === 'op' && path !== '')) return undefined;
  return { kind, projectId, name, digest, path };
};

/** The ref of a call: `svc:///<entity>/<project>/call/<id>`. */
export const callRef = (projectId: ProjectId, callId: string): string =>
  `${refScheme}${projectId}/call/${callId}`;

/** The ref of a version of an object: `svc:///<entity>/<project>/object/<name>:<digest>`. */
export const objectRef = (projectId: ProjectId, objectId: string, digest: string): string =>
  `${refScheme}${projectId}/object/${objectId}:${digest}`;

const maxObjectId = 128;

/** What an object's id must look like, for error messages. */
export const objectIdRule = `should be 1 to ${maxObjectId} printable characters, none of them "/" or ":"`;

/**
 * Whether a text can be an object's id, and so the name in a ref: 1–128 printable characters
 * without `/` and `:`.
 */
export const isObjectId = (text: string): boolean =>
  isId(text) && !/[/:]/.test(text) && [...text].length <= maxObjectId;

const digestOfValue = /^[\w-]{43}$/;

/** What a digest looks like, for error messages. */
export const digestRule =
  'should be a digest, 43 characters as /obj/create answers it; neither "latest" nor "v<N>"';

/** Whether a text looks like a digest. */
export const isDigest = (text: string): boolean => digestOfValue.test(text);

const digestOfTable = /^[0-9a-f]{64}$/;

/** Whether a text looks like the digest of a table: 64 hex digits. */
export const isTableDigest = (text: string): boolean => digestOfTable.test(text);

const digestOfContent = /^[\w-]{42}[AEIMQUYcgkosw048]$/;

/** Whether a text is the digest of a row or a file: 32 bytes in base64url, of one spelling. */
export const isContentDigest = (text: string): boolean => digestOfContent.test(text);

/** How a version of an object is asked for. */
export type VersionName = { readonly digest: string } | { readonly versionIndex: number } | 'latest';

/** How many version indexes there are: a key holds four bytes of it. */
export const versionIndexes = 2 ** 32;
const numbered = /^v(0|[1-9]\d{0,9})$/;

/** Reads `latest`, `v<N>` or a digest. Any other text counts as a digest. */
export const parseVersionName = (text: string): VersionName => {
  if (text === 'latest') return text;
  const versionIndex = Number(numbered.exec(text)?.[1] ?? Number.NaN);
  return versionIndex < versionIndexes ? { versionIndex } : { digest: text };
};

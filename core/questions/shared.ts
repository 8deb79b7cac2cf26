import { createHash, timingSafeEqual } from 'node:crypto';
import { type PublicLink, publicLink, sharing } from '../../api/project-objects.ts';
import type { CallsQuery } from '../../api/queries.ts';
import { everyCall, noIncludes } from '../../api/queries.ts';
import { publicLinkClass, sharingClass } from '../../api/shared/classes.ts';
import {
  maxLinkDays,
  maxSharedBytes,
  maxSharedCalls,
  secretBytes,
  sharingObject,
  type TokenParts,
} from '../../api/shared/sharing.ts';
import { sharedColumns } from '../../api/sharing.ts';
import type { RequestBudget, Store } from '../../foundations/storage/index.ts';
import {
  isObjectId,
  notFound,
  type ProjectId,
  parseJson,
  parseProjectId,
  parseTime,
} from '../../foundations/wire/index.ts';
import { safeParse } from '../../foundations/wire/schema.ts';
import { type ObjectName, readHeads, readValues, type VersionHeader } from '../records/objects/index.ts';
import { type Lookups, type QueryAnswer, queryCalls } from './query/index.ts';

/*
 * Traces by public links: docs/decisions/0301.
 */

/** What a token says, whether or not there is anything by these names. */
interface Token {
  readonly projectId: ProjectId;
  readonly linkId: string;
  readonly secret: Uint8Array;
}

/** Reads a token; undefined for a text that is none. */
export const parseToken = (text: string): Token | undefined => {
  if (!/^[\w-]+$/.test(text)) return undefined;
  let parts: unknown;
  try {
    parts = JSON.parse(Buffer.from(text, 'base64url').toString('utf8'));
  } catch {
    return undefined;
  }
  if (!Array.isArray(parts) || parts.length !== 3 || parts.some((part) => typeof part !== 'string'))
    return undefined;
  const [project, linkId, secretText] = parts as unknown as TokenParts;
  const projectId = parseProjectId(project);
  const secret = Buffer.from(secretText, 'base64url');
  if (projectId === undefined || !isObjectId(linkId) || secret.length !== secretBytes) return undefined;
  return { projectId, linkId, secret };
};

/** The latest version of an object, and whether it is the only one that there ever was. */
interface Latest {
  readonly header: VersionHeader;
  readonly value: unknown;
  readonly isFirst: boolean;
}

/** Reads the latest version of an object of a class that means something to the service; undefined for none. */
const readLatest = async (
  objects: Store,
  name: ObjectName,
  className: string,
  budget: RequestBudget,
): Promise<Latest | undefined> => {
  const [head] = await readHeads(objects, [name], budget);
  const header = head?.latest;
  // No value of such a class is long enough for the bucket.
  if (!header || header.meaning !== className || header.home !== 'item') return undefined;
  const [text] = await readValues(objects, [{ header }], budget);
  return text === undefined ? undefined : { header, value: parseJson(text), isFirst: head.next === 1 };
};

const microsPerDay = 86_400_000_000;

/** Whether a link still lasts. It is over once its object has had another version, for good. */
const lasts = ({ expiresAt, revoked }: PublicLink, { header, isFirst }: Latest): boolean => {
  const now = Date.now() * 1000;
  const end = Math.min(parseTime(expiresAt) ?? 0, header.createdAt + maxLinkDays * microsPerDay);
  return isFirst && revoked !== true && now < end;
};

/** The link whose secret a token has; undefined for none. What is wrong with a token makes no difference. */
const findLink = async (
  objects: Store,
  { projectId, linkId, secret }: Token,
  budget: RequestBudget,
): Promise<PublicLink | undefined> => {
  const latest = await readLatest(objects, { projectId, objectId: linkId }, publicLinkClass, budget);
  const parsed = safeParse(publicLink(), latest?.value ?? null);
  const expected = Buffer.alloc(secretBytes);
  if (parsed.success) Buffer.from(parsed.data.digest, 'base64url').copy(expected);
  const isRight = timingSafeEqual(createHash('sha256').update(secret).digest(), expected);
  // Nothing else of the project is looked at for who has not the secret, so no answer takes longer for it.
  if (!isRight || !latest || !parsed.success || !lasts(parsed.data, latest)) return undefined;
  const allowed = await readLatest(objects, { projectId, objectId: sharingObject }, sharingClass, budget);
  const found = safeParse(sharing(), allowed?.value ?? null);
  return found.success && found.data.publicLinks ? parsed.data : undefined;
};

const sharedQuery = (projectId: ProjectId, traceId: string): CallsQuery => ({
  projectId,
  filter: { ...everyCall, traceIds: [traceId] },
  where: null,
  limit: maxSharedCalls + 1,
  offset: 0,
  sort: [],
  columns: [...sharedColumns],
  expand: [],
  returnExpanded: false,
  includes: { ...noIncludes, costs: true },
});

/** A trace that somebody reads by a link. */
export interface SharedTrace {
  readonly projectId: ProjectId;
  readonly answer: QueryAnswer;
  /** Gives the lines of the answer, as JSON. */
  readonly lines: () => AsyncGenerator<readonly string[]>;
}

/** The one answer to all tokens that lead nowhere. */
const nowhere = () =>
  notFound(['body', 'token'], 'this link does not work: it has expired, was revoked, or never was');

/** As many lines as a link shows, and whether these are all. */
async function* boundedLines(
  calls: AsyncIterable<readonly string[]>,
): AsyncGenerator<readonly string[], boolean> {
  let count = 0;
  let bytes = 0;
  for await (const batch of calls) {
    const lines: string[] = [];
    for (const call of batch) {
      count++;
      bytes += Buffer.byteLength(call);
      if (count > maxSharedCalls || bytes > maxSharedBytes) {
        yield lines;
        return false;
      }
      lines.push(`{"call":${call}}`);
    }
    yield lines;
  }
  return true;
}

/**
 * Finds what the token of a public link leads to.
 *
 * @throws ServiceError 404 for every token that leads nowhere; while the lines are read, for a trace that
 * has no calls
 */
export const readShared = async (
  calls: Store,
  objects: Store,
  text: string,
  lookups: Lookups,
  budget: RequestBudget,
): Promise<SharedTrace> => {
  const token = parseToken(text);
  const link = token && (await findLink(objects, token, budget));
  if (!token || !link) throw nowhere();
  const { projectId } = token;
  const { traceId, expiresAt } = link;
  const answer = queryCalls(calls, sharedQuery(projectId, traceId), budget, lookups);
  const first = JSON.stringify({ shared: { trace_id: traceId, expires_at: expiresAt } });
  async function* lines(): AsyncGenerator<readonly string[]> {
    const bounded = boundedLines(answer.json());
    let next = await bounded.next();
    if (next.done) throw nowhere();
    yield [first];
    for (; !next.done; next = await bounded.next()) yield next.value;
    yield [JSON.stringify({ end: { complete: next.value } })];
  }
  return { projectId, answer, lines };
};

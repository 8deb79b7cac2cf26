import type * as z from 'zod/mini';
import { alert } from '../../../api/alerts.ts';
import { evaluator } from '../../../api/evaluators.ts';
import { savedIssue } from '../../../api/issues.ts';
import { limits, limitsObject } from '../../../api/limits.ts';
import { everyVersion } from '../../../api/objects.ts';
import {
  promptLabels,
  promptLabelsObject,
  publicLink,
  retention,
  retentionObject,
  sharing,
} from '../../../api/project-objects.ts';
import { annotationSpec, reviewQueue } from '../../../api/reviews.ts';
import {
  alertClass,
  annotationSpecClass,
  evaluatorClass,
  limitsClass,
  promptLabelsClass,
  publicLinkClass,
  retentionClass,
  reviewQueueClass,
  sharingClass,
} from '../../../api/shared/classes.ts';
import { issueClass } from '../../../api/shared/issues.ts';
import { maxLinkDays, sharingObject } from '../../../api/shared/sharing.ts';
import { allows, type Caller } from '../../../foundations/auth/index.ts';
import { readSchema } from '../../../foundations/json-schema/read.ts';
import { re2Problem } from '../../../foundations/re2.ts';
import {
  type Item,
  queryPage,
  type RequestBudget,
  readRange,
  type Store,
} from '../../../foundations/storage/index.ts';
import {
  type ErrorDetail,
  forbidden,
  invalid,
  invalidAt,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type ProjectId,
  parseJson,
  parseTime,
  ServiceError,
} from '../../../foundations/wire/index.ts';
import { parseValue } from '../../../foundations/wire/schema.ts';
import type { AuditedChange } from '../audit.ts';
import { memberRange, toHeader } from './items.ts';
import type { AuthorizeChange, ObjectChange, ObjectName, VersionHeader } from './model.ts';
import { findAll } from './query.ts';
import { readValues } from './read.ts';

/*
 * Classes whose objects mean something to the service. Their values are checked when they are made,
 * and some take the role `admin`. One more class is one more line in each list.
 */

/** Where the value of an object stands in a request. */
const inBody = ['body', 'obj', 'val'];

/** What holds for the objects of a class, whatever their values are. */
interface ClassRules {
  /** The only name that an object of the class may have. @default - any */
  readonly objectId?: string;
  /** How many objects of the class a project may have, since all are read at once. @default - any number */
  readonly most?: number;
}

/** How the values of a class are checked. */
interface ClassCheck {
  readonly schema: () => z.ZodMiniType;
  /** What the schema cannot tell: problems with their places in the value. @default - none */
  readonly further?: (value: JsonObject) => Promise<readonly ErrorDetail[]>;
}

/** The longest query of an evaluator, in characters of JSON: each call of a project is asked. */
const maxEvaluatorQuery = 10_000;

/** What is wrong with what an evaluator's check looks for, or with its query. */
const evaluatorProblems = async ({ check, query }: JsonObject): Promise<ErrorDetail[]> => {
  if (JSON.stringify(query ?? null).length > maxEvaluatorQuery) {
    const msg = `should be at most ${maxEvaluatorQuery} characters of JSON in an evaluator`;
    return [{ loc: ['query'], msg, type: 'too_long' }];
  }
  const { regex, json_schema: jsonSchema = null } = isJsonObject(check) ? check : {};
  const wrong = typeof regex === 'string' ? await re2Problem(regex) : undefined;
  if (wrong !== undefined) {
    const msg = `should be a regular expression of RE2 (https://github.com/google/re2/wiki/Syntax): ${wrong}`;
    return [{ loc: ['check', 'regex'], msg, type: 'value_error' }];
  }
  const read = jsonSchema === null ? undefined : readSchema(jsonSchema);
  if (!read || !('problem' in read)) return [];
  const { path, msg } = read.problem;
  return [{ loc: ['check', 'json_schema', ...path], msg, type: 'value_error' }];
};

/** What is wrong with when a link ends. One that is revoked may have ended. */
const linkProblems = async ({ expires_at: expiresAt, revoked }: JsonObject): Promise<ErrorDetail[]> => {
  const leftMs = (parseTime(String(expiresAt)) ?? 0) / 1000 - Date.now();
  if (revoked === true || (leftMs > 0 && leftMs <= maxLinkDays * 86_400_000)) return [];
  const msg = `should be a time to come, within ${maxLinkDays} days`;
  return [{ loc: ['expires_at'], msg, type: 'value_error' }];
};

const classes = {
  [evaluatorClass]: { most: 100 },
  [limitsClass]: { objectId: limitsObject },
  [retentionClass]: { objectId: retentionObject },
  [alertClass]: {},
  [issueClass]: { most: 5000 },
  [annotationSpecClass]: {},
  [reviewQueueClass]: {},
  [promptLabelsClass]: { objectId: promptLabelsObject },
  [sharingClass]: { objectId: sharingObject },
  [publicLinkClass]: { most: 1000 },
} as const satisfies Readonly<Record<string, ClassRules>>;
const rules: Readonly<Record<string, ClassRules>> = classes;

/** A function, so that bundles which check no values leave the schemas out. */
const getChecks = (): Readonly<Record<keyof typeof classes, ClassCheck>> => ({
  [evaluatorClass]: { schema: evaluator, further: evaluatorProblems },
  [limitsClass]: { schema: limits },
  [retentionClass]: { schema: retention },
  [alertClass]: { schema: alert },
  [issueClass]: { schema: savedIssue },
  [annotationSpecClass]: { schema: annotationSpec },
  [reviewQueueClass]: { schema: reviewQueue },
  [promptLabelsClass]: { schema: promptLabels },
  [sharingClass]: { schema: sharing },
  [publicLinkClass]: { schema: publicLink, further: linkProblems },
});

/** Which values of a class take the role `admin`, as a refusal calls them. */
const admins: Readonly<
  Record<string, { readonly what: string; readonly needsAdmin: (value: JsonObject) => boolean }>
> = {
  [evaluatorClass]: {
    what: 'an Evaluator with a judge',
    needsAdmin: ({ judge }) => judge !== undefined && judge !== null,
  },
  [limitsClass]: { what: 'Limits', needsAdmin: () => true },
  [retentionClass]: { what: 'a Retention', needsAdmin: () => true },
  [alertClass]: { what: 'an Alert', needsAdmin: () => true },
  [promptLabelsClass]: { what: 'PromptLabels', needsAdmin: () => true },
  [sharingClass]: { what: 'Sharing', needsAdmin: () => true },
};

/**
 * The class of a value that names it by its `_type` alone. What Weave's SDKs store names its classes
 * otherwise, too: a user's own class may be called as one of ours is.
 */
export const getOwnClass = (value: JsonValue): string | undefined => {
  if (!isJsonObject(value) || Object.hasOwn(value, '_bases') || Object.hasOwn(value, '_class_name'))
    return undefined;
  return Object.hasOwn(value, '_type') && typeof value._type === 'string' ? value._type : undefined;
};

const findEntry = <T>(list: Readonly<Record<string, T>>, value: JsonValue): T | undefined => {
  const name = getOwnClass(value);
  return name !== undefined && Object.hasOwn(list, name) ? list[name] : undefined;
};

/** The class of a value that means something to the service; undefined for any other value. */
export const classWithMeaning = (value: JsonValue): string | undefined =>
  findEntry(rules, value) && getOwnClass(value);

/** The latest version of an object of a class that means something to the service. */
export interface ObjectOfClass {
  readonly header: VersionHeader;
  readonly value: JsonObject;
}

/** Which objects of a class are read: these, those that a test lets through, or all. */
type WhichObjects = readonly string[] | ((objectId: string) => boolean) | null;

/** The latest versions of objects of a class, of which some may be of another if they are named. */
const latestVersions = async (
  store: Store,
  projectId: ProjectId,
  className: string,
  which: WhichObjects,
  budget: RequestBudget,
): Promise<VersionHeader[]> => {
  if (which === null || typeof which === 'function') {
    const options = { toRow: (item: Item) => toHeader(projectId, item), consistent: true };
    const range = readRange(store.table, memberRange(projectId, className), options, budget);
    const members = (await Array.fromAsync(range)).flat();
    return which ? members.filter(({ objectId }) => which(objectId)) : members;
  }
  const filter = { ...everyVersion, latestOnly: true, objectIds: [...which] };
  const named = findAll(store, { projectId, filter }, 'ascending', null, budget);
  return (await Array.fromAsync(named)).flat().map(({ header }) => header);
};

/**
 * Reads the latest versions of a project's objects of a class that means something to the service, by
 * their ids. It takes no look at other objects.
 *
 * @param which null for all. Of those that a test does not let through, no value is read
 */
export const readClass = async (
  store: Store,
  projectId: ProjectId,
  className: string,
  which: WhichObjects,
  budget: RequestBudget,
): Promise<ObjectOfClass[]> => {
  const latest = await latestVersions(store, projectId, className, which, budget);
  const found = latest.flatMap((header) => (header.meaning === className ? [{ header }] : []));
  const values = await readValues(store, found, budget);
  return found.flatMap(({ header }, i) => {
    const value = parseJson(values[i] ?? 'null') as JsonValue;
    return isJsonObject(value) ? [{ header, value }] : [];
  });
};

/** Reads a value of a class; undefined if it is none. */
export type ParseObject<T> = (value: JsonValue) => T | undefined;

/** Versions are looked at so many at once: the newest one is nearly always of the class. */
const newestAtOnce = 10;

/**
 * Reads the newest version of an object that is of a class. Whoever may not make one cannot put something
 * else in its place.
 *
 * @returns undefined if there is no such version
 */
export const readNewest = async <T>(
  objects: Store,
  { projectId, objectId }: ObjectName,
  className: string,
  parse: ParseObject<T>,
  budget: RequestBudget,
): Promise<T | undefined> => {
  const filter = { ...everyVersion, objectIds: [objectId] };
  for await (const batch of findAll(objects, { projectId, filter }, 'descending', newestAtOnce, budget))
    for (const { header } of batch) {
      // Values in the bucket are longer than any of such a class.
      if (header.baseObjectClass !== className || header.home !== 'item') continue;
      const [text] = await readValues(objects, [{ header }], budget);
      const value = text === undefined ? null : (parseJson(text) as JsonValue);
      const parsed = getOwnClass(value) === className ? parse(value) : undefined;
      if (parsed) return parsed;
    }
  return undefined;
};

/**
 * Refuses one more object of a class, if a project has as many as it may. Several that are made at the
 * same moment can be a few more.
 *
 * @throws ServiceError 422
 */
export const requireRoom = async (
  { table }: Store,
  projectId: ProjectId,
  className: string,
  budget: RequestBudget,
): Promise<void> => {
  const most = rules[className]?.most;
  if (most === undefined) return;
  const range = memberRange(projectId, className);
  const { items } = await queryPage(table, range, budget, { consistent: true, limit: most });
  if (items.length < most) return;
  const msg = `is one more object of class ${className} than the ${most} that a project may have: delete one that you no longer need`;
  throw invalidAt(inBody, msg);
};

/**
 * Checks a value of a class that means something to the service.
 *
 * @param place where the value stands in the request
 * @throws ServiceError 422 that names each wrong place
 */
export const checkValue = async (value: JsonValue, place: readonly string[]): Promise<void> => {
  const check = findEntry<ClassCheck>(getChecks(), value);
  if (!check || !isJsonObject(value)) return;
  try {
    parseValue(check.schema(), value);
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    throw invalid(...error.detail.map((detail) => ({ ...detail, loc: [...place, ...detail.loc.slice(1)] })));
  }
  const further = (await check.further?.(value)) ?? [];
  if (further.length > 0)
    throw invalid(...further.map((detail) => ({ ...detail, loc: [...place, ...detail.loc] })));
};

/**
 * Checks name and value of an object of a class that means something to the service.
 *
 * @throws ServiceError 422 that names each wrong place
 */
export const checkObject = async (objectId: string, value: JsonValue): Promise<void> => {
  const only = findEntry(rules, value)?.objectId;
  if (only !== undefined && only !== objectId) {
    const msg = `should be ${only} for an object of class ${getOwnClass(value)}`;
    throw invalidAt(['body', 'obj', 'object_id'], msg);
  }
  await checkValue(value, inBody);
};

type Grants = Pick<Caller, 'grants'>;

const needsAdmin = (loc: readonly string[], deed: string, what: string, projectId: ProjectId) =>
  forbidden(loc, `it takes the role admin to ${deed} ${what}, which this key does not have in ${projectId}`);

/**
 * Refuses a caller who may not make an object with this value.
 *
 * @throws ServiceError 403
 */
export const authorizeObject = ({ grants }: Grants, projectId: ProjectId, value: JsonValue): void => {
  const admin = findEntry(admins, value);
  if (!admin || !isJsonObject(value) || !admin.needsAdmin(value) || allows(grants, projectId, 'admin'))
    return;
  throw needsAdmin(inBody, 'make or delete', admin.what, projectId);
};

/** Values are looked at so many at once. */
const atOnce = 100;

/**
 * The first of some versions that took the role `admin` to make, as a refusal calls it; undefined if none
 * did.
 */
const adminsAmong = async (
  store: Store,
  headers: readonly VersionHeader[],
  budget: RequestBudget,
): Promise<string | undefined> => {
  const suspects = headers.filter(({ baseObjectClass }) => Object.hasOwn(admins, baseObjectClass ?? ''));
  // Functions that make and delete may not read the bucket. No small evaluator lies there.
  const apart = suspects.find(({ home }) => home === 'bucket');
  if (apart) return `this ${apart.baseObjectClass}`;
  const values = await readValues(
    store,
    suspects.map((header) => ({ header })),
    budget,
  );
  for (const text of values) {
    const value = text === undefined ? null : (parseJson(text) as JsonValue);
    const admin = findEntry(admins, value);
    if (admin && isJsonObject(value) && admin.needsAdmin(value)) return admin.what;
  }
  return undefined;
};

/**
 * What refuses a caller who may not change the versions of an object so: who has not the role `admin`
 * neither deletes versions that took it to make, nor covers one as the latest, nor brings one back.
 *
 * @throws ServiceError 403, when it is called
 */
export const authorizeChange =
  (store: Store, { grants }: Grants, projectId: ProjectId, budget: RequestBudget): AuthorizeChange =>
  async ({ deleted, covered, uncovered }) => {
    if (allows(grants, projectId, 'admin')) return;
    const place = ['body', 'object_id'];
    const gone = await adminsAmong(store, deleted, budget);
    if (gone !== undefined) throw needsAdmin(place, 'make or delete', gone, projectId);
    const hidden = covered && (await adminsAmong(store, [covered], budget));
    if (hidden) throw needsAdmin(['body', 'obj', 'object_id'], 'cover', hidden, projectId);
    const back = uncovered && (await adminsAmong(store, [uncovered], budget));
    if (back) throw needsAdmin(place, 'bring back', back, projectId);
  };

/**
 * Refuses a caller who may not delete versions of an object, before any is deleted.
 *
 * @param digests of the versions; null for all
 * @throws ServiceError 403
 */
export const authorizeDeletion = async (
  store: Store,
  caller: Grants,
  { projectId, objectId }: ObjectName,
  digests: readonly string[] | null,
  budget: RequestBudget,
): Promise<void> => {
  if (allows(caller.grants, projectId, 'admin')) return;
  const authorize = authorizeChange(store, caller, projectId, budget);
  const filter = { ...everyVersion, objectIds: [objectId] };
  const digestSet = digests && new Set(digests);
  let newestLeft: VersionHeader | null = null;
  let isLatestGone = false;
  for await (const batch of findAll(store, { projectId, filter }, 'ascending', atOnce, budget)) {
    const deleted = batch.flatMap(({ header }) =>
      !digestSet || digestSet.has(header.digest) ? [header] : [],
    );
    await authorize({ deleted, covered: null, uncovered: null });
    for (const { header, isLatest } of batch) {
      if (!deleted.includes(header)) newestLeft = header;
      else if (isLatest) isLatestGone = true;
    }
  }
  if (isLatestGone) await authorize({ deleted: [], covered: null, uncovered: newestLeft });
};

/** Classes whose changes are audited: those that take the role `admin`, and what lets others read without a key. */
const audited: ReadonlySet<string | null> = new Set([...Object.keys(admins), publicLinkClass]);

/** The class of a version whose changes are audited; undefined for any other version. */
const auditedClass = ({ meaning, baseObjectClass }: VersionHeader): string | undefined =>
  [meaning, baseObjectClass].find((name) => audited.has(name)) ?? undefined;

/** What an entry says of a version: its value, or what it is known by if that lies in the bucket. */
const describeVersion = async (
  store: Store,
  header: VersionHeader | null,
  budget: RequestBudget,
): Promise<JsonValue | undefined> => {
  if (!header) return undefined;
  const { digest, bytes, baseObjectClass, home } = header;
  // Functions that make and delete may not read the bucket.
  const [text] = home === 'item' ? await readValues(store, [{ header }], budget) : [];
  return text === undefined ? { digest, bytes, class: baseObjectClass } : (parseJson(text) as JsonValue);
};

/**
 * What the audit trail says of a version that is about to be made; undefined if neither it nor what it covers is of a
 * class whose changes are audited.
 */
export const describeCreation = async (
  store: Store,
  { projectId, objectId, val }: ObjectName & { readonly val: JsonValue },
  covered: VersionHeader | null,
  budget: RequestBudget,
): Promise<AuditedChange | undefined> => {
  const own = getOwnClass(val);
  const name = own !== undefined && audited.has(own) ? own : covered && auditedClass(covered);
  if (!name) return undefined;
  return {
    scope: projectId,
    action: `${name.toLowerCase()}.set`,
    target: objectId,
    before: await describeVersion(store, covered, budget),
    after: val,
  };
};

/**
 * What the audit trail says of versions that are about to be deleted: of audited classes the values
 * of the latest, and which one is in force then; of others their digests.
 */
export const describeDeletion = async (
  store: Store,
  { projectId, objectId }: ObjectName,
  { deleted, uncovered }: ObjectChange,
  budget: RequestBudget,
): Promise<AuditedChange> => {
  const told = deleted.findLast((header) => auditedClass(header) !== undefined);
  const [first = null] = deleted;
  const name = told && auditedClass(told);
  return {
    scope: projectId,
    action: `${name?.toLowerCase() ?? 'object'}.delete`,
    target: objectId,
    before: told
      ? await describeVersion(store, told, budget)
      : { class: first?.baseObjectClass ?? null, digests: deleted.map(({ digest }) => digest) },
    after: await describeVersion(store, uncovered && told ? uncovered : null, budget),
  };
};

import { createHash, randomBytes, randomInt, timingSafeEqual } from 'node:crypto';
import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { GetCommand, PutCommand, UpdateCommand, type UpdateCommandInput } from '@aws-sdk/lib-dynamodb';
import {
  asBytes,
  asNumber,
  asText,
  documents,
  getItems,
  type Item,
  isThrottling,
  type Meter,
  type RequestBudget,
  requestBudget,
  scanItems,
  scanTable,
  type Table,
  type Value,
  withRetries,
} from '../storage/index.ts';
import type { TableKey } from '../storage/tables.ts';
import { formatTime, type Micros, parseTime } from '../wire/index.ts';
import {
  distinctGrants,
  formatGrant,
  formatGrants,
  type Grant,
  maxLimitUsd,
  parseGrant,
  type SpendingLimits,
} from './grants.ts';
import { parseRoleArn, type RoleArn, toRoleId } from './iam-role.ts';

/** An API key in its parts; as text it is `svc_<id>_<secret>`. */
export interface Key {
  /** 16 of `0-9a-z`: names the key in the table and in logs. Not a secret. */
  readonly id: string;
  /** 64 lower-case hex digits, so 256 bits. */
  readonly secret: string;
}

const idLength = 16;
const idAlphabet = '0123456789abcdefghijklmnopqrstuvwxyz';
const secretBytes = 32;
const keyText = /^(?:svc|weave)_([0-9a-z]{16})_([0-9a-fA-F]{64})$/;
const keyId = /^[0-9a-z]{16}$/;

/** Whether the text is a key's id: 16 of `0-9a-z`. */
export const isKeyId = (text: string): boolean => keyId.test(text);

/**
 * Makes a key from the system's secure random source. `randomInt` is unbiased; a byte modulo 36
 * would not be.
 */
export const makeKey = (): Key => ({
  id: Array.from({ length: idLength }, () => idAlphabet[randomInt(idAlphabet.length)]).join(''),
  secret: randomBytes(secretBytes).toString('hex'),
});

/** What a key begins with, as it is made; the second is how Weave's users write it. */
const prefixes = ['svc', 'weave'] as const;

const written = ({ id, secret }: Key, prefix: (typeof prefixes)[number]): string =>
  `${prefix}_${id}_${secret}`;

/** The key as its holder sends it: `svc_<id>_<secret>`. */
export const formatKey = (key: Key): string => written(key, 'svc');

/**
 * Parses `svc_<id>_<secret>`, or the same key with `weave_` in front. The case of hex digits does not
 * matter.
 *
 * @returns the key; undefined if the text is no key
 */
export const parseKey = (text: string): Key | undefined => {
  const [, id, secret] = keyText.exec(text) ?? [];
  if (id === undefined || secret === undefined) return undefined;
  return { id, secret: secret.toLowerCase() };
};

/**
 * The SHA-256 of the whole key, 32 bytes. It is stored instead of the key.
 *
 * The id is part of it, so that the digest of one record is of no use in another. A slow hash would
 * add nothing to 256 random bits.
 */
export const digestKey = (key: Key): Uint8Array => sha256(formatKey(key));

const sha256 = (text: string): Uint8Array =>
  // Not a Buffer, so that it equals what storage returns.
  new Uint8Array(createHash('sha256').update(text).digest());

/** As long as a digest, and the digest of no key. */
const noDigest = new Uint8Array(32);

/**
 * Whether the digest is the key's. Deployments in Weave's dialect, which there were, have digests of keys
 * with `weave_` in front.
 *
 * It takes the same time for every digest, and for none at all (an unknown id). So nobody learns
 * anything from the time that a refusal takes.
 */
export const matchesDigest = (key: Key, digest: Uint8Array | undefined): boolean => {
  const equal = prefixes.map((prefix) => timingSafeEqual(sha256(written(key, prefix)), digest ?? noDigest));
  return equal.includes(true) && digest !== undefined;
};

/** Whom a key is for, what it allows, and until when. */
export interface Grantee {
  /** 1–128 printable characters without `:`, or the ARN of an IAM role. The key's writes carry this name. */
  readonly user: string;
  /** 1–50 grants. */
  readonly grants: readonly Grant[];
  /** When the key expires, in microseconds since 1970; absent for never. */
  readonly expiresAt?: Micros;
  /** What its model requests may cost: above 0, at most a million dollars each; absent for any amount. */
  readonly limits?: SpendingLimits;
}

/** What a key, an IAM role or a member is granted. Times are microseconds since 1970. */
export interface GrantRecord extends Grantee {
  readonly id: string;
  /** The SHA-256 of the key, 32 bytes; absent for a role and a member, which no key opens. */
  readonly digest?: Uint8Array;
  /** Those of a role's grants that deployments gave it; absent for a key. */
  readonly deployed?: readonly Grant[];
  readonly createdAt: Micros;
  readonly revokedAt?: Micros;
  /** Whether a deployment made the key, which fails without it. */
  readonly byDeployment?: true;
  /** The last UTC day on which it was used, `2026-10-01`; absent if none is known. */
  readonly usedOn?: string;
}

/** The record of a key, without its secret. */
export interface KeyRecord extends GrantRecord {
  readonly digest: Uint8Array;
}

/** Whether a key is valid, and if not, why. A key that is both counts as revoked. */
export type KeyState = 'active' | 'revoked' | 'expired';

const maxUserLength = 128;
export const maxGrants = 50;
/** The authorizer passes all grants in one context value, whose length API Gateway bounds. */
export const maxGrantsLength = 4096;
const digestBytes = 32;

/**
 * The characters of a user's name. Not among them:
 *
 * - controls, invisible marks, lone surrogates and line breaks;
 * - the colon, which ends the user name in Basic credentials;
 * - quotes and backslashes, since API Gateway writes them raw into its access log, a JSON line.
 */
const printable = /^[^\p{C}\p{Zl}\p{Zp}:"\\]+$/u;

/**
 * Whether the text can be a user's name: 1–128 printable characters (code points) without `:`, `"`
 * and `\`.
 */
export const isUser = (text: string): boolean =>
  printable.test(text) && [...text].length <= maxUserLength && text.trim() === text;

/** Whether a record would have more grants than fit. */
export const areTooMany = (grants: readonly Grant[]): boolean =>
  grants.length > maxGrants || formatGrants(grants).length > maxGrantsLength;

const tooManyGrants = `too many grants: at most ${maxGrants}, and ${maxGrantsLength} characters in all; use <entity>/*`;

const refuse = (grantee: Omit<Grantee, 'user'>, now: Micros): string | undefined => {
  if (grantee.grants.length === 0) return 'a key without a grant can do nothing: give it at least one';
  if (areTooMany(grantee.grants)) return tooManyGrants;
  if (grantee.expiresAt !== undefined && grantee.expiresAt <= now)
    return `the expiry should be in the future, ${formatTime(grantee.expiresAt)} is not`;
  const { usdPerDay = 1, usdPerMonth = 1 } = grantee.limits ?? {};
  if (![usdPerDay, usdPerMonth].every((usd) => usd > 0 && usd <= maxLimitUsd))
    return `a limit should be above 0 and at most ${maxLimitUsd} dollars`;
  return undefined;
};

const badUser =
  'the user should be 1 to 128 printable characters, without colon, double quote, backslash and space around them';

/**
 * Makes the record of a new key.
 *
 * @param now microseconds since 1970
 * @throws RangeError if the user, the grants or the expiry are out of bounds; its message is for
 * the operator
 */
export const newRecord = (key: Key, grantee: Grantee, now: Micros): KeyRecord => {
  const refusal = isUser(grantee.user) ? refuse(grantee, now) : badUser;
  if (refusal !== undefined) throw new RangeError(refusal);
  return { ...grantee, id: key.id, digest: digestKey(key), createdAt: now };
};

/**
 * The state of a key at a time in microseconds since 1970. A key expires with the very microsecond
 * of its expiry.
 */
export const keyState = (record: GrantRecord, now: Micros): KeyState => {
  if (record.revokedAt !== undefined) return 'revoked';
  return record.expiresAt !== undefined && record.expiresAt <= now ? 'expired' : 'active';
};

/**
 * The record as an item of the keys table. An operator can read its names and values in the
 * console.
 */
export const toItem = (record: KeyRecord): Item => ({
  id: record.id,
  digest: record.digest,
  user: record.user,
  grants: record.grants.map(formatGrant),
  createdAt: formatTime(record.createdAt),
  ...(record.expiresAt !== undefined && { expiresAt: formatTime(record.expiresAt) }),
  ...(record.revokedAt !== undefined && { revokedAt: formatTime(record.revokedAt) }),
  ...(record.limits?.usdPerDay !== undefined && { usdPerDay: record.limits.usdPerDay }),
  ...(record.limits?.usdPerMonth !== undefined && { usdPerMonth: record.limits.usdPerMonth }),
  ...(record.byDeployment && { byDeployment: true }),
  ...(record.usedOn !== undefined && { usedOn: record.usedOn }),
});

/**
 * Reads a limit; undefined if the item has none.
 *
 * @throws Error if it is no number: a damaged limit must not count as none
 */
const readLimit = (item: Item, name: string): number | undefined =>
  item[name] === undefined ? undefined : required(item, name, asNumber(item[name]));

/**
 * Reads a time; undefined if the item has none.
 *
 * @throws Error if it is no time
 */
const readTime = (item: Item, name: string): Micros | undefined => {
  if (item[name] === undefined) return undefined;
  const text = asText(item[name]);
  return required(item, name, text === undefined ? undefined : parseTime(text));
};

const required = <T>(item: Item, name: string, value: T | undefined): T => {
  if (value === undefined) throw new Error(`the record of key ${asText(item.id)} is damaged: ${name}`);
  return value;
};

/** The grants of a list of texts; undefined if it is no list, or one of them is no grant. */
const parseGrants = (value: Value | undefined): Grant[] | undefined => {
  if (!Array.isArray(value)) return undefined;
  const grants = value.map((grant) => (typeof grant === 'string' ? parseGrant(grant) : undefined));
  return grants.includes(undefined) ? undefined : grants.filter((grant) => grant !== undefined);
};

/** What the names of attributes begin with that hold a grant of a deployment. */
const deployedPrefix = 'deployed:';

const isRole = (item: Item): boolean => {
  const arn = parseRoleArn(asText(item.user) ?? '');
  return arn !== undefined && arn === item.user && toRoleId(arn) === item.id;
};

/** Whether it is an item of a member, whose id names it. */
const isMember = (item: Item): boolean => typeof item.user === 'string' && item.id === `member:${item.user}`;

/** What an item of a role or a member has in place of a digest: the grants of deployments beside the operator's. */
const readRoleGrants = (item: Item): Pick<GrantRecord, 'grants' | 'deployed'> => {
  const grants = required(item, 'grants', parseGrants(item.grants));
  const added = Object.entries(item).filter(([name]) => name.startsWith(deployedPrefix));
  const deployed = required(item, 'deployed', parseGrants(added.map(([, grant]) => grant)));
  return { grants: distinctGrants([...grants, ...deployed]), deployed };
};

const readKeyGrants = (item: Item): Pick<KeyRecord, 'grants' | 'digest'> => {
  const digest = asBytes(item.digest);
  return {
    digest: required(item, 'digest', digest?.length === digestBytes ? digest : undefined),
    grants: required(item, 'grants', parseGrants(item.grants)),
  };
};

/**
 * Reads a record back from its item.
 *
 * @throws Error if neither {@link toItem} nor a function for roles or members wrote the item. A damaged record never
 * counts as a valid key, least of all as one without an expiry
 */
export const fromItem = (item: Item): GrantRecord => {
  const expiresAt = readTime(item, 'expiresAt');
  const revokedAt = readTime(item, 'revokedAt');
  const usdPerDay = readLimit(item, 'usdPerDay');
  const usdPerMonth = readLimit(item, 'usdPerMonth');
  const usedOn = asText(item.usedOn);
  const isLimited = usdPerDay !== undefined || usdPerMonth !== undefined;
  return {
    id: required(item, 'id', asText(item.id)),
    user: required(item, 'user', asText(item.user)),
    ...(item.digest === undefined && (isRole(item) || isMember(item))
      ? readRoleGrants(item)
      : readKeyGrants(item)),
    createdAt: required(item, 'createdAt', readTime(item, 'createdAt')),
    ...(expiresAt !== undefined && { expiresAt }),
    ...(revokedAt !== undefined && { revokedAt }),
    ...(item.byDeployment === true && { byDeployment: true }),
    ...(usedOn !== undefined && { usedOn }),
    ...(isLimited && {
      limits: {
        ...(usdPerDay !== undefined && { usdPerDay }),
        ...(usdPerMonth !== undefined && { usdPerMonth }),
      },
    }),
  };
};

const toKey = (id: string): TableKey<'keys'> => ({ id });

/** The answer of a write; undefined if its condition did not hold. */
const conditional = async <T>(write: Promise<T>): Promise<T | undefined> => {
  try {
    return await write;
  } catch (error) {
    if (error instanceof ConditionalCheckFailedException) return undefined;
    throw error;
  }
};

/**
 * Reads the record of a key, strongly consistent: a revocation counts from the next read on.
 *
 * @param meter counts the request
 * @returns the record; undefined if the id is unknown
 * @throws the SDK's error when the table does not answer; Error if the record is damaged
 */
export const getKey = async (table: Table, id: string, meter?: Meter): Promise<GrantRecord | undefined> => {
  const command = new GetCommand({
    TableName: table.name,
    Key: toKey(id),
    ConsistentRead: true,
    ReturnConsumedCapacity: 'TOTAL',
  });
  if (meter) meter.requests++;
  try {
    const { Item, ConsumedCapacity } = await documents(table).send(command);
    if (meter) meter.readUnits += ConsumedCapacity?.CapacityUnits ?? 0;
    return Item && fromItem(Item);
  } catch (error) {
    if (meter && isThrottling(error)) meter.throttled++;
    throw error;
  }
};

/** Reads the record of a key, a role or a member for a request; undefined if the id is unknown. */
export const readRecord = async (
  table: Table,
  id: string,
  budget: RequestBudget,
): Promise<GrantRecord | undefined> => {
  const [item] = await getItems(table, [toKey(id)], budget, { consistent: true });
  return item && fromItem(item);
};

/** Reads the records of all keys, roles and members for a request, the oldest first. It scans the table. */
export const readRecords = async (table: Table, budget: RequestBudget): Promise<GrantRecord[]> =>
  oldestFirst((await scanItems(table, budget)).map(fromItem));

const oldestFirst = (records: readonly GrantRecord[]): GrantRecord[] =>
  records.toSorted((a, b) => a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1));

/** As long as an operator waits for an answer, in milliseconds. */
const operatorMs = 20_000;

/**
 * Stores the record of a key if its id is free. The same key again replaces its record, so that a
 * request may be repeated. A revoked key stays as it is.
 *
 * @returns whether it was stored; false if the id is another key's or a revoked one's
 * @throws ServiceError 503 or the SDK's error when the table does not answer
 */
export const putKey = async (
  table: Table,
  record: KeyRecord,
  budget = requestBudget(operatorMs),
): Promise<boolean> => {
  const command = new PutCommand({
    TableName: table.name,
    Item: toItem(record),
    ConditionExpression:
      'attribute_not_exists(#id) OR (#digest = :digest AND attribute_not_exists(#revokedAt))',
    ExpressionAttributeNames: { '#id': 'id', '#digest': 'digest', '#revokedAt': 'revokedAt' },
    ExpressionAttributeValues: { ':digest': record.digest },
  });
  let stored = false;
  await withRetries(budget, async (options) => {
    stored = (await conditional(documents(table).send(command, options))) !== undefined;
    return true;
  });
  return stored;
};

/** What may have this id: nothing, or the role itself. */
const isRoleCondition = '(attribute_not_exists(#id) OR #user = :user)';

/**
 * Grants an IAM role something, in place of what the operator granted it before. A revoked role is granted
 * it anew. What deployments granted stays.
 *
 * @param now microseconds since 1970
 * @returns the record as it is then
 * @throws RangeError if the grants or the expiry are out of bounds; its message is for the operator. The
 * SDK's error when the table does not answer
 */
export const grantRole = async (
  table: Table,
  arn: RoleArn,
  grantee: Omit<Grantee, 'user'>,
  now: Micros,
): Promise<GrantRecord> => {
  const { deployed = [] } = (await getKey(table, toRoleId(arn))) ?? {};
  const refusal = refuse({ ...grantee, grants: distinctGrants([...grantee.grants, ...deployed]) }, now);
  if (refusal !== undefined) throw new RangeError(refusal);
  const { expiresAt, limits } = grantee;
  const values: Readonly<Record<string, Value | undefined>> = {
    grants: grantee.grants.map(formatGrant),
    createdAt: formatTime(now),
    expiresAt: expiresAt === undefined ? undefined : formatTime(expiresAt),
    usdPerDay: limits?.usdPerDay,
    usdPerMonth: limits?.usdPerMonth,
    revokedAt: undefined,
  };
  const names = Object.keys(values);
  const set = names.filter((name) => values[name] !== undefined);
  const removed = names.filter((name) => values[name] === undefined);
  return updateRole(table, arn, {
    UpdateExpression: `SET #user = :user, ${set.map((name) => `#${name} = :${name}`).join(', ')} REMOVE ${removed.map((name) => `#${name}`).join(', ')}`,
    ConditionExpression: isRoleCondition,
    ExpressionAttributeNames: Object.fromEntries(names.map((name) => [`#${name}`, name])),
    ExpressionAttributeValues: Object.fromEntries(set.map((name) => [`:${name}`, values[name]])),
  });
};

type Update = Pick<
  UpdateCommandInput,
  'UpdateExpression' | 'ConditionExpression' | 'ExpressionAttributeNames' | 'ExpressionAttributeValues'
>;

const updateRole = async (table: Table, arn: RoleArn, update: Update): Promise<GrantRecord> => {
  const { Attributes = {} } = await documents(table).send(
    new UpdateCommand({
      ...update,
      TableName: table.name,
      Key: toKey(toRoleId(arn)),
      ExpressionAttributeNames: { ...update.ExpressionAttributeNames, '#id': 'id', '#user': 'user' },
      ExpressionAttributeValues: { ...update.ExpressionAttributeValues, ':user': arn },
      ReturnValues: 'ALL_NEW',
    }),
  );
  return fromItem(Attributes);
};

/**
 * Adds a grant of a deployment to what a role is granted. The same again changes nothing.
 *
 * @param name what tells the grants of deployments apart
 * @param now microseconds since 1970
 * @throws Error if the role was revoked; RangeError if it has too many grants then, and stays as it was. The
 * SDK's error when the table does not answer
 */
export const addRoleGrant = async (
  table: Table,
  arn: RoleArn,
  name: string,
  grant: Grant,
  now: Micros,
): Promise<void> => {
  const record = await conditional(
    updateRole(table, arn, {
      UpdateExpression:
        'SET #user = :user, #grants = if_not_exists(#grants, :none), #createdAt = if_not_exists(#createdAt, :now), #added = :added',
      ConditionExpression: `${isRoleCondition} AND attribute_not_exists(#revokedAt)`,
      ExpressionAttributeNames: {
        '#grants': 'grants',
        '#createdAt': 'createdAt',
        '#revokedAt': 'revokedAt',
        '#added': `${deployedPrefix}${name}`,
      },
      ExpressionAttributeValues: { ':none': [], ':now': formatTime(now), ':added': formatGrant(grant) },
    }),
  );
  if (!record)
    throw new Error(
      `${arn} was revoked: grant it something anew (npm run keys -- create --role), or take it out`,
    );
  if (!areTooMany(record.grants)) return;
  await removeRoleGrant(table, toRoleId(arn), name);
  throw new RangeError(`${arn} has ${tooManyGrants}`);
};

/**
 * Takes a grant of a deployment away.
 *
 * @param id of the role
 * @throws the SDK's error when the table does not answer
 */
export const removeRoleGrant = async (table: Table, id: string, name: string): Promise<void> => {
  await conditional(
    documents(table).send(
      new UpdateCommand({
        TableName: table.name,
        Key: toKey(id),
        ConditionExpression: 'attribute_exists(#id)',
        UpdateExpression: 'REMOVE #added',
        ExpressionAttributeNames: { '#id': 'id', '#added': `${deployedPrefix}${name}` },
      }),
    ),
  );
};

/**
 * Revokes a key for good, or a role until it is granted something anew. What is revoked keeps the time of its
 * first revocation.
 *
 * @param now microseconds since 1970
 * @returns the record as it is then; undefined if the id is unknown
 * @throws the SDK's error when the table does not answer
 */
export const revokeKey = async (
  table: Table,
  id: string,
  now: Micros,
  budget = requestBudget(operatorMs),
): Promise<GrantRecord | undefined> => {
  const command = new UpdateCommand({
    TableName: table.name,
    Key: toKey(id),
    ConditionExpression: 'attribute_exists(#id)',
    UpdateExpression: 'SET #revokedAt = if_not_exists(#revokedAt, :now)',
    ExpressionAttributeNames: { '#id': 'id', '#revokedAt': 'revokedAt' },
    ExpressionAttributeValues: { ':now': formatTime(now) },
    ReturnValues: 'ALL_NEW',
  });
  let revoked: GrantRecord | undefined;
  await withRetries(budget, async (options) => {
    const answer = await conditional(documents(table).send(command, options));
    revoked = answer?.Attributes && fromItem(answer.Attributes);
    return true;
  });
  return revoked;
};

/**
 * Notes that a key, or a role, is used on a day. It changes nothing else, and makes no record.
 *
 * @param day of UTC, `2026-10-01`
 * @throws the SDK's error when the table does not answer
 */
export const noteUse = async (table: Table, id: string, day: string): Promise<void> => {
  await conditional(
    documents(table).send(
      new UpdateCommand({
        TableName: table.name,
        Key: toKey(id),
        ConditionExpression: 'attribute_exists(#id)',
        UpdateExpression: 'SET #usedOn = :day',
        ExpressionAttributeNames: { '#id': 'id', '#usedOn': 'usedOn' },
        ExpressionAttributeValues: { ':day': day },
      }),
    ),
  );
};

/**
 * Reads the records of all keys, the oldest first. It scans the table, so only operators use it.
 *
 * @throws the SDK's error when the table does not answer
 */
export const listKeys = async (table: Table): Promise<GrantRecord[]> => {
  const records: GrantRecord[] = [];
  for await (const items of scanTable(table, { ConsistentRead: true })) records.push(...items.map(fromItem));
  return oldestFirst(records);
};

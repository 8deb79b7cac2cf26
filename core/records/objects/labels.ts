import { promptLabels, promptLabelsObject } from '../../../api/project-objects.ts';
import { promptClasses, promptLabelsClass } from '../../../api/shared/classes.ts';
import { allows, type Caller } from '../../../foundations/auth/index.ts';
import {
  asMap,
  asNumber,
  asText,
  compareAndSwap,
  deleteItems,
  type Item,
  mapConcurrent,
  putItems,
  queryPage,
  type RequestBudget,
  type Round,
  readRange,
  type Store,
  transact,
} from '../../../foundations/storage/index.ts';
import {
  conflict,
  forbidden,
  invalidAt,
  type Micros,
  newId,
  notFound,
  type ProjectId,
  parseJson,
} from '../../../foundations/wire/index.ts';
import { parseValue } from '../../../foundations/wire/schema.ts';
import { checkLabels } from '../redaction.ts';
import { aliasKey, aliasRange, labelRange, moveKey, moveRange, tagKey, versionKey } from './items.ts';
import type { ObjectName, VersionHeader } from './model.ts';
import { type Address, findVersions, getInOrder, readValues } from './read.ts';

/*
 * Labels of versions. An alias is a name of one version of an object, which can be moved to another. A
 * tag is a word on a version. Each is an item of its own, so setting one again changes nothing, and
 * different ones never meet. The labels of prompts are aliases.
 *
 * A move of an alias is one transaction with the item that remembers it, on condition that the alias is
 * where it was, and that the version is there. So of moves at once each is remembered, in an order.
 */

/** The labels of a version, in order. */
export interface Labels {
  readonly tags: readonly string[];
  readonly aliases: readonly string[];
}

const none: Labels = { tags: [], aliases: [] };
/** From so many objects on, all labels of the project are read. */
const manyObjects = 32;
const concurrency = 8;

/** @throws ServiceError 404 where there is no such version */
const findVersion = async (
  store: Store,
  address: Address,
  place: readonly string[],
  budget: RequestBudget,
): Promise<VersionHeader> => {
  const [found] = await findVersions(store, [address], budget);
  if (found) return found.header;
  throw notFound(place, `there is no such version of ${address.objectId} in ${address.projectId}`);
};

/** An alias of an object, or a tag of one of its versions. */
export type LabelKind = 'aliases' | 'tags';

/** The attribute that holds a label's text. */
const textAttribute = { aliases: 'a', tags: 't' } as const;

/** Where version and aliases stand in a request. */
interface Place {
  readonly version: readonly string[];
  readonly aliases: readonly string[];
}

const ofWeave: Place = { version: ['body', 'digest'], aliases: ['body', 'aliases'] };

/** The longest sort key that DynamoDB takes, in bytes. */
const maxKeyBytes = 1024;

/**
 * The keys of labels, each once.
 *
 * @param place where they stand in the request
 * @throws ServiceError 422 if a label is too long for an object with so long a name
 */
const labelKeys = (
  kind: LabelKind,
  name: ObjectName,
  digest: string,
  texts: readonly string[],
  place: readonly string[] = ['body', kind],
) =>
  [...new Set(texts)].map((text) => {
    const key = kind === 'aliases' ? aliasKey(name, text) : tagKey(name, digest, text);
    if (key.s.length <= maxKeyBytes) return { text, key };
    const msg = `is too long for an object with so long a name: together they should be at most ${maxKeyBytes} bytes of UTF-8`;
    throw invalidAt(place, msg);
  });

// Moves of aliases.

/** Who moves aliases, and who is told of it. */
export interface Mover extends Pick<Caller, 'grants' | 'user'> {
  /** Is told of each move before it is made, and keeps it from being made by throwing. @default - nobody */
  readonly announce?: (move: AliasMove) => Promise<void>;
  /** Is told of each move, once it is stored. @default - nobody */
  readonly told?: (move: AliasMove) => void;
}

/** Somebody who moves no label that takes the role `admin`. */
export const nobody: Mover = { grants: [], user: '' };

/** A version as an alias names it. */
export type Named = Pick<VersionHeader, 'digest' | 'versionIndex'>;

/** A move of an alias from one version to another, as it is remembered. */
export interface AliasMove extends ObjectName {
  readonly id: string;
  readonly alias: string;
  /** Null if it is new. */
  readonly from: Named | null;
  /** Null if it is removed. */
  readonly to: Named | null;
  readonly at: Micros;
  readonly userId: string;
  /** Whether the version is of a prompt: the new one, or the former if there is none. */
  readonly isPrompt: boolean;
}

/** An alias, as its item has it. */
export interface Alias {
  readonly alias: string;
  readonly digest: string;
  /** When it came to this version, and who moved it; null for an alias from before this was kept. */
  readonly moved: { readonly at: Micros; readonly userId: string } | null;
}

const toNamedMap = ({ digest, versionIndex }: Named): Item => ({ digest, versionIndex });

const fromNamedMap = (map: Item | undefined): Named | null =>
  map ? { digest: String(map.digest), versionIndex: Number(map.versionIndex) } : null;

const moveItem = (move: AliasMove): Item => ({
  ...moveKey(move, move.id),
  o: move.objectId,
  a: move.alias,
  ...(move.from && { f: toNamedMap(move.from) }),
  ...(move.to && { v: toNamedMap(move.to) }),
  at: move.at,
  u: move.userId,
  ...(move.isPrompt && { p: true }),
});

const toMove = (name: ObjectName, item: Item): AliasMove => ({
  ...name,
  id: Buffer.from(item.s as Uint8Array)
    .toString('utf8')
    .slice(name.objectId.length + 1),
  alias: String(item.a),
  from: fromNamedMap(asMap(item.f)),
  to: fromNamedMap(asMap(item.v)),
  at: Number(item.at),
  userId: String(item.u),
  isPrompt: item.p === true,
});

/** The item of an alias that a move has brought to a version. */
const aliasItem = (move: AliasMove, to: Named): Item => ({
  ...aliasKey(move, move.alias),
  o: move.objectId,
  a: move.alias,
  d: to.digest,
  i: to.versionIndex,
  at: move.at,
  u: move.userId,
  ...(move.isPrompt && { p: true }),
});

const toAlias = (item: Item): Alias => {
  const at = asNumber(item.at);
  return {
    alias: String(item.a),
    digest: String(item.d),
    moved: at === undefined ? null : { at, userId: String(item.u) },
  };
};

/** Whether versions of a class are prompts. */
export const isPromptClass = (baseObjectClass: string | null): boolean =>
  promptClasses.some((name) => name === baseObjectClass);

/** Where an alias is, and whether that is a version of a prompt. */
const findPlace = async (
  store: Store,
  name: ObjectName,
  item: Item | undefined,
  budget: RequestBudget,
): Promise<{ readonly from: Named | null; readonly isPrompt: boolean }> => {
  const digest = asText(item?.d);
  if (!item || digest === undefined) return { from: null, isPrompt: false };
  const versionIndex = asNumber(item.i);
  if (versionIndex !== undefined) return { from: { digest, versionIndex }, isPrompt: item.p === true };
  // An alias from before moves were remembered.
  const [found] = await findVersions(store, [{ ...name, version: { digest } }], budget);
  if (!found) return { from: null, isPrompt: false };
  return { from: found.header, isPrompt: isPromptClass(found.header.baseObjectClass) };
};

/** The labels that take the role `admin` in a project. */
const readProtectedLabels = async (
  store: Store,
  projectId: ProjectId,
  budget: RequestBudget,
): Promise<ReadonlySet<string>> => {
  const address: Address = { projectId, objectId: promptLabelsObject, version: 'latest' };
  const [found] = await findVersions(store, [address], budget);
  if (found?.header.meaning !== promptLabelsClass) return new Set();
  const [text = 'null'] = await readValues(store, [found], budget);
  return new Set(parseValue(promptLabels(), parseJson(text)).protected);
};

/**
 * Refuses a caller who may not move these labels in a project, if it says that they take the role `admin`.
 *
 * @param place where they stand in the request
 * @throws ServiceError 403
 */
export const authorizeLabels = async (
  store: Store,
  { grants }: Pick<Caller, 'grants'>,
  projectId: ProjectId,
  labels: readonly string[],
  place: readonly string[],
  budget: RequestBudget,
): Promise<void> => {
  if (labels.length === 0 || allows(grants, projectId, 'admin')) return;
  const held = await readProtectedLabels(store, projectId, budget);
  const refused = labels.find((label) => held.has(label));
  if (refused === undefined) return;
  const label = JSON.stringify(refused);
  throw forbidden(
    place,
    `it takes the role admin to move the label ${label}, which this key does not have in ${projectId}`,
  );
};

/** Finds the version that an alias shall name, in each round; null if it shall name none. */
type FindTarget = (round: number) => Promise<VersionHeader | null>;

/** Whether an alias is where it shall be. */
const isThere = (item: Item | undefined, to: VersionHeader | null): boolean =>
  to ? item?.d === to.digest : item === undefined;

/**
 * Moves one alias, and tells the mover, unless it is there already.
 *
 * @param isMeant whether an alias that is to be removed is still the one that is meant
 */
const moveAlias = async (
  store: Store,
  name: ObjectName,
  alias: string,
  findTarget: FindTarget,
  mover: Mover,
  budget: RequestBudget,
  isMeant: (item: Item) => boolean = () => true,
): Promise<void> => {
  const key = aliasKey(name, alias);
  const moved = await compareAndSwap(budget, async (round): Promise<Round<AliasMove | null>> => {
    const [to, [item]] = await Promise.all([findTarget(round), getInOrder(store, [key], budget)]);
    if (isThere(item, to) || (item && !isMeant(item))) return { value: null };
    const { from, isPrompt } = await findPlace(store, name, item, budget);
    const move: AliasMove = {
      projectId: name.projectId,
      objectId: name.objectId,
      id: newId(),
      alias,
      from,
      to,
      at: Date.now() * 1000,
      userId: mover.user,
      isPrompt: to ? isPromptClass(to.baseObjectClass) : isPrompt,
    };
    await mover.announce?.(move);
    const expected = item ? { d: item.d } : { k: undefined };
    const remembered = { item: moveItem(move) };
    const change = to
      ? {
          puts: [{ item: aliasItem(move, to), expected }, remembered],
          checks: [{ key: versionKey(name, to.versionIndex), expected: { o: name.objectId } }],
        }
      : { puts: [remembered], removals: [{ key, expected }] };
    return (await transact(store.table, change, budget)) ? { value: move } : undefined;
  });
  if (moved) mover.told?.(moved);
};

/**
 * Refuses aliases that no version of an object can have.
 *
 * @param place where they stand in the request
 * @returns each once
 * @throws ServiceError 422 if one is too long; as {@link checkLabels}
 */
export const checkAliases = async (
  store: Store,
  name: ObjectName,
  aliases: readonly string[],
  place: readonly string[],
): Promise<readonly string[]> => {
  await checkLabels(store, place, aliases);
  return labelKeys('aliases', name, '', aliases, place).map(({ text }) => text);
};

/** Moves aliases that may be moved to a version that was found, as {@link moveAliases} does. */
export const moveAliasesTo = async (
  store: Store,
  version: VersionHeader,
  aliases: readonly string[],
  mover: Mover,
  budget: RequestBudget,
  place: readonly string[],
): Promise<void> => {
  const { projectId, objectId, versionIndex } = version;
  const address = { projectId, objectId, version: { versionIndex } };
  const findTarget: FindTarget = async (round) =>
    round === 0 ? version : findVersion(store, address, place, budget);
  await mapConcurrent(aliases, concurrency, (alias) =>
    moveAlias(store, version, alias, findTarget, mover, budget),
  );
};

/**
 * Moves aliases to a version, each from the version that had it. Those that are there already stay.
 *
 * @param place where version and aliases stand in the request
 * @throws ServiceError 404 where there is no such version; as {@link checkAliases} and {@link authorizeLabels}
 */
export const moveAliases = async (
  store: Store,
  address: Address,
  aliases: readonly string[],
  mover: Mover,
  budget: RequestBudget,
  place: Place = ofWeave,
): Promise<void> => {
  const texts = await checkAliases(store, address, aliases, place.aliases);
  const version = await findVersion(store, address, place.version, budget);
  await authorizeLabels(store, mover, address.projectId, texts, place.aliases, budget);
  await moveAliasesTo(store, version, texts, mover, budget, place.version);
};

/**
 * Takes aliases from an object, whichever versions they name. Those that it has not are ignored.
 *
 * @param place where they stand in the request
 * @throws ServiceError as {@link authorizeLabels}
 */
export const removeAliases = async (
  store: Store,
  name: ObjectName,
  aliases: readonly string[],
  mover: Mover,
  budget: RequestBudget,
  place: readonly string[] = ofWeave.aliases,
): Promise<void> => {
  const texts = labelKeys('aliases', name, '', aliases, place).map(({ text }) => text);
  await authorizeLabels(store, mover, name.projectId, texts, place, budget);
  await mapConcurrent(texts, concurrency, (alias) =>
    moveAlias(store, name, alias, async () => null, mover, budget),
  );
};

/** Reads the moves of an object's aliases, the newest first, strongly consistent. */
export const readMoves = async (
  store: Store,
  name: ObjectName,
  limit: number,
  budget: RequestBudget,
): Promise<AliasMove[]> => {
  const how = { consistent: true, descending: true, limit };
  const { items } = await queryPage(store.table, moveRange(name), budget, how);
  return items.map((item) => toMove(name, item));
};

/** Reads the aliases of an object, in order. */
export const readAliases = async (
  store: Store,
  name: ObjectName,
  consistent: boolean,
  budget: RequestBudget,
): Promise<Alias[]> => {
  const pages = readRange(store.table, aliasRange(name), { toRow: toAlias, consistent }, budget);
  return (await Array.fromAsync(pages)).flat();
};

// Tags.

/**
 * Puts tags on a version.
 *
 * @throws ServiceError 404 where there is no such version; as {@link checkLabels}
 */
export const addTags = async (
  store: Store,
  address: Address,
  tags: readonly string[],
  budget: RequestBudget,
): Promise<void> => {
  await checkLabels(store, ['body', 'tags'], tags);
  const { digest } = await findVersion(store, address, ofWeave.version, budget);
  const items = labelKeys('tags', address, digest, tags).map(({ text, key }) => ({
    ...key,
    o: address.objectId,
    t: text,
    d: digest,
  }));
  await putItems(store.table, items, budget);
};

/**
 * Takes tags from a version. Those that it has not are ignored.
 *
 * @throws ServiceError 404 where there is no such version
 */
export const removeTags = async (
  store: Store,
  address: Address,
  tags: readonly string[],
  budget: RequestBudget,
): Promise<void> => {
  const { digest } = await findVersion(store, address, ofWeave.version, budget);
  const keys = labelKeys('tags', address, digest, tags).map(({ key }) => key);
  await deleteItems(store.table, keys, budget);
};

// Both.

const readItems = async (
  { table }: Store,
  projectId: ProjectId,
  objectId: string | null,
  budget: RequestBudget,
): Promise<Item[]> => {
  const options = { toRow: (item: Item) => item, consistent: true };
  const pages = await Array.fromAsync(readRange(table, labelRange(projectId, objectId), options, budget));
  return pages.flat();
};

const distinct = (items: readonly Item[], kind: LabelKind): string[] =>
  [...new Set(items.flatMap((item) => asText(item[textAttribute[kind]]) ?? []))].sort();

/** Every alias or tag of a project, each once and sorted. */
export const labelsIn = async (
  store: Store,
  projectId: ProjectId,
  kind: LabelKind,
  budget: RequestBudget,
): Promise<string[]> => distinct(await readItems(store, projectId, null, budget), kind);

const toPlace = (objectId: string, digest: string): string => `${objectId}\n${digest}`;

/**
 * Reads the labels of versions, and gives what tells those of each.
 *
 * @param objectIds null for all objects of the project
 */
export const readLabels = async (
  store: Store,
  projectId: ProjectId,
  objectIds: readonly string[] | null,
  budget: RequestBudget,
): Promise<(version: Pick<VersionHeader, 'objectId' | 'digest'>) => Labels> => {
  const unique = objectIds && [...new Set(objectIds)];
  const ranges = unique && unique.length < manyObjects ? unique : [null];
  const items = await mapConcurrent(ranges, concurrency, (objectId) =>
    readItems(store, projectId, objectId, budget),
  );
  const byVersion = Map.groupBy(items.flat(), ({ o, d }) => toPlace(String(o), String(d)));
  return ({ objectId, digest }) => {
    const own = byVersion.get(toPlace(objectId, digest));
    return own ? { tags: distinct(own, 'tags'), aliases: distinct(own, 'aliases') } : none;
  };
};

/** The versions of an object that are deleted: their digests, or null for all. */
type Gone = readonly string[] | null;

const readGone = async (store: Store, name: ObjectName, digests: Gone, budget: RequestBudget) => {
  const gone = digests && new Set(digests);
  const items = await readItems(store, name.projectId, name.objectId, budget);
  return items.filter(({ d }) => !gone || gone.has(String(d)));
};

/**
 * Refuses to delete versions that have a label which takes the role `admin`, whoever asks: programs would
 * get another version of the prompt at once.
 *
 * @throws ServiceError 409
 */
export const refuseLabelled = async (
  store: Store,
  name: ObjectName,
  digests: Gone,
  budget: RequestBudget,
): Promise<void> => {
  const aliases = distinct(await readGone(store, name, digests, budget), 'aliases');
  if (aliases.length === 0) return;
  const held = await readProtectedLabels(store, name.projectId, budget);
  const label = aliases.find((alias) => held.has(alias));
  if (label === undefined) return;
  const msg = `has the label ${JSON.stringify(label)} on a version that would be deleted, and ${name.projectId} protects this label: move or remove it first`;
  throw conflict({ loc: ['body', 'object_id'], msg, type: 'conflict' });
};

/**
 * Takes all labels from versions that are deleted.
 *
 * @param kept aliases that stay
 */
export const removeLabels = async (
  store: Store,
  name: ObjectName,
  digests: Gone,
  mover: Mover,
  budget: RequestBudget,
  kept: readonly string[] = [],
): Promise<void> => {
  const items = await readGone(store, name, digests, budget);
  const tags = items.filter(({ a }) => a === undefined);
  if (tags.length > 0)
    await deleteItems(
      store.table,
      tags.map(({ k, s }) => ({ k, s }) as Item),
      budget,
    );
  const aliases = items.filter(({ a }) => a !== undefined && !kept.includes(String(a)));
  await mapConcurrent(aliases, concurrency, ({ a, d }) =>
    // Somebody may have moved it to a version that stays.
    moveAlias(
      store,
      name,
      String(a),
      async () => null,
      mover,
      budget,
      (item) => item.d === d,
    ),
  );
};

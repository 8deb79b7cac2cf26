import { everyVersion } from '../../api/objects.ts';
import type {
  LabelMoveRow,
  NewPrompt,
  PromptChoice,
  PromptRow,
  PromptsQuery,
  PromptVersion,
} from '../../api/prompts.ts';
import { type PromptContent, variablesIn } from '../../api/shared/prompt-variables.ts';
import {
  asBytes,
  getItems,
  type Item,
  mapConcurrent,
  type RequestBudget,
  type Store,
} from '../../foundations/storage/index.ts';
import {
  conflict,
  formatTime,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  notFound,
  objectRef,
  parseJson,
} from '../../foundations/wire/index.ts';
import {
  type Alias,
  type AliasMove,
  authorizeChange,
  authorizeLabels,
  checkAliases,
  createObject,
  findAll,
  findVersions,
  isPromptClass,
  type Mover,
  moveAliases,
  moveAliasesTo,
  type ObjectName,
  type ObjectVersion,
  readAliases,
  readMoves,
  readValues,
  removeAliases,
  type VersionHeader,
} from './objects/index.ts';
import { digestKey, headKey, toHead, toHeader, versionKey } from './objects/items.ts';

/*
 * Prompts. They are objects as Weave's SDKs store theirs, so both read what the other has made. Their
 * labels are aliases of the objects.
 *
 * A read takes two steps: one query gives the labels of the prompt, and so the digest of the version,
 * whose item has the value. Each takes half a unit if it need not be strongly consistent.
 */

/** The label that a reader gets who names none. */
const usualLabel = 'production';

const place = { version: ['body', 'version_index'], aliases: ['body', 'label'] } as const;

// Values.

/** The value of a prompt, with the classes that Weave's SDKs read it by. */
const toValue = ({ objectId, messages, text, config }: NewPrompt): JsonObject => {
  const className = messages === null ? 'StringPrompt' : 'MessagesPrompt';
  return {
    _type: className,
    name: objectId,
    description: null,
    ...(messages === null ? { content: text } : { messages }),
    ...(config !== null && { config }),
    _class_name: className,
    _bases: ['Prompt', 'Object', 'BaseModel'],
  };
};

const isMessages = (value: JsonValue | undefined): value is JsonObject[] =>
  Array.isArray(value) && value.every(isJsonObject);

/** What a value says that is of a prompt's class; undefined if it says nothing. */
const toContent = (value: JsonObject): PromptContent | undefined => {
  const { messages, content, data } = value;
  if (isMessages(messages)) return { messages };
  if (typeof content === 'string') return { text: content };
  // An `EasyPrompt` of Weave's.
  return isMessages(data) ? { messages: data } : undefined;
};

// Making.

/**
 * Makes a version of a prompt, unless it has one with this content, and moves labels to it.
 *
 * @throws ServiceError 403 if the caller may not move a label, 409 if the name is of another kind of object;
 * as {@link createObject}
 */
export const createPrompt = async (
  store: Store,
  prompt: NewPrompt,
  mover: Mover,
  budget: RequestBudget,
): Promise<{ readonly ref: string; readonly digest: string; readonly version_index: number }> => {
  const { projectId, objectId, labels } = prompt;
  // Before anything is written.
  const aliases = await checkAliases(store, prompt, labels, ['body', 'labels']);
  await authorizeLabels(store, mover, projectId, aliases, ['body', 'labels'], budget);
  const mayChange = authorizeChange(store, mover, projectId, budget);
  const digest = await createObject(
    store,
    { projectId, objectId, val: toValue(prompt) },
    mover.user,
    budget,
    {
      authorize: async (change) => {
        await mayChange(change);
        if (change.covered && !isPromptClass(change.covered.baseObjectClass))
          throw isNoPrompt(change.covered);
      },
    },
  );
  const [found] = await findVersions(store, [{ projectId, objectId, version: { digest } }], budget);
  if (!found) throw notFound(['body', 'name'], `${objectId} was deleted while it was made`);
  await moveAliasesTo(store, found.header, aliases, mover, budget, ['body', 'name']);
  return {
    ref: objectRef(projectId, objectId, digest),
    digest,
    version_index: found.header.versionIndex,
  };
};

const isNoPrompt = ({ objectId, baseObjectClass, projectId }: VersionHeader): Error => {
  const what =
    baseObjectClass === null ? 'an object without a class' : `an object of class ${baseObjectClass}`;
  const msg = `should be another name: ${objectId} in ${projectId} is ${what}`;
  return conflict({ loc: ['body', 'name'], msg, type: 'conflict' });
};

/**
 * Moves a label of a prompt to a version, or removes it.
 *
 * @param versionIndex null to remove it
 * @throws ServiceError 403 if the caller may not, 404 if there is no such version
 */
export const movePromptLabel = async (
  store: Store,
  { projectId, objectId }: ObjectName,
  label: string,
  versionIndex: number | null,
  mover: Mover,
  budget: RequestBudget,
): Promise<void> => {
  const name = { projectId, objectId };
  if (versionIndex === null) return removeAliases(store, name, [label], mover, budget, place.aliases);
  const address = { ...name, version: { versionIndex } };
  await moveAliases(store, address, [label], mover, budget, place);
};

// Reading.

type Choice = Omit<PromptChoice, 'projectId' | 'objectId'>;

interface Found {
  readonly header: VersionHeader;
  readonly packed: Uint8Array | undefined;
  readonly aliases: readonly Alias[];
}

/** Finds a version with the labels of its prompt; undefined if there is none. */
const findVersion = async (
  store: Store,
  name: ObjectName,
  { label, versionIndex, digest }: Choice,
  consistent: boolean,
  budget: RequestBudget,
): Promise<Found | undefined> => {
  const read = async (key: Item): Promise<Item | undefined> =>
    (await getItems(store.table, [key], budget, { consistent }))[0];
  const getLatest = async (): Promise<string | undefined> => {
    const head = await read(headKey(name));
    return head && toHead(name.projectId, head).latest?.digest;
  };
  const reading = readAliases(store, name, consistent, budget);
  const findDigest = async (): Promise<string | undefined> => {
    if (digest !== null) return digest;
    if (versionIndex !== null) {
      const version = await read(versionKey(name, versionIndex));
      return version && toHeader(name.projectId, version).digest;
    }
    if (label === 'latest') return getLatest();
    const labelled = (await reading).find(({ alias }) => alias === (label ?? usualLabel));
    return labelled || label !== null ? labelled?.digest : getLatest();
  };
  const readVersion = async (): Promise<Item | undefined> => {
    const found = await findDigest();
    return found === undefined ? undefined : read(digestKey(name, found));
  };
  const [aliases, item] = await Promise.all([reading, readVersion()]);
  return item && { header: toHeader(name.projectId, item), packed: asBytes(item.b), aliases };
};

const chosen = ({
  label,
  versionIndex,
  digest,
}: Choice): { readonly field: string; readonly what: string } => {
  if (digest !== null) return { field: 'digest', what: `version ${JSON.stringify(digest)}` };
  if (versionIndex !== null) return { field: 'version_index', what: `version ${versionIndex}` };
  return { field: 'label', what: `label ${JSON.stringify(label ?? usualLabel)}` };
};

const absent = async (
  store: Store,
  name: ObjectName,
  choice: Choice,
  at: string,
  budget: RequestBudget,
): Promise<Error> => {
  const prompt = `prompt ${JSON.stringify(name.objectId)}`;
  const [latest] = await findVersions(store, [{ ...name, version: 'latest' }], budget);
  if (!latest) return notFound([at, 'name'], `there is no ${prompt} in ${name.projectId}`);
  const { field, what } = chosen(choice);
  return notFound([at, field], `there is no ${what} of the ${prompt} in ${name.projectId}`);
};

/** How a prompt is read. */
interface Reading {
  /** Whether it has every move that was answered before. It takes twice the units. */
  readonly consistent: boolean;
  /** Where the fields of the request stand. */
  readonly at: 'body' | 'query';
}

/**
 * Reads a version of a prompt. What a read that is not strongly consistent misses is looked for again.
 *
 * @throws ServiceError 404 if there is none, or the version is not of a prompt
 */
export const readPrompt = async (
  store: Store,
  { projectId, objectId, ...choice }: PromptChoice,
  { consistent, at }: Reading,
  budget: RequestBudget,
): Promise<PromptVersion> => {
  const name = { projectId, objectId };
  const found =
    (await findVersion(store, name, choice, consistent, budget)) ??
    (consistent ? undefined : await findVersion(store, name, choice, true, budget));
  const [text] = found ? await readValues(store, [found], budget) : [];
  if (!found || text === undefined) throw await absent(store, name, choice, at, budget);
  const { header, aliases } = found;
  const value = parseJson(text) as JsonValue;
  const isPrompt = isPromptClass(header.baseObjectClass) && isJsonObject(value);
  const content = isPrompt ? toContent(value) : undefined;
  if (!isPrompt || !content) {
    const what = `v${header.versionIndex} of ${JSON.stringify(objectId)} in ${projectId}`;
    throw notFound([at, 'name'], `${what} is no prompt: it has neither messages nor a text`);
  }
  return {
    name: objectId,
    ...toVersion(header),
    labels: aliases.filter(({ digest }) => digest === header.digest).map(({ alias }) => alias),
    ...(content as { messages?: Record<string, unknown>[]; text?: string }),
    variables: [...variablesIn(content)],
    config: isJsonObject(value.config) ? value.config : {},
    created_at: formatTime(header.createdAt),
    svc_user_id: header.userId,
  };
};

const toVersion = ({ projectId, objectId, digest, versionIndex }: VersionHeader) => ({
  ref: objectRef(projectId, objectId, digest),
  digest,
  version_index: versionIndex,
});

// Listing.

/** Prompts are looked at so many at once. */
const concurrency = 8;

const collect = async (batches: AsyncIterable<readonly ObjectVersion[]>): Promise<VersionHeader[]> =>
  (await Array.fromAsync(batches)).flat().map(({ header }) => header);

const toLabel = ({ alias, digest, moved }: Alias, versions: readonly VersionHeader[]) => ({
  label: alias,
  version_index: versions.find((version) => version.digest === digest)?.versionIndex ?? null,
  digest,
  moved_at: moved && formatTime(moved.at),
  svc_user_id: moved?.userId ?? null,
});

const toRow = async (store: Store, latest: VersionHeader, budget: RequestBudget): Promise<PromptRow> => {
  const { projectId, objectId } = latest;
  const filter = { ...everyVersion, objectIds: [objectId] };
  const [versions, aliases] = await Promise.all([
    collect(findAll(store, { projectId, filter }, 'ascending', null, budget)),
    readAliases(store, latest, true, budget),
  ]);
  return {
    name: objectId,
    ...toVersion(latest),
    labels: aliases.map((alias) => toLabel(alias, versions)),
    versions: versions.length,
    created_at: formatTime((versions[0] ?? latest).createdAt),
    saved_at: formatTime(latest.createdAt),
    svc_user_id: latest.userId,
  };
};

const toMoveRow = ({ id, alias, from, to, at, userId }: AliasMove): LabelMoveRow => ({
  id,
  label: alias,
  version_index: to?.versionIndex ?? null,
  previous_version_index: from?.versionIndex ?? null,
  moved_at: formatTime(at),
  svc_user_id: userId,
});

/** Lists prompts by their names, strongly consistent; with a name also the moves of its labels. */
export const queryPrompts = async (
  store: Store,
  { projectId, objectId, limit, offset }: PromptsQuery,
  budget: RequestBudget,
): Promise<{ readonly prompts: PromptRow[]; readonly history?: LabelMoveRow[] }> => {
  const filter = { ...everyVersion, latestOnly: true, objectIds: objectId === null ? null : [objectId] };
  const all = await collect(findAll(store, { projectId, filter }, 'ascending', null, budget));
  const latest = all.filter(({ baseObjectClass }) => isPromptClass(baseObjectClass));
  const prompts = await mapConcurrent(latest.slice(offset, offset + limit), concurrency, (header) =>
    toRow(store, header, budget),
  );
  if (objectId === null) return { prompts };
  const moves = limit === 0 ? [] : await readMoves(store, { projectId, objectId }, limit, budget);
  return { prompts, history: moves.map(toMoveRow) };
};

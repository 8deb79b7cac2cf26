import { readSource } from '../../../../api/shared/header-fields.ts';
import {
  isNumber,
  type JsonObject,
  type JsonValue,
  nonEmptyString,
  plainNumber,
} from '../../../../foundations/wire/index.ts';
import { madeUp } from '../messages/chat.ts';
import type { Attributes, AttributeValue, Span } from '../span.ts';
import { isDict, plain, structured } from '../values.ts';
import { adk } from './adk.ts';
import { aiSdk } from './ai-sdk.ts';
import { bedrock } from './bedrock.ts';
import {
  type Convention,
  type Fields,
  type IdSource,
  isRequest,
  type Kind,
  type Labels,
  type Translation,
} from './convention.ts';
import { findFailure } from './failure.ts';
import { genAi } from './gen-ai.ts';
import { genAiEvents } from './gen-ai-events.ts';
import { genAiIndexed } from './gen-ai-indexed.ts';
import { genkit } from './genkit.ts';
import { haystack } from './haystack.ts';
import { clientMarks, ids } from './ids.ts';
import { langfuse } from './langfuse.ts';
import { langSmith } from './langsmith.ts';
import { litellm } from './litellm.ts';
import { logfire } from './logfire.ts';
import { mastra } from './mastra.ts';
import { mcp } from './mcp.ts';
import { mlflow } from './mlflow.ts';
import { agentIn, toolIn } from './names.ts';
import { withoutRepeatedTools, withSteps } from './neighbors.ts';
import { isAgentStep, openInference } from './openinference.ts';
import { type Marks, SpanReader } from './reader.ts';
import { traceloop } from './traceloop.ts';
import { type Entry, getResponseId, toUsage, withAgents, withoutRepeats } from './usage.ts';
import { weave } from './weave.ts';

export type { Convention, Kind, Labels, Named, Resume, Translation, Usage, Wait } from './convention.ts';
export { withAgents, withoutRepeats };

/**
 * All conventions. A span can follow several; the earlier one is asked first. Frameworks come
 * before the general conventions that they build upon.
 */
const conventions: readonly Convention[] = [
  clientMarks,
  weave,
  langfuse,
  langSmith,
  genkit,
  mlflow,
  adk,
  mastra,
  litellm,
  haystack,
  aiSdk,
  logfire,
  mcp,
  openInference,
  traceloop,
  bedrock,
  genAiEvents,
  genAi,
  genAiIndexed,
  ids,
];

/** Keys of each label, of all conventions, the best first. */
const labelKeys = (name: keyof Labels): readonly string[] =>
  conventions.flatMap(({ labels }) => labels?.[name] ?? []);

const environmentKeys = labelKeys('environment');
const releaseKeys = labelKeys('release');
const tagKeys = labelKeys('tags');

const toLabel = (value: AttributeValue | undefined): string | undefined =>
  isNumber(value) ? String(plainNumber(value)) : nonEmptyString(value);

/** Tags as a list, as the JSON text of one, or as a text with commas. */
const parseTags = (value: AttributeValue | undefined): readonly string[] | undefined => {
  const given = value === undefined ? undefined : structured(plain(value));
  const list = typeof given === 'string' ? given.split(',').map((tag) => tag.trim()) : given;
  const tags = Array.isArray(list) ? list.flatMap((tag) => nonEmptyString(tag) ?? []) : [];
  return tags.length > 0 ? tags : undefined;
};

const firstIn = <T>(
  sources: readonly Attributes[],
  keys: readonly string[],
  read: (value: AttributeValue | undefined) => T | undefined,
): T | undefined => {
  for (const source of sources)
    for (const key of keys) {
      const found = read(source.get(key));
      if (found !== undefined) return found;
    }
  return undefined;
};

/**
 * Whether a span is a test or a suite of tests: by OpenTelemetry's conventions for tests, or by the names that
 * plugins of pytest use (pytest-opentelemetry, pytest-otel, Elastic's pytest-otel).
 */
const testKey = /^(?:test\.(?:case|suite)\.|pytest\.|tests\.name$)/;

const isTest = (attributes: Attributes): boolean => {
  for (const key of attributes.keys()) if (testKey.test(key)) return true;
  return false;
};

/**
 * What a program says of itself: on its span or record, else on the resource. What a span has under
 * a label's own name stays.
 */
export const readLabels = (attributes: Attributes, resource: Attributes): Labels => {
  const names = new Set(Array.from(attributes.keys(), (key) => key.split('.', 1)[0]));
  const sources = [attributes, resource];
  const found = {
    environment: firstIn(sources, environmentKeys, toLabel),
    release: firstIn(sources, releaseKeys, toLabel),
    source: readSource(nonEmptyString(resource.get('source'))) ?? (isTest(attributes) ? 'test' : undefined),
    tags: firstIn([attributes], tagKeys, parseTags),
  };
  return Object.fromEntries(
    Object.entries(found).filter(([name, value]) => value !== undefined && !names.has(name)),
  );
};

/** The first result that is one, with what was read for it. */
const findFirst = <T>(
  span: SpanReader,
  readings: Iterable<() => T | undefined>,
): { readonly result: T; readonly marks: Marks } | undefined => {
  for (const reading of readings) {
    const { result, marks } = span.note(reading);
    if (result !== undefined) return { result, marks };
  }
  return undefined;
};

/**
 * Collects `inputs` and notes in `marks` what they were read from. A message that was made up for
 * want of a conversation is only taken if no convention has one.
 */
const collectInputs = (
  span: SpanReader,
  kind: Kind,
  matching: readonly Convention[],
  marks: Marks,
): Fields => {
  const fields = new Map<string, unknown>();
  const take = ({ result, marks: read }: { readonly result: Fields | undefined; readonly marks: Marks }) => {
    const fresh = Object.entries(result ?? {}).filter(
      ([name, value]) => value !== undefined && !fields.has(name),
    );
    for (const [name, value] of fresh) fields.set(name, value);
    if (fresh.length > 0) add(marks, read);
  };
  // Only a request to a model collects its fields from several conventions.
  const isFull = () => fields.size > 0 && !isRequest(kind);
  const postponed: Parameters<typeof take>[0][] = [];
  for (const convention of matching) {
    if (isFull()) break;
    for (const source of convention.inputs?.(span, kind) ?? []) {
      const read = span.note(source);
      if (read.result && madeUp in read.result) postponed.push(read);
      else take(read);
    }
  }
  if (!isFull()) postponed.forEach(take);
  return Object.fromEntries(fields);
};

const add = (marks: Marks, { keys, events }: Marks): void => {
  for (const key of keys) marks.keys.add(key);
  for (const event of events) marks.events.add(event);
};

const serverKind = 2;

/** Whether a span of unknown kind is a server's, or one that names at most ids. */
const isPlain = ({ kind }: Span, matching: readonly Convention[]): boolean =>
  kind === serverKind || matching.every((convention) => convention === ids || convention === clientMarks);

const isNothing = (value: unknown): boolean =>
  value === undefined || value === null || (isDict(value) && Object.keys(value).length === 0);

/** Reads a span by the conventions that it follows. Never throws, whatever the attributes hold. */
export const translate = (source: Span): Translation => {
  const span = new SpanReader(source);
  const matching = conventions.filter((convention) => convention.matches(span));
  const firstResult = <T>(ask: (convention: Convention) => T | undefined) =>
    findFirst(
      span,
      matching.map((convention) => () => ask(convention)),
    );
  const findId = (getSource: (convention: Convention) => IdSource | undefined) =>
    firstResult((convention) => {
      const found = getSource(convention) ?? [];
      return typeof found === 'function' ? found(span) : span.id(...found);
    })?.result;
  const named = firstResult((convention) => convention.kind?.(span))?.result;
  const kind = named ?? 'other';
  const marks: Marks = { keys: new Set(), events: new Set() };
  const inputs = collectInputs(span, kind, matching, marks);
  const output = firstResult((convention) => convention.output?.(span, kind));
  if (output) add(marks, output.marks);
  const usage = isRequest(kind)
    ? firstResult((convention) => {
        const counts = convention.usage?.(span);
        return counts && toUsage(counts, nonEmptyString(inputs.model));
      })
    : undefined;
  if (usage) add(marks, usage.marks);
  const responseId = usage && getResponseId(span);
  const agent =
    firstResult((convention) => convention.agent?.(span, kind))?.result ??
    (kind === 'agent' ? agentIn(span) : undefined);
  const tool =
    kind === 'tool' ? toolIn(span, firstResult((convention) => convention.tool?.(span))?.result) : undefined;
  const prompt = firstResult((convention) => convention.prompt?.(span))?.result;
  const displayName = firstResult((convention) => convention.name?.(span))?.result;
  const exception =
    firstResult((convention) => convention.exception?.(span))?.result ??
    (kind === 'tool' ? findFailure(span, output?.result) : undefined);
  const wait = firstResult((convention) => convention.wait?.(span, kind))?.result;
  const resume = firstResult((convention) => convention.resume?.(span, kind));
  if (resume?.result.inputs) add(marks, resume.marks);
  return {
    kind,
    // Whatever is read of attributes is JSON.
    inputs: resume?.result.inputs ?? (inputs as JsonObject),
    output: ((isNothing(output?.result) && wait?.asked) || (output?.result ?? null)) as JsonValue,
    usage: usage?.result,
    threadId: findId(({ thread }) => thread),
    userId: findId(({ user }) => user),
    ...(responseId !== undefined && { responseId }),
    ...(isAgentStep(span) && { isAgentStep: true }),
    ...(agent !== undefined && { agent }),
    ...(tool !== undefined && { tool }),
    ...(prompt !== undefined && { prompt }),
    ...(named === undefined && isPlain(source, matching) && { isPlain: true }),
    ...(displayName !== undefined && { displayName }),
    ...(exception !== undefined && { exception }),
    ...(wait && { wait }),
    ...(resume && { resume: resume.result }),
    usedKeys: marks.keys,
    usedEvents: marks.events,
  };
};

/**
 * What spans say in the light of the others of their export: one operation that several spans
 * report is one call.
 *
 * @param entries the spans of one export, with their translations, in any order
 * @returns the same entries in their order
 */
export const inContext = <E extends Entry>(entries: readonly E[]): readonly E[] =>
  withoutRepeats(withoutRepeatedTools(withSteps(withAgents(entries))));

import { type JsonObject, type JsonValue, nonEmptyString } from '../../../../foundations/wire/index.ts';
import { className, fromRepr } from '../messages/python.ts';
import { asText, first, get, isDict, structured } from '../values.ts';
import type { Resume, Wait } from './convention.ts';
import type { SpanReader } from './reader.ts';

/*
 * LangGraph asks a person by an interrupt: an exception that ends the node, and all that is around it up
 * to the graph. The graph goes on when it is called with a command that has what the person said.
 * Source: langchain-ai/langgraph, `libs/langgraph/langgraph/types.py` and `errors.py`; langgraphjs,
 * `libs/langgraph-core/src/errors.ts`.
 */

const exceptionName = /(?:^|\.)(?:Graph|Node)Interrupt$/;

/** The exception as LangSmith and a span's status write it, perhaps with its traceback behind it. */
const writtenException = /^(?:[\w.]+\.)?(?:Graph|Node)Interrupt(?:: |(?=\())/;

/** What the exception of an interrupt says; undefined if the span did not end by one. */
const exceptionText = ({ span }: SpanReader): string | undefined => {
  for (const { name, attributes } of span.events) {
    if (name !== 'exception') continue;
    const message = nonEmptyString(attributes.get('exception.message')) ?? '';
    if (exceptionName.test(nonEmptyString(attributes.get('exception.type')) ?? '')) return message;
    if (writtenException.test(message)) return message.replace(writtenException, '');
  }
  const { message } = span.status;
  return writtenException.test(message) ? message.replace(writtenException, '') : undefined;
};

/** Interrupts as Python's tuple of them, or JavaScript's list as JSON. */
const interruptsIn = (text: string): readonly unknown[] => {
  const [message = ''] = text.split(/\n*Traceback \(most recent call last\)/, 1);
  const json = structured(message.trim());
  const found = isDict(json) || Array.isArray(json) ? json : fromRepr(message.trim());
  // `GraphInterrupt((Interrupt(…),))` has the tuple in another pair of brackets.
  const list = Array.isArray(found) && Array.isArray(found[0]) ? found[0] : found;
  return Array.isArray(list) ? list.filter((interrupt) => get(interrupt, 'value') !== undefined) : [];
};

/** The question of an interrupt. Calls around the one that asked say the same. */
export const readInterrupt = (span: SpanReader): Wait | undefined => {
  const text = exceptionText(span);
  if (text === undefined) return undefined;
  const interrupts = interruptsIn(text);
  const values = interrupts.map((interrupt) => get(interrupt, 'value'));
  const asked = values.length === 0 ? text : values.length === 1 ? values[0] : values;
  return {
    keys: interrupts.flatMap((interrupt) => nonEmptyString(first(interrupt, 'id', 'interrupt_id')) ?? []),
    asked: asked as JsonValue,
  };
};

/** A decision of the middleware of LangChain that asks before tools run. */
const decisionText = (decision: unknown): string | undefined => {
  const type = nonEmptyString(get(decision, 'type'));
  if (type === undefined || get(decision, 'edited_action') !== undefined) return undefined;
  const message = nonEmptyString(get(decision, 'message'));
  return message === undefined ? type : `${type}: ${message}`;
};

/** What a person said, as a text. */
const saidText = (value: unknown): string => {
  const decisions = get(value, 'decisions');
  const texts = Array.isArray(decisions) ? decisions.map(decisionText) : [undefined];
  return texts.includes(undefined) ? asText(value) : texts.join('\n');
};

/** Fields of a command that are not inputs: what it is, and what the messages say. */
const commandFields: ReadonlySet<string> = new Set([
  className,
  'resume',
  'graph',
  'lg_name',
  'lc_direct_tool_output',
]);

/** A command, as JSON or as Python's text of it; undefined if it has nothing that a person said. */
const parseCommand = (text: string): JsonObject | undefined => {
  const value = text.startsWith('Command(') ? fromRepr(text) : structured(text);
  // LangSmith and OpenLLMetry have it in a field of their own.
  const command = first(value, 'input', 'inputs') ?? value;
  if (!isDict(command) || !['goto', 'update', className].some((name) => name in command)) return undefined;
  return first(command, 'resume') === undefined ? undefined : (command as JsonObject);
};

/** The id of an interrupt: a hash of 128 bits. */
const interruptId = /^[0-9a-f]{32}$/;

/** A command begins with its name or its fields. Most inputs are none, and some are long. */
const mayBeCommand = (text: string): boolean =>
  /^\s*(?:Command\(|(?:\{\s*"inputs?":\s*)?\{\s*"(?:graph|update|resume|goto|lg_name)")/.test(text) &&
  text.includes('resume');

/** What a person said, if an attribute holds the command that a graph was called with. */
export const commandIn = (span: SpanReader, ...keys: readonly string[]): Resume | undefined => {
  const text = span.peekText(...keys);
  const command = text !== undefined && mayBeCommand(text) ? parseCommand(text) : undefined;
  return command && readResume(span, keys, command);
};

const readResume = (span: SpanReader, keys: readonly string[], command: JsonObject): Resume => {
  span.value(...keys);
  const answer = command.resume ?? null;
  const byId = isDict(answer) ? Object.entries(answer) : [];
  const isById = byId.length > 0 && byId.every(([key]) => interruptId.test(key));
  const texts = isById ? byId.map(([, value]) => saidText(value)) : [saidText(answer)];
  const others = Object.entries(command).filter(
    ([name, value]) =>
      !commandFields.has(name) && value !== null && !(Array.isArray(value) && value.length === 0),
  );
  return {
    keys: isById ? byId.map(([key]) => key) : [],
    answer,
    inputs: {
      messages: texts.map((content) => ({ role: 'user', content })),
      ...Object.fromEntries(others),
    },
  };
};

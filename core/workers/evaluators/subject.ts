import { valueAt } from '../../../foundations/expression/index.ts';
import type { RequestBudget, Store } from '../../../foundations/storage/index.ts';
import { isJsonObject, type JsonObject, type JsonValue, parseJson } from '../../../foundations/wire/index.ts';
import { joinParts, scanParts } from '../../questions/query/index.ts';
import {
  type CallHeader,
  latencyMs,
  PayloadReader,
  type StoredCall,
  traceRange,
} from '../../records/calls/index.ts';
import type { CostsOfProject } from '../streams.ts';

/** Calls of one trace that are looked at: the first. */
const maxTraceCalls = 10_000;
/** Payloads of a trace that are looked at. */
const maxPayloads = 200;
const firstPage = 256;

/** What judging reads. */
export interface SubjectSources {
  readonly calls: Store;
  readonly costs: CostsOfProject;
}

const parsed = (text: string): JsonValue => parseJson(text) as JsonValue;

const toObject = (value: JsonValue | undefined): JsonObject =>
  value !== undefined && isJsonObject(value) ? value : {};

/** The messages of a list, or of one; nothing else is one. */
const messagesIn = (value: JsonValue | undefined): JsonObject[] =>
  (Array.isArray(value) ? value : [value ?? null]).filter(isJsonObject);

/** The messages of an answer, in the forms of recorded calls and of OpenAI's own answers. */
const answerMessages = (output: JsonValue): JsonObject[] => {
  const { messages, choices, message, role } = toObject(output);
  if (messages !== undefined) return messagesIn(messages);
  if (choices !== undefined) return messagesIn(choices).flatMap((choice) => messagesIn(choice.message));
  if (message !== undefined) return messagesIn(message);
  return typeof role === 'string' ? messagesIn(output) : [];
};

const hasMessages = (inputs: JsonValue): boolean => messagesIn(toObject(inputs).messages).length > 0;

const textOfPart = (part: JsonValue): string => {
  if (typeof part === 'string') return part;
  const { text, content } = toObject(part);
  return typeof text === 'string' ? text : typeof content === 'string' ? content : '';
};

const textOfContent = (content: JsonValue | undefined): string =>
  Array.isArray(content) ? content.map(textOfPart).join('') : textOfPart(content ?? '');

const toolCallsIn = (messages: readonly JsonObject[]): JsonObject[] =>
  messages.flatMap(({ tool_calls }) => messagesIn(tool_calls ?? []));

const messageText = (message: JsonObject): string => {
  const tools = toolCallsIn([message]).map((tool) => {
    const { name, arguments: given } = toObject(tool.function ?? tool);
    return `${String(name ?? 'a tool')}(${typeof given === 'string' ? given : JSON.stringify(given ?? {})})`;
  });
  const text = [textOfContent(message.content), ...tools].filter((text) => text !== '').join('\n');
  return `${String(message.role ?? 'user')}: ${text}`;
};

const toConversation = (inputs: JsonValue, output: JsonValue): string =>
  [...messagesIn(toObject(inputs).messages), ...answerMessages(output)].map(messageText).join('\n\n');

/** A text as it is, anything else as JSON. */
export const asText = (value: JsonValue | undefined): string =>
  typeof value === 'string' ? value : value === undefined || value === null ? '' : JSON.stringify(value);

/** The first of these that a value has. */
const findFirst = (value: JsonObject, ...paths: readonly string[]): JsonValue | undefined => {
  for (const path of paths) {
    const found = valueAt(value, path.split('.'));
    if (found !== undefined && found !== null) return found;
  }
  return undefined;
};

/** A call, or a trace by its root, as an evaluator sees it. What takes reading is read once. */
export class Subject {
  readonly header: CallHeader;
  readonly attributes: JsonValue;
  readonly inputs: JsonValue;
  readonly output: JsonValue;
  readonly #isTrace: boolean;
  readonly #sources: SubjectSources;
  readonly #budget: RequestBudget;
  #trace: Promise<readonly CallHeader[]> | undefined;

  /** @param isTrace whether all of its trace is judged */
  constructor(
    sources: SubjectSources,
    { header, payload }: StoredCall,
    isTrace: boolean,
    budget: RequestBudget,
  ) {
    this.header = header;
    this.attributes = parsed(payload.attributes);
    this.inputs = parsed(payload.inputs);
    this.output = parsed(payload.output);
    this.#isTrace = isTrace;
    this.#sources = sources;
    this.#budget = budget;
  }

  /** The output as a text: that of an answer's messages, a text as it is, anything else as JSON. */
  get outputText(): string {
    const messages = answerMessages(this.output);
    return messages.length > 0
      ? messages.map(({ content }) => textOfContent(content)).join('\n')
      : asText(this.output);
  }

  get latencyMs(): number {
    return latencyMs(this.header) ?? 0;
  }

  /** What it was hoped to give, as rows of datasets have it. */
  get expected(): JsonValue | undefined {
    return (
      findFirst(toObject(this.inputs), 'expected', 'example.expected') ??
      findFirst(toObject(this.attributes), 'expected')
    );
  }

  /** What a placeholder names. */
  async named(name: string): Promise<JsonValue | undefined> {
    if (name === 'conversation') return this.conversation();
    if (name === 'expected') return this.expected;
    const [field = '', ...path] = name.split('.');
    const { inputs, output, attributes } = this;
    const whole = { inputs, output, attributes }[field];
    return whole === undefined ? undefined : valueAt(whole, path);
  }

  /** The messages of the call and its answer. Of a trace without any, those of its last model call. */
  async conversation(): Promise<string> {
    if (hasMessages(this.inputs)) return toConversation(this.inputs, this.output);
    const models = this.#isTrace ? await this.#modelCalls() : [];
    const last = models.findLast(({ payload }) => hasMessages(parsed(payload.inputs)));
    if (last) return toConversation(parsed(last.payload.inputs), parsed(last.payload.output));
    return `user: ${asText(this.inputs)}\n\nassistant: ${this.outputText}`;
  }

  /** The calls of tools: those that an answer asks for, or of a trace those that were made. */
  async toolCalls(): Promise<number> {
    if (!this.#isTrace) return toolCallsIn(answerMessages(this.output)).length;
    const toolCallCount = (await this.#calls()).filter(
      ({ start }) => start.attributes.kind === 'tool',
    ).length;
    if (toolCallCount > 0) return toolCallCount;
    const asked = (await this.#modelCalls()).map(
      ({ payload }) => toolCallsIn(answerMessages(parsed(payload.output))).length,
    );
    return asked.reduce((sum, count) => sum + count, 0);
  }

  /** What the call, or its whole trace, has cost in dollars, as far as prices are known. */
  async costUsd(): Promise<number> {
    const headers = this.#isTrace ? await this.#calls() : [this.header];
    const { projectId } = this.header;
    const computeCosts = await this.#sources.costs(projectId, this.#budget);
    const apart = headers.filter(({ end }) => end?.usage === true).slice(0, maxPayloads);
    const read = await this.#reader().read(apart);
    const summaries = new Map(
      read.map(({ header, payload }) => [header.id, toObject(parsed(payload.summary))]),
    );
    return headers.reduce((sum, { id, start, end }) => {
      const usage = end?.usage === true ? toObject(summaries.get(id)?.usage) : (end?.usage ?? {});
      return sum + sumDollars(computeCosts(usage, start.startedAt));
    }, 0);
  }

  #reader(): PayloadReader {
    return new PayloadReader(this.#sources.calls, this.header.projectId, this.#budget);
  }

  async #modelCalls(): Promise<StoredCall[]> {
    const used = (await this.#calls()).filter(({ end }) => end?.usage);
    return this.#reader().read(used.slice(-maxPayloads));
  }

  /** The calls of the trace, in order of their start, without those of judges. */
  #calls(): Promise<readonly CallHeader[]> {
    this.#trace ??= this.#readTrace();
    return this.#trace;
  }

  async #readTrace(): Promise<readonly CallHeader[]> {
    const { projectId, start } = this.header;
    const { calls } = this.#sources;
    const range = traceRange(projectId, start.traceId, {});
    const rows = scanParts(calls, projectId, [range], { descending: false, firstPage }, this.#budget);
    const found: CallHeader[] = [];
    for await (const batch of joinParts(calls, projectId, rows, this.#budget)) {
      found.push(...batch.filter((header) => !header.start.isJudges));
      if (found.length >= maxTraceCalls) break;
    }
    return found.toSorted((a, b) => a.start.startedAt - b.start.startedAt);
  }
}

/** The sum of costs in dollars. Those in other units do not count. */
export const sumDollars = (costs: ReturnType<Awaited<ReturnType<CostsOfProject>>>): number =>
  Object.values(costs).reduce(
    (sum, cost) =>
      sum +
      (cost.prompt_token_cost_unit === 'USD' ? cost.prompt_tokens_total_cost : 0) +
      (cost.completion_token_cost_unit === 'USD' ? cost.completion_tokens_total_cost : 0),
    0,
  );

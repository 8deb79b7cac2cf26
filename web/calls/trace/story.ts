import {
  type ContentPart,
  type Message,
  parseConversation,
  toolParts,
} from '../../../api/shared/conversation.ts';
import type { CallRow } from '../../api/calls.ts';
import { parseExchange } from '../messages/exchange.ts';
import type { TreeLine, TreeNode } from './tree.ts';

/*
 * A trace as one text, in the order of its tree. Each call says what nobody said before it: a model
 * call repeats the conversation so far, a turn repeats the question and the answer of its models,
 * and what a tool took and gave stands in the messages around it as well.
 */

/** A place in the story: a call, or the beginning or the end of one that has others below it. */
export interface StoryItem {
  readonly key: string;
  readonly node: TreeNode;
  readonly depth: number;
  readonly part: 'whole' | 'begin' | 'end';
}

/** The places of a story in order, from the lines of the whole tree. */
export const toStory = (lines: readonly TreeLine[]): StoryItem[] => {
  const items: StoryItem[] = [];
  const open: TreeLine[] = [];
  const closeTo = (depth: number) => {
    for (let last = open.at(-1); last && last.depth >= depth; last = open.at(-1)) {
      open.pop();
      items.push({ key: `${last.node.call.id} end`, node: last.node, depth: last.depth, part: 'end' });
    }
  };
  for (const line of lines) {
    const { node, depth } = line;
    closeTo(depth);
    const hasChildren = node.children.length > 0;
    items.push({ key: node.call.id, node, depth, part: hasChildren ? 'begin' : 'whole' });
    if (hasChildren) open.push(line);
  }
  closeTo(0);
  return items;
};

/** What is known of a trace by its headers, and tells what of a call was said before. */
export interface StoryContext {
  /** The model call whose conversation another one goes on from, by the id of the latter. */
  readonly before: ReadonlyMap<string, CallRow>;
  readonly byId: ReadonlyMap<string, TreeNode>;
  /** The names of the tools that are calls of the trace. */
  readonly tools: ReadonlySet<string>;
}

/** The name of a tool in that of its call: `execute_tool find_order`, or `find_order.tool`. */
const toolName = (call: string): string => {
  const name = call.replace(/\.tool$/, '');
  return name.slice(Math.max(name.lastIndexOf(' '), name.lastIndexOf('.')) + 1);
};

/** @param lines those of the whole tree */
export const toContext = (lines: readonly TreeLine[]): StoryContext => {
  const before = new Map<string, CallRow>();
  const last = new Map<string, CallRow>();
  const models = lines.flatMap(({ node }) => (node.kind === 'model' ? [node] : []));
  for (const { call } of models.toSorted((one, other) => one.start - other.start)) {
    const beside = `${call.op_name}\n${call.parent_id}`;
    const found = last.get(beside) ?? last.get(call.op_name);
    if (found) before.set(call.id, found);
    last.set(beside, call);
    last.set(call.op_name, call);
  }
  return {
    before,
    byId: new Map(lines.map(({ node }) => [node.call.id, node])),
    tools: new Set(
      lines.flatMap(({ node }) => (node.kind === 'tool' ? [toolName(node.name), node.name] : [])),
    ),
  };
};

/** How many calls above another are asked what they had said already. */
const maxAbove = 3;

const above = ({ call }: TreeNode, { byId }: StoryContext): CallRow[] => {
  const found: CallRow[] = [];
  let parent = byId.get(call.parent_id ?? '')?.call;
  while (parent && found.length < maxAbove && !found.includes(parent)) {
    found.push(parent);
    parent = byId.get(parent.parent_id ?? '')?.call;
  }
  return found;
};

/** The calls whose payloads tell what is new at a place. */
export const neededFor = ({ node, part }: StoryItem, context: StoryContext): CallRow[] => {
  const { call, kind, lastModel } = node;
  const before = context.before.get(call.id);
  return [
    call,
    ...(before ? [before] : []),
    ...(kind === 'tool' || part === 'end' ? [] : above(node, context)),
    ...(part === 'end' && lastModel ? [lastModel] : []),
  ];
};

/** What is new at a place of the story. */
export interface Said {
  /** What earlier turns had said: it is folded away. */
  readonly earlier: readonly Message[];
  readonly messages: readonly Message[];
  readonly exception: string | undefined;
}

const getWords = (part: ContentPart): unknown => {
  switch (part.kind) {
    case 'text':
      return part.text.trim();
    case 'call':
      return [part.name, part.input];
    case 'result':
      return part.output;
    case 'image':
      return part.url;
    case 'file':
      return part.file;
    case 'other':
      return part.value;
    case 'thinking':
      return '';
  }
};

/** What a message says, whatever it is wrapped in. Ids and thoughts do not count. */
const messageKey = ({ role, parts }: Message): string => {
  const words = parts.map(getWords).filter((word) => word !== '');
  try {
    return JSON.stringify([role === 'model' ? 'assistant' : role, words]);
  } catch {
    // It is nested too deeply to be compared.
    return `${role} ${Math.random()}`;
  }
};

/** Without what calls of tools say themselves, and without messages that then have nothing to say. */
const withoutTools = (messages: readonly Message[], tools: ReadonlySet<string>): Message[] => {
  const isSaid = (part: ContentPart) =>
    (part.kind === 'call' && tools.has(part.name)) ||
    // Not every convention says which tool a result is of.
    (part.kind === 'result' && (part.name === undefined ? tools.size > 0 : tools.has(part.name)));
  return messages.flatMap((message) => {
    const parts = message.parts.filter((part) => !isSaid(part));
    return parts.length > 0 ? [{ ...message, parts }] : [];
  });
};

/** The payloads of calls by id, as far as they were read. */
export type Payloads = ReadonlyMap<string, Pick<CallRow, 'inputs' | 'output' | 'exception'>>;

const getPayload = (payloads: Payloads, call: CallRow | undefined) => {
  const row = call && payloads.get(call.id);
  return row && { inputs: row.inputs ?? {}, output: row.output ?? null };
};

const isAnswer = ({ role }: Message): boolean => role === 'assistant' || role === 'model';

/** What a model call says that the one before it, and those above it, did not. */
const newMessages = (
  { sent, received }: { readonly sent: readonly Message[]; readonly received: readonly Message[] },
  before: readonly Message[],
  questions: ReadonlySet<string>,
): Pick<Said, 'earlier' | 'messages'> => {
  const known = before.map(messageKey);
  const keys = sent.map(messageKey);
  let shared = 0;
  while (shared < keys.length && keys[shared] === known[shared]) shared++;
  // A conversation that begins here may go on from former turns: all up to their last answer.
  const old = shared > 0 ? 0 : sent.findLastIndex(isAnswer) + 1;
  const seen = new Set([...known, ...questions]);
  const isNew = (at: number) => !seen.has(keys[at] ?? '');
  return {
    earlier: sent.slice(0, old).filter((_, at) => isNew(at)),
    messages: [...sent.filter((_, at) => at >= Math.max(shared, old) && isNew(at)), ...received],
  };
};

/** A tool says what it took and what it gave, each at its place. */
const toolMessages = (
  name: string,
  part: StoryItem['part'],
  payload: { readonly inputs: object; readonly output: unknown },
): Message[] => {
  const { took, gave } = toolParts(name, payload);
  const parts = [...(part === 'end' ? [] : took), ...(part === 'begin' ? [] : gave)];
  return parts.length > 0 ? [{ role: 'tool', parts }] : [];
};

const getAnswers = (payload: { readonly inputs: object; readonly output: unknown } | undefined) =>
  payload ? parseExchange({ inputs: { ...payload.inputs }, output: payload.output }).answered : [];

/** What is new at a place of the story; undefined until what that takes was read. */
export const contentAt = (item: StoryItem, payloads: Payloads, context: StoryContext): Said | undefined => {
  const { node, part } = item;
  if (!neededFor(item, context).every(({ id }) => payloads.has(id))) return undefined;
  const own = getPayload(payloads, node.call);
  const row = payloads.get(node.call.id);
  if (!own || !row) return undefined;
  const exception = part === 'begin' ? undefined : (row.exception ?? undefined);
  const nothing = { earlier: [], messages: [], exception };
  if (node.kind === 'tool') return { ...nothing, messages: toolMessages(toolName(node.name), part, own) };
  const questions = new Set(
    above(node, context).flatMap((call) => {
      const payload = getPayload(payloads, call);
      return payload ? parseExchange(payload).asked.map(messageKey) : [];
    }),
  );
  const conversation = parseConversation(own);
  if (conversation && part === 'whole') {
    const before = getPayload(payloads, context.before.get(node.call.id));
    const earlier = before && parseConversation(before);
    const all = earlier ? [...earlier.sent, ...earlier.received] : [];
    const content = newMessages(conversation, all, questions);
    return {
      earlier: withoutTools(content.earlier, context.tools),
      messages: withoutTools(content.messages, context.tools),
      exception,
    };
  }
  const exchange = parseExchange(own);
  const answered = new Set(
    part === 'end' ? getAnswers(getPayload(payloads, node.lastModel)).map(answerKey) : [],
  );
  return {
    ...nothing,
    messages: withoutTools(
      [
        ...(part === 'end' ? [] : exchange.asked.filter((message) => !questions.has(messageKey(message)))),
        ...(part === 'begin' ? [] : exchange.answered.filter((message) => !answered.has(answerKey(message)))),
      ],
      context.tools,
    ),
  };
};

/** What an answer says, without the tools it calls. */
const answerKey = ({ parts }: Message): string =>
  messageKey({ role: 'assistant', parts: parts.filter(({ kind }) => kind !== 'call') });

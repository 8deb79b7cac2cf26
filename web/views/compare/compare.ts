import { diffArrays } from 'diff';
import { parseConversation } from '../../../api/shared/conversation.ts';
import {
  type CallRow,
  getCallName,
  getDuration,
  getStatus,
  getWait,
  opText,
  sumUsage,
  type Usage,
  usageByModel,
} from '../../api/calls.ts';
import type { Call } from '../../api/contract.ts';
import { parseExchange } from '../../calls/messages/exchange.ts';
import { formatTranscript, messageText } from '../../calls/messages/transcript.ts';
import { type TreeLine, type TreeNode, toLines } from '../../calls/trace/tree.ts';
import { costText, countText, latencyText, waitText } from '../../data/format.ts';
import { valueText } from '../../ui/diff.ts';

/** What headers say of two calls, line by line. */
export interface Fact {
  readonly title: string;
  readonly left: string;
  readonly right: string;
}

const usageText = (call: CallRow, text: (usage: Usage) => string): string => {
  const usage = sumUsage(usageByModel(call).values());
  return usage ? text(usage) : '';
};

const readers: readonly (readonly [string, (call: CallRow) => string])[] = [
  ['Name', getCallName],
  ['Operation', ({ op_name }) => opText(op_name)],
  ['Status', getStatus],
  ['Latency', (call) => latencyText(getDuration(call))],
  ['Waited', (call) => waitText(getWait(call))],
  ['Model', (call) => [...usageByModel(call).keys()].join(', ')],
  ['Input tokens', (call) => usageText(call, ({ input }) => countText(input))],
  ['Cached tokens', (call) => usageText(call, ({ cached }) => (cached > 0 ? countText(cached) : ''))],
  ['Output tokens', (call) => usageText(call, ({ output }) => countText(output))],
  ['Reasoning', (call) => usageText(call, ({ reasoning }) => (reasoning > 0 ? countText(reasoning) : ''))],
  ['Cost', (call) => usageText(call, ({ cost }) => (cost === undefined ? '' : costText(cost)))],
  ['User', ({ svc_user_id }) => svc_user_id ?? ''],
  ['Thread', ({ thread_id }) => thread_id ?? ''],
  ['Exception', ({ exception }) => exception?.split('\n', 1)[0] ?? ''],
];

/** What calls below a call add to it: nothing is said of a call that has none. */
const totals: readonly (readonly [string, (node: TreeNode) => string])[] = [
  ['Tokens with all below', ({ totalUsage }) => (totalUsage ? countText(totalUsage.total) : '')],
  [
    'Cost with all below',
    ({ totalUsage }) => (totalUsage?.cost === undefined ? '' : costText(totalUsage.cost)),
  ],
];

const withBelow = (node: TreeNode | undefined, read: (node: TreeNode) => string): string =>
  node && node.children.length > 0 ? read(node) : '';

/** A call to compare, with its tree once that is known. */
export interface Compared {
  readonly call: CallRow;
  readonly node: TreeNode | undefined;
}

/** The facts of two calls, without those that neither has. */
export const compareFacts = (left: Compared, right: Compared): Fact[] =>
  [
    ...readers.map(([title, read]) => ({ title, left: read(left.call), right: read(right.call) })),
    ...totals.map(([title, read]) => ({
      title,
      left: withBelow(left.node, read),
      right: withBelow(right.node, read),
    })),
  ].filter((fact) => fact.left !== '' || fact.right !== '');

/** A step of each trace beside the other; undefined where one has none. */
interface StepPair {
  readonly left: TreeLine | undefined;
  readonly right: TreeLine | undefined;
}

/** Traces with more steps are compared up to here. */
const maxSteps = 2000;

/** The node of a call in a forest, however deep it is. */
export const nodeIn = (forest: readonly TreeNode[], id: string): TreeNode | undefined => {
  const waiting = [...forest];
  for (let node = waiting.pop(); node; node = waiting.pop()) {
    if (node.call.id === id) return node;
    waiting.push(...node.children);
  }
  return undefined;
};

const stepsBelow = (node: TreeNode | undefined): TreeLine[] =>
  node ? toLines(node.children).slice(0, maxSteps) : [];

const isSame = (one: TreeLine, other: TreeLine): boolean =>
  one.node.name === other.node.name && one.depth === other.depth;

/** Puts the steps below two calls beside each other, by their names and depths. */
export const pairSteps = (left: TreeNode | undefined, right: TreeNode | undefined): StepPair[] => {
  const ours = stepsBelow(left);
  const theirs = stepsBelow(right);
  let atLeft = 0;
  let atRight = 0;
  return diffArrays(ours, theirs, { comparator: isSame }).flatMap(({ added, removed, value }) =>
    value.map(() => ({
      left: added ? undefined : ours[atLeft++],
      right: removed ? undefined : theirs[atRight++],
    })),
  );
};

/** What a call gave, as a reader would have it: the texts of an answer, or the output as lines. */
const formatAnswer = (call: Given): string => {
  const { answered } = parseExchange(call);
  const text = answered.map(messageText).join('\n\n');
  return text === '' && !isNothing(call.output) ? valueText(call.output) : text;
};

type Given = Pick<Call, 'inputs' | 'output'>;

/** What two calls gave, to be compared: a text that reads like another value stands in quotes. */
export const formatAnswers = (left: Given, right: Given): readonly [one: string, other: string] =>
  typeof left.output === typeof right.output || isNothing(left.output) || isNothing(right.output)
    ? [formatAnswer(left), formatAnswer(right)]
    : [valueText(left.output), valueText(right.output)];

const isNothing = (value: unknown): boolean => value === null || value === undefined || value === '';

/** The fields of inputs that hold the messages of a conversation. */
const conversationFields = new Set([
  'messages',
  'input',
  'prompt',
  'system',
  'instructions',
  'system_instructions',
]);

/** What a call took: its messages as a text, and all else of its inputs as lines. */
interface Taken {
  /** Empty for a call without a conversation. */
  readonly messages: string;
  readonly rest: string;
}

export const takenBy = ({ inputs, output }: Pick<Call, 'inputs' | 'output'>): Taken => {
  const conversation = parseConversation({ inputs, output });
  if (!conversation) return { messages: '', rest: valueText(inputs) };
  const rest = Object.entries(inputs).filter(([name]) => !conversationFields.has(name));
  return { messages: formatTranscript(conversation.sent), rest: valueText(Object.fromEntries(rest)) };
};

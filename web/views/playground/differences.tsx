import { useMemo } from 'react';
import type { Call } from '../../api/types.ts';
import { DiffView } from '../../ui/diff/diff-view.tsx';
import { valueText } from '../../ui/diff/value-text.ts';
import { conversationOf } from '../trace/messages/conversation.ts';
import type { Message } from '../trace/messages/message.ts';
import type { Answer } from './answer.ts';
import { type Draft, draftOf, requestOf } from './draft.ts';

interface DifferencesProps {
  readonly original: Call;
  /** The request that was sent. */
  readonly sent: Draft;
  readonly answer: Answer;
}

/** What a message says, as lines: its texts, and the tools that it calls. */
const textOf = ({ parts }: Message): string =>
  parts
    .map((part) => {
      if (part.kind === 'text') return part.text;
      if (part.kind === 'call') return valueText({ calls: part.name, with: part.input });
      return '';
    })
    .filter((text) => text !== '')
    .join('\n');

const answerText = ({ text, toolCalls }: Answer): string =>
  [
    ...(text === '' ? [] : [text]),
    ...toolCalls.map(({ function: { name, arguments: written } }) =>
      valueText({ calls: name, with: parsed(written) }),
    ),
  ].join('\n');

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
};

const requestText = (draft: Draft | undefined): string => {
  const request = draft && requestOf(draft);
  return request && 'body' in request ? valueText(request.body) : '';
};

/** What was changed of a recorded call, and what became of its answer. */
export const Differences = ({ original, sent, answer }: DifferencesProps) => {
  const texts = useMemo(
    () => ({
      request: [requestText(draftOf(original)), requestText(sent)] as const,
      answer: [
        (conversationOf(original)?.received ?? []).map(textOf).join('\n'),
        answerText(answer),
      ] as const,
    }),
    [original, sent, answer],
  );
  return (
    <section className="stack" aria-label="Compared with the recorded call">
      <h2>Compared with the recorded call</h2>
      <h3>Request</h3>
      <DiffView one={texts.request[0]} other={texts.request[1]} label="Differences of the request" />
      <h3>Answer</h3>
      <DiffView one={texts.answer[0]} other={texts.answer[1]} label="Differences of the answer" />
    </section>
  );
};

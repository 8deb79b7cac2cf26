import { Link } from '@tanstack/react-router';
import { useMemo } from 'react';
import { parseConversation, parseMessage } from '../../../api/shared/conversation.ts';
import type { Call } from '../../api/contract.ts';
import { errorText } from '../../api/http.ts';
import { MessageCard } from '../../calls/messages/messages.tsx';
import { messageText } from '../../calls/messages/transcript.ts';
import { countText, durationText, kindsText } from '../../data/format.ts';
import { jsonIn } from '../../data/values.ts';
import { Button, Notice } from '../../ui/controls.tsx';
import { valueText } from '../../ui/diff.ts';
import { DiffView } from '../../ui/diff-view.tsx';
import { type Draft, draftMessage, fillDraft, toDraft, toRequest } from './draft.ts';
import { type Answer, isBusy, type Trial, type TrialState } from './trial.ts';

interface DifferencesProps {
  readonly original: Call;
  /** The request that was sent. */
  readonly sent: Draft;
  readonly answer: Answer;
}

const answerText = ({ text, toolCalls }: Answer): string =>
  [
    ...(text === '' ? [] : [text]),
    ...toolCalls.map(({ function: { name, arguments: written } }) =>
      valueText({ calls: name, with: parsed(written) }),
    ),
  ].join('\n');

const parsed = (text: string): unknown => {
  const value = jsonIn(text);
  return value === undefined ? text : value;
};

const requestText = (draft: Draft | undefined): string => {
  const request = draft && toRequest(draft);
  return request && 'body' in request ? valueText(request.body) : '';
};

/** What was changed of a recorded call, and what became of its answer. */
const Differences = ({ original, sent, answer }: DifferencesProps) => {
  const texts = useMemo(
    () => ({
      request: [requestText(toDraft(original)), requestText(sent)] as const,
      answer: [
        (parseConversation(original)?.received ?? []).map(messageText).join('\n'),
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

interface AnswerPaneProps {
  readonly trial: Trial;
  readonly state: TrialState;
  readonly project: string;
  readonly original: Call | undefined;
  /** Which variant it is, from 1; undefined if there is one alone. @default undefined */
  readonly number?: number | undefined;
}

const phases: Readonly<Record<TrialState['phase'], string>> = {
  editing: '',
  sending: 'sent, waiting…',
  streaming: 'answering…',
  done: 'done',
  stopped: 'stopped; what arrived is kept',
  failed: 'failed',
};

const Facts = ({ state }: { state: TrialState }) => {
  const { phase, firstMs, totalMs, answer } = state;
  const kinds = answer.tokens && kindsText(answer.tokens);
  return (
    <p className="facts" role="status">
      <span>{phases[phase]}</span>
      {firstMs === undefined ? null : <span>first word after {durationText(firstMs)}</span>}
      {totalMs === undefined ? null : <span>{durationText(totalMs)} in all</span>}
      {answer.tokens ? (
        <span>
          {countText(answer.tokens.input)} + {countText(answer.tokens.output)} tokens
          {kinds ? `, ${kinds}` : ''}
        </span>
      ) : null}
      {answer.finish ? <span>finish: {answer.finish}</span> : null}
    </p>
  );
};

/** Where the recorded call is, and what it can be compared with. */
const Recorded = ({ state, project, original }: Omit<AnswerPaneProps, 'trial'>) => {
  const { recorded } = state;
  if (recorded === null)
    return <p className="muted">The recorded call is not there yet. Look for it in the list of traces.</p>;
  if (!recorded) return null;
  return (
    <p className="links">
      <Link to="/trace" search={{ project, trace: recorded.trace_id, call: recorded.id }}>
        Open the recorded call
      </Link>
      {original ? (
        <Link to="/compare" search={{ project, left: original.id, right: recorded.id }}>
          Compare it with the original
        </Link>
      ) : null}
    </p>
  );
};

const Reply = ({ trial, state }: Pick<AnswerPaneProps, 'trial' | 'state'>) => {
  const { answer, draft } = state;
  const { text, thinking, toolCalls, error } = answer;
  if (text === '' && thinking === '' && toolCalls.length === 0 && error === undefined) return null;
  const fields = { role: 'assistant', content: text, reasoning: thinking, tool_calls: toolCalls };
  const goOn = () => {
    const extra = toolCalls.length > 0 ? JSON.stringify({ tool_calls: toolCalls }, null, 2) : '';
    const reply = draftMessage({ role: 'assistant', text, extra });
    const next = toolCalls.map(({ id }) =>
      draftMessage({ role: 'tool', extra: JSON.stringify({ tool_call_id: id }, null, 2) }),
    );
    // What the model said is no template.
    trial.edit({
      messages: [...fillDraft(draft).messages, reply, ...(next.length > 0 ? next : [draftMessage()])],
      values: undefined,
    });
  };
  if (isBusy(state))
    return (
      <article className="message assistant">
        <header className="message-head">assistant</header>
        <div className="long-text" dir="auto">
          {text || (thinking && 'Thinking…')}
        </div>
      </article>
    );
  return (
    <>
      <MessageCard message={parseMessage(fields)} />
      {error === undefined ? null : <Notice kind="error">The model broke off: {error}</Notice>}
      <div>
        <Button onClick={goOn}>Continue from here</Button>
      </div>
    </>
  );
};

/** What the model answers, and what it had answered when the call was recorded. */
export const AnswerPane = ({ trial, state, project, original, number }: AnswerPaneProps) => {
  const received = original ? (parseConversation(original)?.received ?? []) : [];
  return (
    <section className="stack" aria-label={number === undefined ? 'Answer' : `Answer ${number}`}>
      <h2>Answer</h2>
      {state.phase === 'editing' ? (
        <p className="muted">Send the request, and the answer appears here while the model writes it.</p>
      ) : (
        <Facts state={state} />
      )}
      {state.phase === 'failed' ? <Notice kind="error">{errorText(state.error)}</Notice> : null}
      <Reply trial={trial} state={state} />
      <Recorded state={state} project={project} original={original} />
      {original &&
      number === undefined &&
      state.sent &&
      (state.phase === 'done' || state.phase === 'stopped') ? (
        <Differences original={original} sent={state.sent} answer={state.answer} />
      ) : null}
      {received.length > 0 && (number ?? 1) === 1 ? (
        <details className="stack" open={state.phase === 'editing'}>
          <summary>The recorded answer</summary>
          {received.map((message, at) => (
            <MessageCard key={at} message={message} />
          ))}
        </details>
      ) : null}
    </section>
  );
};

import { useQueryClient } from '@tanstack/react-query';
import { useId, useRef, useState } from 'react';
import { isVerdictId, judgedBy } from '../../../api/shared/evaluators.ts';
import { askedBy } from '../../../api/shared/feedback.ts';
import type { CallRow } from '../../api/calls.ts';
import { isComment } from '../../api/comments.ts';
import type { Call, CallFeedback } from '../../api/contract.ts';
import { findOwn, getFeedback, give, type Kind, type Payload, takeBack } from '../../api/feedback.ts';
import { isAnswer, valueText } from '../../calls/agreement.ts';
import { Thumb } from '../../calls/badges.tsx';
import type { CallList } from '../../calls/list/call-list.ts';
import { useKeeper } from '../../session/kept.ts';
import { allows, Person, useSession } from '../../session/session.tsx';
import { Button, Moment } from '../../ui/controls.tsx';
import { Form } from '../../ui/fields.tsx';
import { JsonTree } from '../../ui/json-tree.tsx';
import { LongText } from '../../ui/text.tsx';
import { useWork } from '../../ui/work.ts';

const withFeedback = <Row extends Pick<CallRow, 'summary'>>(row: Row, change: Change): Row =>
  ({
    ...row,
    summary: { ...row.summary, svc: { ...row.summary?.svc, feedback: change(getFeedback(row)) } },
  }) as Row;

/** Changes records of feedback. */
type Change = (records: readonly CallFeedback[]) => readonly CallFeedback[];

/** Changes the feedback on a call that is on the screen and in the cache, so that nothing is read again. */
export const useChangeFeedback = ({ id, project_id }: Pick<CallRow, 'id' | 'project_id'>) => {
  const { me } = useSession();
  const cache = useQueryClient();
  const keeper = useKeeper();
  return (change: Change) => {
    cache.setQueriesData<Call | null>({ queryKey: ['call', me.key_id, project_id, id] }, (before) =>
      before ? withFeedback(before, change) : before,
    );
    for (const list of keeper.all<CallList>('calls')) list.change(id, (row) => withFeedback(row, change));
  };
};

/** The feedback on a call, and what changes it. */
export const useFeedback = (call: Call) => {
  const { client, me } = useSession();
  const { isBusy, error, run } = useWork();
  const records = getFeedback(call);
  const apply = useChangeFeedback(call);
  const own = (kind: Kind) => findOwn(records, kind, me.user);
  return {
    /** What is no comment. */
    opinions: records.filter((record) => !isComment(record)),
    comments: records.filter(isComment).length,
    own,
    busy: isBusy,
    error,
    mayGive: allows(me, call.project_id, 'write'),
    give: (kind: Kind, payload: Payload) =>
      run(async () => {
        const before = own(kind);
        const given = await give(client, call, kind, payload, before);
        apply((all) => [...all.filter(({ id }) => id !== before?.id), given]);
      }),
    takeBack: (kind: Kind) =>
      run(async () => {
        const before = own(kind);
        if (!before) return;
        await takeBack(client, call.project_id, before);
        apply((all) => all.filter(({ id }) => id !== before.id));
      }),
  };
};

/** The feedback on a call, and what changes it. */
type FeedbackState = ReturnType<typeof useFeedback>;

const choices = [
  { up: true, name: 'Thumbs up' },
  { up: false, name: 'Thumbs down' },
] as const;

/** Thumbs up or down. The other thumb replaces one, the same thumb takes it back. */
export const Thumbs = ({ state }: { state: FeedbackState }) => {
  const savedThumb = state.own('thumbs')?.payload.up;
  return (
    <fieldset className="segments">
      <legend className="hidden">Your opinion</legend>
      {choices.map(({ up, name }) => (
        <Button
          key={name}
          kind="quiet"
          aria-label={name}
          aria-pressed={savedThumb === up}
          idle={state.busy}
          onClick={() => (savedThumb === up ? state.takeBack('thumbs') : state.give('thumbs', { up }))}
        >
          <Thumb up={up} />
        </Button>
      ))}
    </fieldset>
  );
};

interface FeedbackFieldProps {
  readonly state: FeedbackState;
  readonly kind: 'score' | 'correction';
  readonly title: string;
  readonly hint: string;
}

const toPayload = (kind: FeedbackFieldProps['kind'], text: string): Payload =>
  kind === 'score' ? { score: Number(text) } : { correction: text };

/** A part of the form, which is saved by itself. */
const FeedbackField = ({ state, kind, title, hint }: FeedbackFieldProps) => {
  const savedValue = state.own(kind)?.payload[kind];
  const saved = savedValue === undefined || savedValue === null ? '' : String(savedValue);
  const [text, setText] = useState(saved);
  const id = useId();
  const submitButton = useRef<HTMLButtonElement>(null);
  const submit = () => {
    state.give(kind, toPayload(kind, text.trim()));
  };
  const takeBack = () => {
    // The button that was pressed goes away.
    submitButton.current?.focus();
    setText('');
    state.takeBack(kind);
  };
  return (
    <Form className="feedback-part" onSubmit={submit}>
      <div className="field">
        <label htmlFor={id}>{title}</label>
        {kind === 'score' ? (
          <input
            id={id}
            type="number"
            step="any"
            required
            value={text}
            placeholder={hint}
            onChange={(event) => setText(event.target.value)}
          />
        ) : (
          <textarea
            id={id}
            rows={3}
            required
            value={text}
            placeholder={hint}
            dir="auto"
            onChange={(event) => setText(event.target.value)}
          />
        )}
      </div>
      <div className="row-end">
        {saved === '' ? null : (
          <Button kind="quiet" idle={state.busy} onClick={takeBack}>
            Take back the {kind}
          </Button>
        )}
        <Button
          ref={submitButton}
          type="submit"
          idle={state.busy || text.trim() === '' || text.trim() === saved}
        >
          {saved === '' ? `Give the ${kind}` : `Replace the ${kind}`}
        </Button>
      </div>
    </Form>
  );
};

/** Gives feedback in one's own name, changes it, and takes it back. */
const FeedbackForm = ({ state }: { state: FeedbackState }) => (
  <section className="card feedback-form" aria-label="Your feedback">
    <h3>Your feedback</h3>
    <FeedbackField state={state} kind="score" title="Score" hint="Any number, such as 0.9" />
    <FeedbackField
      state={state}
      kind="correction"
      title="Correction"
      hint="What the answer should have been"
    />
  </section>
);

/** A payload in words; undefined for one of a kind that the page does not know. */
const wordsFor = ({ feedback_type, payload }: CallFeedback): string | undefined => {
  const { up, score, note, correction } = payload;
  const rest = typeof note === 'string' ? [note] : [];
  if (feedback_type === 'thumbs' && typeof up === 'boolean')
    return [up ? 'Thumbs up' : 'Thumbs down', ...rest].join(' · ');
  if (feedback_type === 'score' && typeof score === 'number') return [`★ ${score}`, ...rest].join(' · ');
  // What people answered in a review, and what evaluators say.
  if (askedBy(feedback_type) !== undefined || judgedBy(feedback_type) !== undefined) {
    const { value, label, reason } = payload;
    const texts = [
      ...(isAnswer(value) ? [valueText(value)] : []),
      ...(typeof label === 'string' ? [label] : []),
    ];
    if (texts.length > 0) return [...texts, ...(typeof reason === 'string' ? [reason] : [])].join(' · ');
  }
  return feedback_type === 'correction' && typeof correction === 'string' ? correction : undefined;
};

const Record = ({ record }: { record: CallFeedback }) => {
  const { id, feedback_type, creator, svc_user_id, created_at, payload } = record;
  const words = wordsFor(record);
  return (
    <li className="card">
      <p className="facts">
        <strong dir="auto">{feedback_type}</strong>
        <Person user={creator ?? svc_user_id} />
        {judgedBy(feedback_type) !== undefined && !isVerdictId(id) ? <span>written by a client</span> : null}
        <Moment time={created_at} />
      </p>
      {words === undefined ? (
        <JsonTree value={payload} path="" label={`Payload of ${feedback_type}`} />
      ) : (
        <LongText text={words} />
      )}
    </li>
  );
};

/** The feedback on the call, oldest first, and what one says oneself beside the thumbs above. */
export const FeedbackPanel = ({ state }: { state: FeedbackState }) => (
  <div className="stack">
    {state.opinions.length === 0 ? <p className="muted">This call has no feedback yet.</p> : null}
    <ul className="feedback">
      {state.opinions.map((record) => (
        <Record key={record.id} record={record} />
      ))}
    </ul>
    {state.mayGive ? (
      <FeedbackForm state={state} />
    ) : (
      <p className="muted">This key may not write to the project, so it cannot give feedback.</p>
    )}
  </div>
);

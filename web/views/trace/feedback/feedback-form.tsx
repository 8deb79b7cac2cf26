import { type FormEvent, useId, useRef, useState } from 'react';
import type { Kind, Payload } from '../../../api/feedback.ts';
import { Button } from '../../../ui/button.tsx';
import type { FeedbackState } from './use-feedback.ts';

interface PartProps {
  readonly state: FeedbackState;
  readonly kind: Exclude<Kind, 'thumbs'>;
  readonly title: string;
  readonly hint: string;
}

const payloadOf = (kind: PartProps['kind'], text: string): Payload => {
  if (kind === 'score') return { score: Number(text) };
  return kind === 'note' ? { note: text } : { correction: text };
};

/** A part of the form, which is saved by itself. */
const Part = ({ state, kind, title, hint }: PartProps) => {
  const given = state.own(kind)?.payload[kind];
  const saved = given === undefined || given === null ? '' : String(given);
  const [text, setText] = useState(saved);
  const id = useId();
  const submitButton = useRef<HTMLButtonElement>(null);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    state.give(kind, payloadOf(kind, text.trim()));
  };
  const takeBack = () => {
    // The button that was pressed goes away.
    submitButton.current?.focus();
    setText('');
    state.takeBack(kind);
  };
  return (
    <form className="feedback-part" onSubmit={submit}>
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
            rows={kind === 'note' ? 2 : 3}
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
    </form>
  );
};

/** Gives feedback in one's own name, changes it, and takes it back. */
export const FeedbackForm = ({ state }: { state: FeedbackState }) => (
  <section className="card feedback-form" aria-label="Your feedback">
    <h3>Your feedback</h3>
    <Part state={state} kind="score" title="Score" hint="Any number, such as 0.9" />
    <Part state={state} kind="note" title="Note" hint="What is good, what is not" />
    <Part state={state} kind="correction" title="Correction" hint="What the answer should have been" />
  </section>
);

import type { CallFeedback } from '../../../api/types.ts';
import { momentText } from '../../../data/format.ts';
import { JsonTree } from '../../../ui/json/json-tree.tsx';
import { LongText } from '../../../ui/long-text.tsx';
import { FeedbackForm } from './feedback-form.tsx';
import type { FeedbackState } from './use-feedback.ts';

/** A payload in words; undefined for one of a kind that the page does not know. */
const wordsFor = ({ feedback_type, payload }: CallFeedback): string | undefined => {
  const { up, score, note, correction } = payload;
  const rest = typeof note === 'string' ? [note] : [];
  if (feedback_type === 'thumbs' && typeof up === 'boolean')
    return [up ? 'Thumbs up' : 'Thumbs down', ...rest].join(' · ');
  if (feedback_type === 'score' && typeof score === 'number') return [`★ ${score}`, ...rest].join(' · ');
  if (feedback_type === 'note' && rest.length > 0) return rest[0];
  return feedback_type === 'correction' && typeof correction === 'string' ? correction : undefined;
};

const Record = ({ record }: { record: CallFeedback }) => {
  const { feedback_type, creator, svc_user_id, created_at, payload } = record;
  const words = wordsFor(record);
  return (
    <li className="card">
      <p className="facts">
        <strong dir="auto">{feedback_type}</strong>
        <span dir="auto">{creator ?? svc_user_id}</span>
        <time dateTime={created_at}>{momentText(created_at)}</time>
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
    {state.records.length === 0 ? <p className="muted">Nobody has given feedback on this call.</p> : null}
    <ul className="feedback">
      {state.records.map((record) => (
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

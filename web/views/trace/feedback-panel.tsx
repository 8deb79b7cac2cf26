import type { CallFeedback } from '../../api/types.ts';
import { momentText } from '../../data/format.ts';
import { JsonTree } from '../../ui/json/json-tree.tsx';

/** The feedback on the call, oldest first. */
export const FeedbackPanel = ({ feedback }: { feedback: readonly CallFeedback[] }) => {
  if (feedback.length === 0) return <p className="muted">Nobody has given feedback on this call.</p>;
  return (
    <ul className="feedback">
      {feedback.map(({ id, feedback_type, creator, svc_user_id, created_at, payload }) => (
        <li key={id} className="card">
          <p className="facts">
            <strong dir="auto">{feedback_type}</strong>
            <span dir="auto">{creator ?? svc_user_id}</span>
            <time dateTime={created_at}>{momentText(created_at)}</time>
          </p>
          <JsonTree value={payload} path="" label={`Payload of ${feedback_type}`} />
        </li>
      ))}
    </ul>
  );
};

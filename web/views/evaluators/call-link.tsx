import { Link } from '@tanstack/react-router';
import { type CallRow, getCallName } from '../../api/calls.ts';

/** What a call was about, and a link to it. */
export const CallLink = ({ call }: { call: CallRow }) => {
  const { project_id: project, trace_id: trace, id, preview } = call;
  return (
    <span className="call-link">
      <Link to="/trace" search={{ project, trace, call: id }} dir="auto">
        {preview?.input ?? getCallName(call)}
      </Link>
      {preview?.output ? (
        <span className="muted" dir="auto">
          {preview.output}
        </span>
      ) : null}
    </span>
  );
};

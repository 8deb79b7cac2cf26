import { Link } from '@tanstack/react-router';
import { type CallRow, getCallName } from '../api/calls.ts';
import type { Reading } from '../session/session.tsx';
import { isSilent, previewsOfTraces, shownPreview } from './previews.ts';

/** Rows with previews. Roots without content have what their traces were about. */
export const withPreviews = async (
  { client, signal }: Reading,
  project: string,
  rows: readonly CallRow[],
): Promise<CallRow[]> => {
  const silent = rows.filter((row) => isSilent(row) && !row.parent_id).map(({ trace_id }) => trace_id);
  if (silent.length === 0) return [...rows];
  const found = await previewsOfTraces(client, project, silent, signal);
  return rows.map((row) => {
    const preview = isSilent(row) && !row.parent_id ? found.get(row.trace_id) : undefined;
    return preview ? { ...row, preview } : row;
  });
};

/** What a call was about, and a link to it. */
export const CallLink = ({ call }: { call: CallRow }) => {
  const { project_id: project, trace_id: trace, id, preview } = call;
  const { input, output } = shownPreview(preview ?? { input: null, output: null }, call);
  return (
    <span className="call-link">
      <Link to="/trace" search={{ project, trace, call: id }} dir="auto">
        {input ?? getCallName(call)}
      </Link>
      {output ? (
        <span className="muted" dir="auto">
          {output}
        </span>
      ) : null}
    </span>
  );
};

import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { wordsOf } from '../../api/errors.ts';
import type { PlainCallQuery } from '../../api/types.ts';
import { countText } from '../../data/format.ts';
import { useSession } from '../../session/session.tsx';
import { Button } from '../../ui/button.tsx';
import type { CallList } from './call-list.ts';

/** Counts all rows of a list, which reads their headers: only when somebody asks. */
export const CountButton = ({ list }: { list: CallList }) => {
  const { client, me } = useSession();
  const [asked, setAsked] = useState(false);
  const { project_id, filter, query } = list.request;
  const { data, error, isFetching } = useQuery({
    queryKey: ['count', me.key_id, list.number],
    enabled: asked,
    queryFn: ({ signal }) =>
      client.ask(
        'POST /calls/query_stats',
        { project_id, filter: filter ?? null, query: (query ?? null) as PlainCallQuery | null },
        signal,
      ),
  });
  if (data) return <span className="muted">of {countText(data.count)}</span>;
  if (error) return <span className="error-text">{wordsOf(error)}</span>;
  return (
    <Button kind="quiet" disabled={isFetching} onClick={() => setAsked(true)}>
      {isFetching ? 'Counting…' : 'Count all'}
    </Button>
  );
};

import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import {
  type CallRow,
  fromWire,
  headerColumns,
  nameOf,
  pathToWire,
  statusOf,
  timeOf,
} from '../../api/calls.ts';
import { wordsOf } from '../../api/errors.ts';
import type { Call } from '../../api/types.ts';
import { durationText, momentText } from '../../data/format.ts';
import { useSession } from '../../session/session.tsx';
import { Button } from '../../ui/button.tsx';
import { Notice } from '../../ui/notice.tsx';
import { StatusBadge } from '../../ui/status-badge.tsx';

/** How many calls are offered. */
const offeredCount = 30;

/** The newest calls of the same operation. */
const useOffered = ({ project_id, op_name, id }: Call) => {
  const { client, me } = useSession();
  const { name } = me.service;
  return useQuery({
    queryKey: ['offered', me.key_id, project_id, op_name],
    queryFn: async ({ signal }) => {
      const request = {
        project_id,
        filter: { op_names: [op_name] },
        sort_by: [{ field: 'started_at', direction: 'desc' as const }],
        columns: headerColumns.map((path) => pathToWire(path, name)),
        limit: offeredCount,
      };
      const rows: CallRow[] = [];
      for await (const batch of client.stream('POST /calls/stream_query', request, signal))
        for (const row of batch) rows.push(fromWire(row, name));
      return rows;
    },
    select: (rows) => rows.filter((row) => row.id !== id),
  });
};

/** Chooses what to compare a call with: a call of the same operation, or any by its id. */
export const Chooser = ({ call, onChoose }: { call: Call; onChoose: (id: string) => void }) => {
  const { data, error } = useOffered(call);
  const [id, setId] = useState('');
  const submit = (event: FormEvent) => {
    event.preventDefault();
    onChoose(id.trim());
  };
  return (
    <section className="stack" aria-label="Compare with">
      <p>
        Compare <strong dir="auto">{nameOf(call)}</strong> with a call of the same operation, or with any
        call:
      </p>
      <form className="actions" onSubmit={submit}>
        <input
          className="id-box"
          aria-label="Id of a call"
          placeholder="Id of a call"
          spellCheck={false}
          value={id}
          onChange={(event) => setId(event.target.value)}
        />
        <Button type="submit" disabled={id.trim() === ''}>
          Compare
        </Button>
      </form>
      {error ? <Notice kind="error">{wordsOf(error)}</Notice> : null}
      {data?.length === 0 ? <p className="muted">There is no other call of this operation.</p> : null}
      <ul className="changes">
        {data?.map((row) => (
          <li key={row.id}>
            <Link
              to="/compare"
              search={{ project: call.project_id, left: call.id, right: row.id }}
              className="change"
            >
              <span className="cut" dir="auto">
                {nameOf(row)}
              </span>
              <StatusBadge status={statusOf(row)} />
              <span className="muted">
                {momentText(row.started_at)}
                {row.ended_at ? ` · ${durationText(timeOf(row.ended_at) - timeOf(row.started_at))}` : ''}
              </span>
            </Link>
          </li>
        ))}
      </ul>
    </section>
  );
};

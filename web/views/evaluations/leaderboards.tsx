import { Link } from '@tanstack/react-router';
import type { CallRow } from '../../api/calls.ts';
import type { ObjectVersion } from '../../api/contract.ts';
import { readRows } from '../../calls/data.ts';
import { isObject } from '../../data/values.ts';
import { useRead } from '../../session/session.tsx';
import { ofClass, readObjects } from '../../session/stored.ts';
import { Table } from '../../ui/controls.tsx';
import { evaluateOps, maxListed } from './data.ts';
import { type Board, type BoardRow, boardIn, toRows } from './leaderboard.ts';
import { namedBy } from './scores.ts';
import { scoreText } from './words.ts';

/** The most leaderboards that are shown. */
const maxBoards = 20;

interface ReadBoards {
  readonly boards: readonly { readonly object: ObjectVersion; readonly board: Board }[];
  /** The evaluations that count for any of them, the newest first. */
  readonly calls: readonly CallRow[];
}

/** The leaderboards of a project, as Weave's SDKs publish them, with the evaluations that count. */
const useBoards = (project: string) =>
  useRead(['leaderboards', project], async (reading): Promise<ReadBoards> => {
    const objects = await readObjects(reading, project, { ...ofClass('Leaderboard'), limit: maxBoards });
    const boards = objects.flatMap((object) => {
      const board = boardIn(object.val);
      return board ? [{ object, board }] : [];
    });
    const refs = [
      ...new Set(boards.flatMap(({ board }) => board.columns.map(({ evaluation }) => evaluation))),
    ];
    if (refs.length === 0) return { boards, calls: [] };
    const request = {
      project_id: project,
      filter: { op_names: evaluateOps(project), input_refs: refs, trace_roots_only: true },
      sort_by: [{ field: 'started_at', direction: 'desc' as const }],
      columns: ['inputs.self', 'inputs.evaluation', 'inputs.model', 'output'],
      limit: maxListed,
    };
    return { boards, calls: await readRows(reading, request) };
  });

interface BoardTableProps {
  readonly project: string;
  readonly board: Board;
  readonly calls: readonly CallRow[];
}

const BoardTable = ({ project, board, calls }: BoardTableProps) => {
  const rows = toRows(board, calls);
  if (rows.length === 0) return <p className="muted">None of its evaluations has run yet.</p>;
  return (
    <div className="scroll-x">
      <Table
        className="wide"
        columns={[
          {
            title: 'Model',
            className: 'break',
            cell: ({ model }) => {
              const { name, version } = namedBy(model) ?? { name: 'no model' };
              return (
                <>
                  {name} {version ? <span className="hint">{version}</span> : null}
                </>
              );
            },
          },
          ...board.columns.map(({ title, less }, at) => ({
            title: `${title} ${less ? '↓' : '↑'}`,
            className: 'numeric' as const,
            cell: ({ values }: BoardRow) => {
              const value = values[at];
              return value === undefined ? null : (
                <Link to="/evaluation" search={{ project, runs: [value.run] }}>
                  {scoreText(value.score)}
                </Link>
              );
            },
          })),
        ]}
        rows={rows}
        getKey={({ model }) => model}
      />
    </div>
  );
};

/** The leaderboards of a project: models by the scores of their latest evaluations. */
export const Leaderboards = ({ project }: { project: string }) => {
  const { data } = useBoards(project);
  return data?.boards.map(({ object: { object_id, val }, board }) => (
    <section key={object_id} className="card stack" aria-label={`Leaderboard ${board.name ?? object_id}`}>
      <h2 dir="auto">{board.name ?? object_id}</h2>
      {isObject(val) && typeof val.description === 'string' ? <p dir="auto">{val.description}</p> : null}
      <BoardTable project={project} board={board} calls={data.calls} />
    </section>
  ));
};

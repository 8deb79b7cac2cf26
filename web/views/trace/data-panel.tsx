import { useNavigate } from '@tanstack/react-router';
import type { Call } from '../../api/types.ts';
import { JsonTree } from '../../ui/json/json-tree.tsx';

const parts = ['inputs', 'output', 'attributes', 'summary'] as const;

const isEmpty = (value: unknown): boolean =>
  value === null || (typeof value === 'object' && Object.keys(value).length === 0);

/** The free-form parts of a call as trees. */
export const DataPanel = ({ call }: { call: Call }) => {
  const navigate = useNavigate();
  const filterBy = (path: string, value: string) =>
    navigate({
      to: '/traces',
      search: { project: call.project_id, all: true, where: [{ path, op: 'is', value }] },
    });
  return (
    <div className="stack">
      {parts.map((part) => (
        <section key={part}>
          <h3>{part}</h3>
          {isEmpty(call[part]) ? (
            <p className="muted">{call[part] === null ? 'none' : 'empty'}</p>
          ) : (
            <JsonTree value={call[part]} path={part} label={part} onFilter={filterBy} />
          )}
        </section>
      ))}
    </div>
  );
};

import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import type { Answer } from '../../api/contract.ts';
import { countText } from '../../data/format.ts';
import { ForAdmins, useSession } from '../../session/session.tsx';
import { Button, Notice, Table } from '../../ui/controls.tsx';
import { Form, Input } from '../../ui/fields.tsx';
import { useWork } from '../../ui/work.ts';

/** How many of what were deleted so far. */
type Counts = Answer<'/project/delete'>['deleted'];

/** The kinds of which some were deleted. */
const rowsOf = (counts: Counts | undefined): (readonly [kind: string, count: number])[] =>
  Object.entries(counts ?? {}).filter(([, count]) => count > 0);

/** Sends the request until the service says that all is gone, and can be stopped between two of them. */
const useDeletion = (project: string) => {
  const { client } = useSession();
  const cache = useQueryClient();
  const [counts, setCounts] = useState<Counts>();
  const [hasBegun, setBegun] = useState(false);
  const [isDone, setDone] = useState(false);
  const { isBusy, error, run, stop } = useWork();
  // Whoever leaves the view stops it: nobody would see how it goes.
  useEffect(() => stop, [stop]);
  const begin = () =>
    run(
      async ({ signal }) => {
        setBegun(true);
        for (let done = false; !done; ) {
          const answer = await client.ask(
            '/project/delete',
            { project_id: project, confirm: project },
            signal,
          );
          setCounts(answer.deleted);
          done = answer.done;
        }
        setDone(true);
        cache.clear();
      },
      { failed: 'A part is still there: go on to delete it.' },
    );
  return { counts, hasBegun, isDone, isBusy, error, begin, stop };
};

const Progress = ({ counts }: { counts: Counts }) => (
  <Table
    columns={[
      { title: 'Deleted', cell: ([kind]) => kind.replaceAll('_', ' ') },
      { title: 'Count', className: 'numeric', cell: ([, count]) => countText(count) },
    ]}
    rows={rowsOf(counts)}
    getKey={([kind]) => kind}
  />
);

const DeleteForm = ({ project }: { project: string }) => {
  const navigate = useNavigate();
  const [typed, setTyped] = useState('');
  const { counts, hasBegun, isDone, isBusy, error, begin, stop } = useDeletion(project);
  const isNamed = typed.trim() === project;
  if (isDone)
    return (
      <>
        <Notice kind="info" action={<Button onClick={() => navigate({ to: '/' })}>All projects</Button>}>
          {project} is deleted.
        </Notice>
        {counts && rowsOf(counts).length > 0 ? <Progress counts={counts} /> : null}
      </>
    );
  return (
    <Form className="stack" aria-label="Delete the project" onSubmit={begin}>
      <Input
        className="field id-box"
        label={`Type ${project} to confirm`}
        autoComplete="off"
        readOnly={isBusy}
        value={typed}
        onChange={setTyped}
      />
      {error ? <Notice kind="error">{error}</Notice> : null}
      {hasBegun && !isBusy && !error ? (
        <Notice kind="info">Stopped. A part of the project is still there: go on to delete it.</Notice>
      ) : null}
      <div className="row-start">
        <Button kind="primary" className="danger" type="submit" idle={isBusy} disabled={!isNamed}>
          {isBusy ? 'Deleting…' : hasBegun ? 'Go on deleting' : 'Delete the project'}
        </Button>
        {isBusy ? <Button onClick={stop}>Stop</Button> : null}
      </div>
      <div aria-live="polite">
        {counts && rowsOf(counts).length > 0 ? <Progress counts={counts} /> : null}
      </div>
    </Form>
  );
};

/** Deletes all of a project. */
export const DeleteSection = ({ project }: { project: string }) => (
  <ForAdmins project={project} what="to delete it">
    <p>
      This deletes all of {project}: calls, payloads, feedback, objects, tables, files, prices and figures.
      Nothing brings them back. Keys and members stay. Stop the programs that report to it first: what comes
      meanwhile may stay.
    </p>
    <DeleteForm project={project} />
  </ForAdmins>
);

import { useState } from 'react';
import { Connect } from '../../calls/connect/connect.tsx';
import { useOnlyStart, useSavedViews } from '../../calls/saved/store.ts';
import { Lacking, useAllowed, useRead } from '../../session/session.tsx';
import { Button, CopyButton, Moment, Notice, QueryStatus } from '../../ui/controls.tsx';
import { Choice, Section } from '../../ui/fields.tsx';
import { useWork } from '../../ui/work.ts';

/** Since when there is a project; null if nothing was ever written to it. */
const useFirstReport = (project: string) =>
  useRead(['first report', project], async ({ client, signal }): Promise<string | null> => {
    const { projects } = await client.ask('/projects/query', {}, signal);
    return projects.find(({ project_id }) => project_id === project)?.first_reported_at ?? null;
  });

/** What stands for no saved view. */
const noView = '';

/** Chooses the view that the project opens with. */
const DefaultView = ({ project }: { project: string }) => {
  const { query, views = [], save } = useSavedViews(project, true);
  const keepOnly = useOnlyStart(project);
  // A dashboard may be it as well, which its own view makes it.
  const present = query.data?.starts[0];
  const options: (readonly [id: string, text: string])[] = [
    [noView, 'Traces, as they are'],
    ...views.map(({ id, name }) => [id, name] as const),
  ];
  if (present && !options.some(([id]) => id === present.id))
    options.push([present.id, String(present.value.name ?? present.id)]);
  const [chosen, setChosen] = useState<string>();
  const mayWrite = useAllowed(project, 'write');
  const { isBusy, error, run } = useWork();
  const value = chosen ?? present?.id ?? noView;
  const store = () =>
    run(
      async () => {
        const next = views.find(({ id }) => id === value);
        if (next) await save.mutateAsync({ ...next, isDefault: true });
        else await keepOnly(noView);
        setChosen(undefined);
      },
      { failed: 'Nothing was saved.' },
    );
  if (!query.data) return <QueryStatus queries={[query]} loading="Loading the views…" />;
  if (options.length === 1)
    return (
      <p className="muted">
        No view was saved yet. Save one with Views, in the list of traces or the overview.
      </p>
    );
  if (!mayWrite) return <Lacking project={project} needs="write" what="to choose another" />;
  return (
    <>
      <Choice label="View" value={value} options={options} onChange={setChosen} />
      {error ? <Notice kind="error">{error}</Notice> : null}
      <div>
        <Button kind="primary" idle={isBusy || value === (present?.id ?? noView)} onClick={store}>
          {isBusy ? 'Saving…' : 'Save'}
        </Button>
      </div>
    </>
  );
};

/** The project, what it opens with, and how programs report to it. */
export const GeneralSection = ({ project }: { project: string }) => {
  const first = useFirstReport(project);
  return (
    <>
      <Section title="Project">
        <dl className="facts-list">
          <dt>Name</dt>
          <dd>
            <code>{project}</code>{' '}
            <CopyButton text={() => project} label="Copy the name">
              Copy
            </CopyButton>
          </dd>
          <dt>First written to</dt>
          <dd>{first.data ? <Moment time={first.data} /> : first.data === null ? 'never' : '…'}</dd>
        </dl>
      </Section>
      <Section title="Default view" hint="What everybody sees first who opens the project.">
        <DefaultView project={project} />
      </Section>
      <Section title="Connect a program">
        <Connect project={project} />
      </Section>
    </>
  );
};

import { Tabs } from '@base-ui/react/tabs';
import { Link } from '@tanstack/react-router';
import { useMemo, useRef, useState } from 'react';
import { type ConnectStep, connectGuides } from '../../../api/shared/connect.ts';
import { type CallRow, getCallName } from '../../api/calls.ts';
import { apiUrl } from '../../api/http.ts';
import { useRead } from '../../session/session.tsx';
import { Button, CopyButton, Moment, Notice } from '../../ui/controls.tsx';

/** How often the service is asked whether a call has come, in ms. */
const lookMs = 3000;

/** The newest call of a project, looked up again and again; null for none. */
const useNewest = (project: string) =>
  useRead(
    ['newest', project],
    async ({ client, signal }): Promise<CallRow | null> => {
      const request = {
        project_id: project,
        // Judges and the playground report calls as well, but no program did.
        filter: { sources: ['production' as const, 'evaluation' as const, 'test' as const] },
        sort_by: [{ field: 'started_at', direction: 'desc' as const }],
        columns: ['display_name', 'parent_id', 'summary.svc'],
        limit: 1,
      };
      const [newest = null] = await client.ask('/calls/stream_query', request, signal);
      return newest;
    },
    { refetchInterval: lookMs, staleTime: 0, gcTime: 0 },
  );

/** Says whether a call has come since it stands there. */
const Arrival = ({ project, onShow }: { project: string; onShow: (() => void) | undefined }) => {
  const { data } = useNewest(project);
  const before = useRef<string | null>(undefined);
  if (before.current === undefined && data !== undefined) before.current = data?.id ?? null;
  const isThere = data && data.id !== before.current;
  return (
    <p className={isThere ? 'arrival there' : 'arrival'} role="status">
      <span aria-hidden="true">{isThere ? '✓' : '○'}</span>{' '}
      {isThere && onShow ? <Button onClick={onShow}>Show the list</Button> : null}{' '}
      {isThere ? (
        <>
          A call arrived:{' '}
          <Link
            to="/trace"
            search={{ project, trace: data.trace_id, ...(data.parent_id && { call: data.id }) }}
            dir="auto"
          >
            {getCallName(data)}
          </Link>
        </>
      ) : (
        `Waiting for ${data ? 'the next' : 'the first'} call of ${project}…`
      )}
    </p>
  );
};

/** How often the service is asked what was dropped, in ms. */
const droppedMs = 15_000;

/** What is said of an export that was not kept, or not all of it. */
const droppedWords = (count: number | null): string =>
  count === null ? 'refused' : `not all kept: ${count} ${count === 1 ? 'item was' : 'items were'} dropped`;

/** Says why the last export to the project was refused, or not all of it was kept. */
const Dropped = ({ project }: { project: string }) => {
  const { data } = useRead(
    ['dropped', project],
    async ({ client, signal }) => {
      const { dropped } = await client.ask('/projects/query', { include_dropped: true, limit: 1 }, signal);
      return dropped?.find(({ project_id: id }) => id === project) ?? null;
    },
    { refetchInterval: droppedMs, staleTime: 0, gcTime: 0 },
  );
  if (!data) return null;
  const { at, path, count, reason, program } = data;
  return (
    <Notice kind="info">
      <p>
        An export to <code>{path}</code> was {droppedWords(count)}, <Moment time={at} />
        {program === null ? null : (
          <>
            , from <span dir="auto">{program}</span>
          </>
        )}
      </p>
      <p dir="auto">{reason}</p>
    </Notice>
  );
};

const Step = ({ step: { text, code } }: { step: ConnectStep }) => (
  <li className="connect-step">
    <p>{text}</p>
    {code === undefined ? null : (
      <div className="connect-code">
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls by keyboard */}
        <pre className="code" tabIndex={0}>
          {code}
        </pre>
        <CopyButton text={() => code} label={`Copy: ${text}`}>
          Copy
        </CopyButton>
      </div>
    )}
  </li>
);

/** Stands for a project as long as nobody has opened one. */
const exampleProject = 'acme/shop';

export interface ConnectProps {
  /** The open project. @default - none is */
  readonly project: string | undefined;
  /** A key to fill in. @default - whoever pastes puts theirs in its place */
  readonly secret?: string | undefined;
  /** Shows the list anew once something has come. @default - there is no list */
  readonly onShow?: (() => void) | undefined;
}

/** Ways to report to a project, each with what to paste, and whether something has come. */
export const ConnectPanel = ({ project, secret, onShow }: ConnectProps) => {
  const guides = useMemo(
    () =>
      connectGuides({
        url: apiUrl().href.replace(/\/$/, ''),
        project: project ?? exampleProject,
        ...(secret !== undefined && { key: secret }),
      }),
    [project, secret],
  );
  const [chosen, setChosen] = useState(guides[0]?.id ?? '');
  return (
    <div className="stack">
      <p className="muted">
        {project ? `Choose how your program reports to ${project}. ` : 'Put your project in the place of '}
        {project ? null : <code>{exampleProject}</code>}
        {secret === undefined ? (
          <>
            {project ? 'Put a key' : ', and a key'} in the place of <code>svc_…</code>: yours, or a new one
            from the settings.
          </>
        ) : (
          'The key is filled in.'
        )}
      </p>
      {project ? <Arrival project={project} onShow={onShow} /> : null}
      {project ? <Dropped project={project} /> : null}
      <Tabs.Root value={chosen} onValueChange={(value) => setChosen(String(value))} className="tabs">
        <Tabs.List className="tab-list line" aria-label="Ways to connect">
          {guides.map(({ id, title }) => (
            <Tabs.Tab key={id} value={id} className="tab">
              {title}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        <Tabs.Panel value={chosen} className="tab-panel">
          <ol className="connect-steps">
            {guides
              .find(({ id }) => id === chosen)
              ?.steps.map((step) => (
                <Step key={step.text} step={step} />
              ))}
          </ol>
        </Tabs.Panel>
      </Tabs.Root>
    </div>
  );
};

import { getRouteApi, Link } from '@tanstack/react-router';
import { wordsOf } from '../../api/errors.ts';
import type { ObjectVersion } from '../../api/types.ts';
import { momentText } from '../../data/format.ts';
import { Button } from '../../ui/button.tsx';
import { Notice } from '../../ui/notice.tsx';
import { maxListed, useObjects, useVersions } from './use-objects.ts';
import { VersionView, versionName } from './version-view.tsx';

const route = getRouteApi('/objects');

const ObjectList = ({ objects, project }: { objects: readonly ObjectVersion[]; project: string }) => (
  <ul className="object-list" aria-label="Objects">
    {objects.map(({ object_id, version_index, kind, created_at }) => (
      <li key={object_id}>
        <Link
          to="/objects"
          search={{ project, object: object_id }}
          activeOptions={{ exact: false, includeSearch: true }}
          className="object-link"
        >
          <span className="cut" dir="auto">
            {object_id}
          </span>
          <span className="muted">
            {kind === 'op' ? 'op, ' : ''}
            {version_index + 1} {version_index === 0 ? 'version' : 'versions'} · {momentText(created_at)}
          </span>
        </Link>
      </li>
    ))}
    {objects.length === maxListed ? (
      <li className="muted">These are the first {maxListed} objects.</li>
    ) : null}
  </ul>
);

const Versions = ({ versions, shown }: { versions: readonly ObjectVersion[]; shown: ObjectVersion }) => (
  <ul className="versions" aria-label="Versions">
    {versions.map((version) => (
      <li key={version.digest}>
        <Link
          to="/objects"
          search={{ project: version.project_id, object: version.object_id, version: version.digest }}
          className="button plain"
          aria-current={version.digest === shown.digest ? 'true' : undefined}
        >
          {versionName(version)}
        </Link>
      </li>
    ))}
  </ul>
);

/** Goes to an object that appears where its reader does not see it, such as below a long list. */
const goTo = (pane: HTMLElement | null) => {
  const { top = 0 } = pane?.getBoundingClientRect() ?? {};
  if (top >= 0 && top < innerHeight / 2) return;
  pane?.scrollIntoView();
  pane?.focus({ preventScroll: true });
};

const Selected = () => {
  const { project, object, version, base } = route.useSearch();
  const navigate = route.useNavigate();
  const { data = [], error, isPending, refetch } = useVersions(project, object);
  if (object === undefined) return <p className="muted">Choose an object to see its versions.</p>;
  if (error)
    return (
      <Notice kind="error" action={<Button onClick={() => refetch()}>Try again</Button>}>
        {wordsOf(error)}
      </Notice>
    );
  if (isPending) return <p className="muted">Loading versions…</p>;
  const at = version === undefined ? 0 : data.findIndex(({ digest }) => digest === version);
  const shown = data[at];
  if (!shown)
    return <Notice kind="error">This version is not there: it was deleted, or the link is cut off.</Notice>;
  const compared =
    data.find(({ digest }) => digest === base && digest !== shown.digest) ?? data[at + 1] ?? data[at - 1];
  return (
    <div key={object} ref={goTo} tabIndex={-1} className="stack">
      <Versions versions={data} shown={shown} />
      <VersionView
        shown={shown}
        base={compared}
        versions={data}
        onBase={(digest) => navigate({ search: (before) => ({ ...before, base: digest }), replace: true })}
      />
    </div>
  );
};

/** The objects of a project, such as prompts, and what their versions changed. */
export const ObjectsView = () => {
  const { project } = route.useSearch();
  const { data, error, isPending, refetch } = useObjects(project);
  return (
    <main className="page wide">
      <h1>Objects</h1>
      {error ? (
        <Notice kind="error" action={<Button onClick={() => refetch()}>Try again</Button>}>
          {wordsOf(error)}
        </Notice>
      ) : null}
      {isPending && !error ? <p className="muted">Loading objects…</p> : null}
      {data?.length === 0 ? (
        <Notice kind="info">
          {project} has no objects yet. Store a prompt with <code>POST /obj/create</code>, and it appears here
          with its versions.
        </Notice>
      ) : null}
      {data && data.length > 0 ? (
        <div className="objects">
          <ObjectList objects={data} project={project} />
          <Selected />
        </div>
      ) : null}
    </main>
  );
};

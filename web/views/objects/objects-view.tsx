import { getRouteApi, Link } from '@tanstack/react-router';
import { Box } from 'lucide-react';
import { useMemo } from 'react';
import {
  alertClass,
  annotationSpecClass,
  evaluatorClass,
  limitsClass,
  publicLinkClass,
  reviewQueueClass,
  sharingClass,
} from '../../../api/shared/classes.ts';
import type { ObjectVersion } from '../../api/contract.ts';
import { useValue, useVersions } from '../../calls/objects.ts';
import { countText } from '../../data/format.ts';
import { Person, useRead } from '../../session/session.tsx';
import { byObject, maxListed, readObjects } from '../../session/stored.ts';
import { CopyButton, Empty, Moment, Notice, QueryStatus } from '../../ui/controls.tsx';
import { valueText } from '../../ui/diff.ts';
import { DiffView } from '../../ui/diff-view.tsx';
import { Choice } from '../../ui/fields.tsx';
import { JsonTree } from '../../ui/json-tree.tsx';
import { goTo, ObjectList, Versions, versionName, versionOption } from '../../ui/object-list.tsx';
import { View } from '../../ui/view.tsx';

/** What objects are of, as groups of them are called: first what people look for here, last what has a view. */
const groups: readonly (readonly [kind: string, title: string])[] = [
  ['Prompt', 'Prompts'],
  ['Model', 'Models'],
  ['', 'Other values'],
  ['op', 'Operations'],
  ['Dataset', 'Datasets'],
  ['Evaluation', 'Evaluations'],
  ['Baseline', 'Baselines'],
  ['Leaderboard', 'Leaderboards'],
  [evaluatorClass, 'Evaluators'],
  [annotationSpecClass, 'Review fields'],
  [reviewQueueClass, 'Review queues'],
  [alertClass, 'Alerts'],
  [limitsClass, 'Limits'],
  [sharingClass, 'Sharing'],
  [publicLinkClass, 'Public links'],
];

/** The group of an object; classes that nobody foresaw are groups of their own. */
const groupOf = ({ kind, base_object_class }: ObjectVersion): string =>
  kind === 'op' ? 'op' : (base_object_class ?? '');

/** Objects by their groups, in the order of these. */
const toGroups = (objects: readonly ObjectVersion[]) => {
  const byGroup = Map.groupBy(objects, groupOf);
  const others = [...byGroup.keys()].filter((name) => groups.every(([known]) => known !== name)).sort();
  return [...groups, ...others.map((name) => [name, name] as const)].flatMap(([name, title]) => {
    const own = byGroup.get(name);
    return own ? [{ title, objects: own }] : [];
  });
};

/** The latest versions of all objects of a project, by name. */
const useObjects = (project: string) =>
  useRead(['objects', project], (reading) =>
    readObjects(reading, project, { filter: { latest_only: true }, ...byObject, metadata_only: true }),
  );

interface VersionViewProps {
  readonly shown: ObjectVersion;
  /** What it is compared with; undefined for nothing. */
  readonly base: ObjectVersion | undefined;
  /** All versions, the newest first. */
  readonly versions: readonly ObjectVersion[];
  readonly onBase: (digest: string) => void;
}

const Differences = ({ one, other, label }: { one: unknown; other: unknown; label: string }) => {
  const texts = useMemo(() => [valueText(one), valueText(other)] as const, [one, other]);
  return <DiffView one={texts[0]} other={texts[1]} label={label} />;
};

/** A version with its value, and what differs from another one. */
const VersionView = ({ shown, base, versions, onBase }: VersionViewProps) => {
  const value = useValue(shown);
  const before = useValue(base);
  const error = value.error ?? before.error;
  const others = versions.filter(({ digest }) => digest !== shown.digest);
  return (
    <section className="stack" aria-label="Version">
      <div className="row-between">
        <h2 dir="auto">
          {shown.object_id} {versionName(shown)}
        </h2>
        <span className="row-end">
          {shown.base_object_class === 'Prompt' ? (
            <>
              <Link
                to="/prompts"
                search={{ project: shown.project_id, prompt: shown.object_id, version: shown.digest }}
                className="button quiet"
              >
                Open in Prompts
              </Link>
              <Link
                to="/playground"
                search={{ project: shown.project_id, prompt: shown.object_id, version: shown.digest }}
                className="button quiet"
              >
                Open in the playground
              </Link>
            </>
          ) : null}
          <CopyButton text={() => shown.digest}>Copy digest</CopyButton>
        </span>
      </div>
      <p className="facts">
        <Moment time={shown.created_at} />
        <Person user={shown.svc_user_id} />
        {shown.is_latest ? <span>latest</span> : null}
      </p>
      <QueryStatus queries={[value, before]} />
      {base ? (
        <>
          <Choice
            className="compared"
            label="Differences from"
            value={base.digest}
            options={others.map(versionOption)}
            onChange={onBase}
          />
          {value.isSuccess && before.isSuccess ? (
            <Differences
              one={before.data}
              other={value.data}
              label={`Differences between ${versionName(base)} and ${versionName(shown)}`}
            />
          ) : null}
        </>
      ) : null}
      <h3>Value</h3>
      {value.isPending && !error ? <p className="muted">Loading the value…</p> : null}
      {value.isSuccess ? <JsonTree key={shown.digest} value={value.data} path="" label="value" /> : null}
    </section>
  );
};

const route = getRouteApi('/objects');

const Selected = () => {
  const { project, object, version, base } = route.useSearch();
  const navigate = route.useNavigate();
  const query = useVersions(project, object);
  const { data = [] } = query;
  if (object === undefined) return <p className="muted to-choose">Choose an object to see its versions.</p>;
  if (!query.data) return <QueryStatus queries={[query]} loading="Loading versions…" />;
  const at = version === undefined ? 0 : data.findIndex(({ digest }) => digest === version);
  const shown = data[at];
  if (!shown)
    return (
      <Notice kind="error">This version does not exist: it was deleted, or the link is incomplete.</Notice>
    );
  const compared =
    data.find(({ digest }) => digest === base && digest !== shown.digest) ?? data[at + 1] ?? data[at - 1];
  return (
    <div key={object} ref={goTo} tabIndex={-1} className="stack">
      <Versions
        versions={data}
        shown={shown}
        linkTo={({ digest }) => ({ to: '/objects', search: { project, object, version: digest } })}
      />
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
  const query = useObjects(project);
  const { data } = query;
  return (
    <View title="Objects">
      <QueryStatus queries={[query]} loading="Loading objects…" />
      {data?.length === 0 ? (
        <Empty icon={Box} title={`${project} has no objects yet`}>
          Prompts, models and other values of your programs, with all of their versions. Store a prompt with{' '}
          <code>POST /obj/create</code>, and it appears here.
        </Empty>
      ) : null}
      {data && data.length > 0 ? (
        <div className="objects">
          <div className="object-groups">
            {toGroups(data).map(({ title, objects }) => (
              <section key={title} aria-label={title}>
                <h2>{title}</h2>
                <ObjectList
                  kind={title}
                  objects={objects}
                  most={maxListed}
                  linkTo={(object) => ({ to: '/objects', search: { project, object } })}
                />
              </section>
            ))}
            {data.length === maxListed ? (
              <p className="muted">Only the first {countText(maxListed)} objects are shown.</p>
            ) : null}
          </div>
          <Selected />
        </div>
      ) : null}
    </View>
  );
};

import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { ScrollText } from 'lucide-react';
import { useState } from 'react';
import type { Answer } from '../../api/contract.ts';
import { type Span, TimeMenu } from '../../calls/filters/time-menu.tsx';
import { useMembers } from '../../calls/people/people.ts';
import { isObject } from '../../data/values.ts';
import { type Changes, changed, ranges, type SettingsSearch, toSpan } from '../../navigation/search.ts';
import { ForAdmins, Person, useRead } from '../../session/session.tsx';
import { Button, Empty, Moment, QueryStatus } from '../../ui/controls.tsx';
import { DiffView } from '../../ui/diff-view.tsx';
import { Form, Input } from '../../ui/fields.tsx';
import { copyText } from '../../ui/json.ts';

type AuditRecord = Answer<'/audit/query'>['records'][number];

const route = getRouteApi('/settings');

/** How many entries are read at first, and with each further look. */
const pageSize = 50;

const minuteMs = 60_000;

/** The entries of a project in a time, the newest first. */
const useAudit = (project: string, search: SettingsSearch, limit: number) => {
  const { range, from, to }: Span = toSpan(search, '7d');
  const { actor, action } = search;
  return useRead(
    ['audit', project, range, from, to, actor, action, limit],
    async ({ client, signal }) => {
      const now = Date.now();
      const start = range ? now - ranges[range] * minuteMs : Date.parse(from ?? '');
      const request = {
        project_id: project,
        start: new Date(start).toISOString(),
        end: to ? new Date(to).toISOString() : new Date(now + minuteMs).toISOString(),
        limit,
        ...(actor && { actor }),
        ...(action && { action }),
      };
      return (await client.ask('/audit/query', request, signal)).records;
    },
    { staleTime: 0, placeholderData: (before) => before },
  );
};

/** The actions that the page knows of, for the field that filters by them. */
const actions = [
  'alert.delete',
  'alert.set',
  'calls.delete',
  'evaluator.delete',
  'evaluator.set',
  'feedback.purge',
  'key.create',
  'key.revoke',
  'limits.set',
  'member.remove',
  'member.set',
  'object.delete',
  'project.delete',
  'project.export',
  'project.retain',
  'prompt.label',
  'publiclink.delete',
  'publiclink.set',
  'retention.set',
  'sharing.set',
];

/** What people call what an entry is about; undefined if its values name nothing. */
const nameOf = ({ before, after, target }: AuditRecord): string | undefined => {
  for (const value of [after, before])
    if (isObject(value) && typeof value.name === 'string' && value.name !== '' && value.name !== target)
      return value.name;
  return undefined;
};

/** What was there before and what is there since, line by line. */
const Change = ({ record: { before, after, action } }: { record: AuditRecord }) => {
  if (before === undefined && after === undefined) return null;
  // Nothing was there before a creation, and nothing is after a deletion.
  const text = (value: unknown) => (value === undefined || value === null ? '' : copyText(value));
  return <DiffView one={text(before)} other={text(after)} label={`What ${action} changed`} />;
};

const Entry = ({ record }: { record: AuditRecord }) => {
  const [isOpen, setOpen] = useState(false);
  const { at, actor, address, action, target } = record;
  const hasChange = record.before !== undefined || record.after !== undefined;
  const name = nameOf(record);
  return (
    <li className="audit-entry">
      <div className="audit-line">
        <Moment time={at} />
        <strong>{action}</strong>
        <span className="break" dir="auto">
          {name === undefined ? target : name}
          {name === undefined ? null : <code className="muted"> {target}</code>}
        </span>
        {hasChange ? (
          <Button
            kind="quiet"
            aria-expanded={isOpen}
            aria-label={`What changed: ${action} ${name ?? target}`}
            onClick={() => setOpen(!isOpen)}
          >
            {isOpen ? 'Hide' : 'What changed'}
          </Button>
        ) : null}
      </div>
      <p className="facts">
        <Person user={actor.user} />
        <span>
          {actor.kind}
          {actor.key_id === undefined || actor.kind !== 'key' ? '' : ` ${actor.key_id}`}
        </span>
        {address === null ? null : <span>from {address}</span>}
      </p>
      {isOpen ? <Change record={record} /> : null}
    </li>
  );
};

interface FiltersProps {
  readonly project: string;
  readonly search: SettingsSearch;
  readonly onChange: (changes: Changes<SettingsSearch>) => void;
}

/** Filters by who did something, and what they did. */
const AuditFilters = ({ project, search, onChange }: FiltersProps) => {
  const [actor, setActor] = useState(search.actor ?? '');
  const [action, setAction] = useState(search.action ?? '');
  const { data: members } = useMembers(project);
  const people = members?.map(({ member }) => member).filter((member) => !member.startsWith('group:')) ?? [];
  return (
    <Form
      className="audit-filters"
      aria-label="Filter the audit trail"
      onSubmit={() => onChange({ actor: actor.trim() || undefined, action: action.trim() || undefined })}
    >
      <div className="field">
        <span>Time</span>
        <TimeMenu
          span={toSpan(search, '7d')}
          onChange={({ range, from, to }) => onChange({ range, from, to })}
        />
      </div>
      <Input label="Who" placeholder="anybody" suggestions={people} value={actor} onChange={setActor} />
      <Input
        label="Action"
        placeholder="anything"
        suggestions={actions}
        value={action}
        onChange={setAction}
      />
      <Button type="submit">Filter</Button>
    </Form>
  );
};

const AuditTrail = ({ project }: { project: string }) => {
  const search = route.useSearch();
  const navigate = useNavigate();
  const [limit, setLimit] = useState(pageSize);
  const query = useAudit(project, search, limit);
  const { data = [] } = query;
  const change: FiltersProps['onChange'] = (changes) =>
    navigate({ to: '/settings', search: changed<SettingsSearch>(search, changes), replace: true });
  return (
    <>
      <AuditFilters
        key={`${search.actor} ${search.action}`}
        project={project}
        search={search}
        onChange={change}
      />
      <QueryStatus queries={[query]} loading="Loading the audit trail…" />
      {query.data?.length === 0 ? (
        <Empty icon={ScrollText} title="Nothing was done in this time">
          Each change of members, keys, limits, alerts and whatever is deleted stands here, with who did it.
        </Empty>
      ) : null}
      <ol className="audit" aria-label="Entries">
        {data.map((record) => (
          <Entry key={record.id} record={record} />
        ))}
      </ol>
      {data.length === limit ? (
        <div>
          <Button idle={query.isFetching} onClick={() => setLimit(limit * 2)}>
            Show more
          </Button>
        </div>
      ) : null}
    </>
  );
};

/** Who did what to the project. */
export const AuditSection = ({ project }: { project: string }) => (
  <ForAdmins project={project} what="to see who did what">
    <AuditTrail project={project} />
  </ForAdmins>
);

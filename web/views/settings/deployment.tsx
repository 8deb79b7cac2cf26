import { Link } from '@tanstack/react-router';
import { alertClass } from '../../../api/shared/classes.ts';
import type { Answer } from '../../api/contract.ts';
import { isObject } from '../../data/values.ts';
import { useRead, useSession } from '../../session/session.tsx';
import { ofClass, readObjects } from '../../session/stored.ts';
import { QueryStatus, Table } from '../../ui/controls.tsx';

/* What an operator sets for all projects, or for one: the page shows it, and says where it is set. */

type Rule = NonNullable<Answer<'/me'>['redaction']>[number];

/** What a rule looks for. */
const Sought = ({ rule: { builtin, pattern } }: { rule: Rule }) => {
  if (builtin !== undefined) return <>the built-in format {builtin}</>;
  return pattern === undefined ? <>everything</> : <code>{pattern}</code>;
};

/** What is left of what a rule finds. */
const Left = ({ rule: { name, action } }: { rule: Rule }) => {
  if (action === 'drop') return <>nothing</>;
  return <code>{action === 'hash' ? `[${name}:1f0c…]` : `[${name}]`}</code>;
};

/** What is removed from calls before they are stored. */
export const RedactionSection = ({ project }: { project: string }) => {
  const { redaction = [] } = useSession().me;
  return (
    <>
      <p className="muted">
        Rules of redaction remove card numbers, addresses or keys from what is reported to {project} before
        anything is stored. They are the same for all projects: an operator sets them by the setting{' '}
        <code>redact</code> of the deployment. They hold for what is reported from then on, and never for what
        is stored already.
      </p>
      {redaction.length === 0 ? (
        <p>There are no rules, so everything is stored as it is reported.</p>
      ) : (
        <Table
          columns={[
            { title: 'Rule', cell: ({ name }) => <code>{name}</code> },
            { title: 'Looks for', cell: (rule) => <Sought rule={rule} /> },
            { title: 'Where', cell: ({ paths }) => (paths ? <code>{paths.join(', ')}</code> : 'everywhere') },
            { title: 'Leaves', cell: (rule) => <Left rule={rule} /> },
          ]}
          rows={redaction}
          getKey={({ name }) => name}
        />
      )}
    </>
  );
};

interface AlertLink {
  readonly id: string;
  readonly name: string;
}

/** A webhook, with the alerts that use it. */
interface Hook {
  readonly name: string;
  /** Whether an operator has made it. */
  readonly isThere: boolean;
  readonly alerts: readonly AlertLink[];
}

/** The webhooks of a project, and those that its alerts name, by name. */
const hooksIn = (
  names: readonly string[],
  objects: readonly { readonly object_id: string; readonly val: unknown }[],
): Hook[] => {
  const uses = objects.flatMap(({ object_id: id, val }) => {
    const tell = isObject(val) && Array.isArray(val.tell) ? val.tell : [];
    const name = isObject(val) && typeof val.name === 'string' ? val.name : id;
    return tell.flatMap((target: unknown) =>
      isObject(target) && typeof target.webhook === 'string'
        ? [{ hook: target.webhook, alert: { id, name } }]
        : [],
    );
  });
  const byHook = Map.groupBy(uses, ({ hook }) => hook);
  return [...new Set([...names, ...byHook.keys()])]
    .map((name) => ({
      name,
      isThere: names.includes(name),
      alerts: (byHook.get(name) ?? []).map(({ alert }) => alert),
    }))
    .toSorted((a, b) => a.name.localeCompare(b.name));
};

/** Where alerts are sent to. */
export const WebhooksSection = ({ project }: { project: string }) => {
  const query = useRead(['alerts', project, 'webhooks'], async (reading) => {
    const request = { project_id: project, object_ids: [], limit: 0, include_webhooks: true };
    const [{ is_on: isOn, webhooks = [] }, objects] = await Promise.all([
      reading.client.ask('/alerts/query', request, reading.signal),
      readObjects(reading, project, ofClass(alertClass)),
    ]);
    return { isOn, hooks: hooksIn(webhooks, objects) };
  });
  const { data } = query;
  return (
    <>
      <p className="muted">
        Alerts are sent to webhooks by their names. An operator makes them with{' '}
        <code>npm run webhooks -- create --project {project}</code>: a URL is a secret, and nobody reads it
        from here.
      </p>
      <QueryStatus queries={[query]} loading="Loading webhooks…" />
      {data?.isOn === false ? (
        <p>
          Alerts are off in this service, and so are webhooks: an operator turns them on with the setting{' '}
          <code>alerts</code>.
        </p>
      ) : null}
      {data?.isOn && data.hooks.length === 0 ? <p>This project has no webhooks.</p> : null}
      {data && data.hooks.length > 0 ? (
        <Table
          columns={[
            { title: 'Webhook', cell: ({ name }) => <code>{name}</code> },
            {
              title: 'State',
              cell: ({ isThere }) => (isThere ? 'ready' : data.isOn ? 'not made yet' : 'off'),
            },
            {
              title: 'Alerts that use it',
              cell: ({ alerts }) => (
                <span className="links">
                  {alerts.length === 0 ? 'none' : null}
                  {alerts.map(({ id, name }) => (
                    <Link key={id} to="/alerts" search={{ project, alert: id }}>
                      {name}
                    </Link>
                  ))}
                </span>
              ),
            },
          ]}
          rows={data.hooks}
          getKey={({ name }) => name}
        />
      ) : null}
    </>
  );
};

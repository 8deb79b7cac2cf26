import { Link } from '@tanstack/react-router';
import { alertClass } from '../../../api/shared/classes.ts';
import { isObject } from '../../data/values.ts';
import { useRead } from '../../session/session.tsx';
import { ofClass, readObjects } from '../../session/stored.ts';
import { QueryStatus, Table } from '../../ui/controls.tsx';

/* What an operator sets for all projects: the page says where. */

/** What is removed from calls before they are stored. */
export const RedactionSection = ({ project }: { project: string }) => (
  <>
    <p>
      Rules of redaction remove card numbers, addresses or keys from what is reported to {project} before
      anything is stored. They are the same for all projects: the setting <code>redact</code> of the
      deployment has them, and only its operators see them. A value that was removed stands as{' '}
      <code>[email]</code> or <code>[email:1f0c…]</code>, by the name of its rule.
    </p>
    <p className="muted">
      Locally, <code>REDACT</code> takes the list of rules. They hold for what is reported from then on, and
      never for what is stored already.
    </p>
  </>
);

/** A webhook, with the alerts that use it. */
interface Hook {
  readonly name: string;
  readonly alerts: readonly { readonly id: string; readonly name: string }[];
}

/** The webhooks that the alerts of a project name, by name. */
const hooksIn = (objects: readonly { readonly object_id: string; readonly val: unknown }[]): Hook[] => {
  const uses = objects.flatMap(({ object_id: id, val }) => {
    const tell = isObject(val) && Array.isArray(val.tell) ? val.tell : [];
    const name = isObject(val) && typeof val.name === 'string' ? val.name : id;
    return tell.flatMap((target: unknown) =>
      isObject(target) && typeof target.webhook === 'string'
        ? [{ hook: target.webhook, alert: { id, name } }]
        : [],
    );
  });
  return [...Map.groupBy(uses, ({ hook }) => hook)]
    .map(([name, group]) => ({ name, alerts: group.map(({ alert }) => alert) }))
    .toSorted((a, b) => a.name.localeCompare(b.name));
};

/** Where alerts are sent to. */
export const WebhooksSection = ({ project }: { project: string }) => {
  const query = useRead(['alerts', project, 'webhooks'], async (reading) =>
    hooksIn(await readObjects(reading, project, ofClass(alertClass))),
  );
  return (
    <>
      <p>
        Alerts are sent to webhooks by their names. An operator makes them with{' '}
        <code>npm run webhooks -- create --project {project}</code>: a URL is a secret, and nobody reads it
        from here.
      </p>
      <QueryStatus queries={[query]} loading="Loading webhooks…" />
      {query.data?.length === 0 ? <p className="muted">No alert of this project uses one.</p> : null}
      {query.data && query.data.length > 0 ? (
        <Table
          columns={[
            { title: 'Webhook', cell: ({ name }) => <code>{name}</code> },
            {
              title: 'Alerts that use it',
              cell: ({ alerts }) => (
                <span className="links">
                  {alerts.map(({ id, name }) => (
                    <Link key={id} to="/alerts" search={{ project, alert: id }}>
                      {name}
                    </Link>
                  ))}
                </span>
              ),
            },
          ]}
          rows={query.data}
          getKey={({ name }) => name}
        />
      ) : null}
    </>
  );
};

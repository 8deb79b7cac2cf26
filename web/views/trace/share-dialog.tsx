import { useState } from 'react';
import { publicLinkClass, sharingClass } from '../../../api/shared/classes.ts';
import { formatToken, maxSharedCalls, sharingObject } from '../../../api/shared/sharing.ts';
import type { CallRow } from '../../api/calls.ts';
import { countedText, countText, momentText } from '../../data/format.ts';
import { useAllowed, useRead } from '../../session/session.tsx';
import { ofClass, readObjects, useStoreObject } from '../../session/stored.ts';
import { Button, Check, CopyButton, Moment, Notice, QueryStatus, Table } from '../../ui/controls.tsx';
import { Choice, Form } from '../../ui/fields.tsx';
import { useWork } from '../../ui/work.ts';
import {
  addressOf,
  allowsLinks,
  type Link,
  makeId,
  makeSecret,
  type Sharing,
  type StoredLink,
  toLink,
} from './links.ts';

const useSharing = (project: string) => {
  const sharing = useRead(['sharing', project], async (reading) =>
    allowsLinks(
      await readObjects(reading, project, { filter: { object_ids: [sharingObject], latest_only: true } }),
    ),
  );
  const links = useRead(['links', project], (reading) =>
    readObjects(reading, project, ofClass(publicLinkClass)),
  );
  return { sharing, links };
};

const spans = [
  ['1', '1 day'],
  ['7', '7 days'],
  ['30', '30 days'],
  ['90', '90 days'],
] as const;

const dayMs = 86_400_000;

interface ShareProps {
  readonly project: string;
  readonly trace: string;
  readonly calls: readonly CallRow[];
}

/** Says what the link will show, and makes it. */
const LinkForm = ({ project, trace, calls }: ShareProps) => {
  const { save } = useStoreObject<Link>(project, ['links']);
  const [days, setDays] = useState<(typeof spans)[number][0]>('7');
  const [address, setAddress] = useState<string>();
  const { isBusy, error, run } = useWork();
  const expires = new Date(Date.now() + Number(days) * dayMs).toISOString();
  const submit = () => {
    run(
      async () => {
        const { secret, digest } = await makeSecret();
        const id = makeId();
        const value: Link = { _type: publicLinkClass, trace_id: trace, expires_at: expires, digest };
        await save.mutateAsync({ id, value });
        setAddress(addressOf(formatToken([project, id, secret])));
      },
      { failed: 'The link was not created.' },
    );
  };
  if (address !== undefined)
    return (
      <div className="stack">
        <label className="field">
          <span>The link</span>
          <input readOnly value={address} onFocus={({ target }) => target.select()} />
        </label>
        <p className="hint">It is shown this once: the service keeps no copy that opens the trace.</p>
        <div className="row-end">
          <Button onClick={() => setAddress(undefined)}>Another link</Button>
          <CopyButton text={() => address}>Copy the link</CopyButton>
        </div>
      </div>
    );
  // Browsers keep what computes digests from pages without HTTPS.
  if (!('subtle' in crypto))
    return <Notice kind="error">Creating a link takes HTTPS. Open the page by an https address.</Notice>;
  return (
    <Form className="stack" onSubmit={submit}>
      <Choice label="Works for" value={days} options={spans} onChange={setDays} />
      <div className="share-terms">
        <p>
          Until {momentText(expires)}, anyone with the link can read {countedText(calls.length, 'call')} of
          this trace
          {calls.length > maxSharedCalls ? `, of which it shows the first ${countText(maxSharedCalls)}` : ''}:
        </p>
        <ul>
          <li>
            <strong>Shown</strong>: names, times, inputs, outputs, attributes, errors, tokens and costs, also
            of calls that are reported to it later.
          </li>
          <li>
            <strong>Not shown</strong>: feedback and comments, who reported the calls, other traces.
          </li>
          <li>
            <strong>Redaction</strong> applies: what it removed was never stored. Everything else is shown as
            it is.
          </li>
        </ul>
      </div>
      {error ? <Notice kind="error">{error}</Notice> : null}
      <div className="row-end">
        <Button kind="primary" type="submit" idle={isBusy}>
          {isBusy ? 'Creating…' : 'Create link'}
        </Button>
      </div>
    </Form>
  );
};

/** The links to a trace, with what revokes them. */
const LinkTable = ({ project, links }: { project: string; links: readonly StoredLink[] }) => {
  const { save } = useStoreObject<Link>(project, ['links']);
  const { isBusy, error, run } = useWork();
  const revoke = ({ id, link }: StoredLink) =>
    run(() => save.mutateAsync({ id, value: { ...link, revoked: true } }), {
      failed: 'The link was not revoked.',
    });
  if (links.length === 0) return null;
  return (
    <section className="stack" aria-label="Links to this trace">
      <h3>Links to this trace</h3>
      {error ? <Notice kind="error">{error}</Notice> : null}
      <Table
        columns={[
          {
            title: 'Created',
            className: 'break',
            cell: ({ by, at }) => (
              <>
                {by} <Moment time={at} className="hint" />
              </>
            ),
          },
          { title: 'Ends', cell: ({ link }) => <Moment time={link.expires_at} /> },
          {
            title: 'State',
            cell: (stored) =>
              stored.state === 'active' ? (
                <Button idle={isBusy} onClick={() => revoke(stored)}>
                  Revoke
                </Button>
              ) : (
                stored.state
              ),
          },
        ]}
        rows={links}
        getKey={({ id }) => id}
      />
    </section>
  );
};

/** Makes and revokes public links to a trace, and allows them in the project. */
export const ShareDialog = (props: ShareProps) => {
  const { project, trace } = props;
  const isAdmin = useAllowed(project, 'admin');
  const { sharing, links } = useSharing(project);
  const { save } = useStoreObject<Sharing>(project, ['sharing']);
  const { isBusy, error, run } = useWork();
  const now = Date.now();
  const ofTrace = (links.data ?? [])
    .flatMap((version) => toLink(version, now) ?? [])
    .filter(({ link }) => link.trace_id === trace)
    .toSorted((one, other) => (one.at < other.at ? 1 : -1));
  const allow = (allowed: boolean) =>
    run(() => save.mutateAsync({ id: sharingObject, value: { _type: sharingClass, public_links: allowed } }));
  return (
    <div className="stack share-dialog">
      <QueryStatus queries={[sharing, links]} loading="Loading…" />
      {sharing.data === undefined ? null : isAdmin ? (
        <div>
          <Check
            isSwitch
            label="Public links in this project"
            checked={sharing.data}
            disabled={isBusy}
            onChange={allow}
          />
          <p className="hint">
            {sharing.data
              ? 'Whoever may write to the project can create links. Switching it off ends all of them until it is on again.'
              : 'While it is off, nobody can open a link.'}
          </p>
        </div>
      ) : sharing.data ? null : (
        <Notice kind="info">Public links are off. An admin of the project can allow them here.</Notice>
      )}
      {error ? <Notice kind="error">It was not changed. {error}</Notice> : null}
      {sharing.data ? <LinkForm {...props} /> : null}
      <LinkTable project={project} links={ofTrace} />
    </div>
  );
};

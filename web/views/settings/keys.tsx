import { useMutation, useQueryClient } from '@tanstack/react-query';
import { KeyRound, Trash2 } from 'lucide-react';
import { useEffect, useRef, useState } from 'react';
import { includesRole, type Role, roles } from '../../../foundations/auth/roles.ts';
import type { Answer, Request } from '../../api/contract.ts';
import { Connect } from '../../calls/connect/connect.tsx';
import { entityOf, useIsEntityAdmin, usePeople } from '../../calls/people/people.ts';
import { costText, dayText } from '../../data/format.ts';
import { allows, ForAdmins, readAgain, useRead, useSession } from '../../session/session.tsx';
import {
  Button,
  Check,
  CopyButton,
  Empty,
  IconButton,
  Notice,
  QueryStatus,
  ScrollTable,
  type TableColumn,
} from '../../ui/controls.tsx';
import { bindFields, Choice, Form, Input, TimeInput } from '../../ui/fields.tsx';
import { Confirm } from '../../ui/popups.tsx';
import { useWork } from '../../ui/work.ts';

type Key = Answer<'/keys/query'>['keys'][number];

const useKeys = (project: string) => {
  const { client } = useSession();
  const cache = useQueryClient();
  const onSuccess = () => readAgain(cache, { predicate: ({ queryKey: [kind] }) => kind === 'keys' });
  const query = useRead(
    ['keys', project],
    async ({ client, signal }) => (await client.ask('/keys/query', { project_id: project }, signal)).keys,
  );
  const create = useMutation({
    mutationFn: (request: Request<'/keys/create'>) => client.ask('/keys/create', request),
    onSuccess,
  });
  const revoke = useMutation({
    mutationFn: (id: string) => client.ask('/keys/revoke', { key_id: id }),
    onSuccess,
  });
  return { query, create, revoke };
};

/** A key to be made, as it is typed. */
interface Draft {
  readonly user: string;
  readonly scope: string;
  readonly roles: readonly Role[];
  readonly expires: string;
  readonly day: string;
  readonly month: string;
}

/** The request for a key. Throws an Error in words for people. */
const toRequest = ({ user, scope, roles: granted, expires, day, month }: Draft): Request<'/keys/create'> => {
  if (granted.length === 0) throw new Error('Choose a role.');
  const until = expires === '' ? undefined : new Date(expires);
  if (until && !(until.getTime() > Date.now())) throw new Error('The expiry has to be a time to come.');
  const usd = (text: string): number | undefined => {
    const amount = text.trim() === '' ? undefined : Number(text.replace(',', '.'));
    if (amount !== undefined && !(amount > 0))
      throw new Error('Enter limits as numbers above 0, or nothing.');
    return amount;
  };
  const perDay = usd(day);
  const perMonth = usd(month);
  return {
    user: user.trim(),
    grants: granted.map((role) => `${scope}:${role}`),
    ...(until && { expires_at: until.toISOString() }),
    ...(perDay !== undefined && { usd_per_day: perDay }),
    ...(perMonth !== undefined && { usd_per_month: perMonth }),
  };
};

/** What each role lets a program do. */
const roleTexts: Readonly<Record<Role, string>> = {
  read: 'sees calls, feedback and all else in it',
  report: 'adds calls and feedback, and sees nothing: for keys in web pages',
  write: 'reports, changes and deletes; includes read and report',
  inference: 'sends requests to models, which cost money',
  admin: 'all of it, and members, keys, limits, alerts and evaluators',
};

interface KeyFormProps {
  readonly project: string;
  readonly create: ReturnType<typeof useKeys>['create'];
  readonly onMade: (key: string) => void;
  readonly onCancel: () => void;
}

/** Makes a key with some of one's own rights. */
const KeyForm = ({ project, create, onMade, onCancel }: KeyFormProps) => {
  const { me } = useSession();
  const people = usePeople(project);
  // Where people sign in, an address is its owner's.
  const users = me.kind === 'person' ? people.filter((user) => !user.includes('@')) : people;
  const ofEntity = useIsEntityAdmin(project);
  const entity = `${entityOf(project)}/*`;
  const [draft, setDraft] = useState<Draft>({
    user: me.user,
    scope: project,
    roles: ['write'],
    expires: '',
    day: '',
    month: '',
  });
  const change = (changes: Partial<Draft>) => setDraft((before) => ({ ...before, ...changes }));
  const field = bindFields(draft, change);
  const { isBusy, error, run } = useWork();
  const submit = () =>
    run(
      async () => {
        const { key } = await create.mutateAsync(toRequest(draft));
        onMade(key);
      },
      { failed: 'No key was made.' },
    );
  const chosen = (role: Role) => draft.roles.includes(role);
  return (
    <Form className="card stack" aria-label="New key" onSubmit={submit}>
      <h3>New key</h3>
      <div className="price-fields">
        <Input
          label="User"
          hint="What the key writes has this name."
          suggestions={users}
          required
          autoFocus
          {...field('user')}
        />
        {ofEntity ? (
          <Choice
            label="For"
            options={[
              [project, 'this project'],
              [entity, `all projects of ${entityOf(project)}`],
            ]}
            {...field('scope')}
          />
        ) : null}
        <TimeInput label="Expires" hint="Never, if empty." {...field('expires')} />
        <Input
          label="Dollars a day"
          hint="For requests to models."
          placeholder="no limit"
          inputMode="decimal"
          {...field('day')}
        />
        <Input label="Dollars a month" placeholder="no limit" inputMode="decimal" {...field('month')} />
      </div>
      <fieldset className="role-set">
        <legend>Roles</legend>
        {roles
          .filter((role) => allows(me, draft.scope, role))
          .map((role) => {
            const isIncluded = draft.roles.some((other) => other !== role && includesRole(other, role));
            return (
              <div key={role} className="role">
                <Check
                  label={role}
                  describedBy={`role-${role}`}
                  checked={chosen(role) || isIncluded}
                  disabled={isIncluded}
                  onChange={(checked) =>
                    change({
                      roles: checked ? [...draft.roles, role] : draft.roles.filter((other) => other !== role),
                    })
                  }
                />
                <span id={`role-${role}`} className="hint">
                  {roleTexts[role]}
                </span>
              </div>
            );
          })}
      </fieldset>
      {error ? <Notice kind="error">{error}</Notice> : null}
      <div className="row-end">
        <Button onClick={onCancel}>Cancel</Button>
        <Button kind="primary" type="submit" idle={isBusy}>
          {isBusy ? 'Creating…' : 'Create key'}
        </Button>
      </div>
    </Form>
  );
};

/** A key that was just made, with what to do with it. */
const MadeKey = ({ project, secret, onDone }: { project: string; secret: string; onDone: () => void }) => {
  const pane = useRef<HTMLElement>(null);
  useEffect(() => pane.current?.focus(), []);
  return (
    <section ref={pane} tabIndex={-1} className="card stack" aria-label="The new key">
      <h3>The new key</h3>
      <p>Copy it now: it is shown this once, and the service itself does not have it.</p>
      <div className="made-key">
        <code>{secret}</code>
        <CopyButton text={() => secret} label="Copy the key">
          Copy
        </CopyButton>
      </div>
      <Connect project={project} secret={secret} />
      <div className="row-end">
        <Button kind="primary" onClick={onDone}>
          I have copied it
        </Button>
      </div>
    </section>
  );
};

const limitsText = ({ usd_per_day: day, usd_per_month: month }: Key): string =>
  [...(day ? [`${costText(day)} a day`] : []), ...(month ? [`${costText(month)} a month`] : [])].join(', ');

/** How a key stands, with the day from which that is so. */
const stateText = ({ state, revoked_at: revoked, expires_at: expires }: Key): string => {
  if (revoked) return `revoked ${dayText(revoked)}`;
  return expires ? `${state === 'expired' ? 'expired' : 'expires'} ${dayText(expires)}` : 'does not expire';
};

const isInForce = ({ state }: Key): boolean => state === 'active';

/** The roles that grants give, by what they are on. */
const byScope = (grants: readonly string[]): ReadonlyMap<string, readonly string[]> => {
  const split = grants.map((grant) => {
    const at = grant.lastIndexOf(':');
    return { scope: grant.slice(0, at), role: grant.slice(at + 1) };
  });
  const groups = Map.groupBy(split, ({ scope }) => scope);
  return new Map([...groups].map(([scope, group]) => [scope, group.map(({ role }) => role)]));
};

const makeColumns = (onRevoke: (key: Key) => void): TableColumn<Key>[] => [
  {
    title: 'User',
    className: 'break',
    cell: ({ user, key_id, kind }) => (
      <>
        {user}
        <div className="muted">{kind === 'role' ? 'IAM role' : <code>{key_id}</code>}</div>
      </>
    ),
  },
  {
    title: 'May',
    cell: ({ grants, grants_elsewhere: isElsewhere }) => (
      <>
        {[...byScope(grants)].map(([scope, granted]) => (
          <div key={scope}>
            <code>{scope}</code> {granted.join(', ')}
          </div>
        ))}
        {isElsewhere ? <div className="muted">and more elsewhere</div> : null}
      </>
    ),
  },
  { title: 'Limits', cell: limitsText },
  { title: 'In force', cell: stateText },
  { title: 'Last used', cell: ({ last_used_on: day }) => (day ? dayText(day) : 'not yet') },
  {
    title: 'Revoke',
    className: 'action',
    cell: (key) => {
      if (key.can_revoke)
        return (
          <IconButton icon={Trash2} name={`Revoke the key ${key.key_id}`} onClick={() => onRevoke(key)} />
        );
      const why = key.made_by_deployment ? 'the deployment needs it' : 'by its administrators';
      return isInForce(key) ? <span className="muted">{why}</span> : null;
    },
  },
];

const Keys = ({ project }: { project: string }) => {
  const { query, create, revoke } = useKeys(project);
  const [isMaking, setMaking] = useState(false);
  // The button that opened the form has the focus again when it closes.
  const [wasOpen, setWasOpen] = useState(false);
  const [made, setMade] = useState<string>();
  const [revoking, setRevoking] = useState<Key>();
  const [showsAll, setShowsAll] = useState(false);
  const { data = [] } = query;
  const shown = showsAll ? data : data.filter(isInForce);
  const open = () => {
    setMaking(true);
    setWasOpen(true);
  };
  const begin = (
    <Button autoFocus={wasOpen && made === undefined} onClick={open}>
      New key
    </Button>
  );
  return (
    <>
      <QueryStatus queries={[query]} loading="Loading keys…" />
      {made === undefined ? null : (
        <MadeKey project={project} secret={made} onDone={() => setMade(undefined)} />
      )}
      {isMaking ? (
        <KeyForm
          project={project}
          create={create}
          onMade={(key) => {
            setMaking(false);
            setMade(key);
          }}
          onCancel={() => setMaking(false)}
        />
      ) : null}
      {query.data && shown.length === 0 && !isMaking && made === undefined ? (
        <Empty icon={KeyRound} title="No keys yet" action={begin}>
          Programs report with a key, each with one of its own.
        </Empty>
      ) : null}
      {shown.length > 0 ? (
        <ScrollTable
          label="Keys"
          columns={makeColumns(setRevoking)}
          rows={shown}
          getKey={({ key_id }) => key_id}
        />
      ) : null}
      {data.length > shown.length || showsAll ? (
        <Check label="Show revoked and expired keys" checked={showsAll} onChange={setShowsAll} />
      ) : null}
      {shown.length > 0 && !isMaking ? <div>{begin}</div> : null}
      <Confirm
        title="Revoke this key?"
        action="Revoke"
        open={revoking !== undefined}
        onClose={() => setRevoking(undefined)}
        idle={revoke.isPending}
        error={revoke.error}
        onConfirm={() => revoke.mutate(revoking?.key_id ?? '', { onSuccess: () => setRevoking(undefined) })}
      >
        Programs that use the key {revoking?.key_id} of {revoking?.user} are refused within minutes. It cannot
        be brought back.
      </Confirm>
    </>
  );
};

/** The keys that programs of the project use. */
export const KeysSection = ({ project }: { project: string }) => (
  <ForAdmins project={project} what="to see, make and revoke keys">
    <Keys project={project} />
  </ForAdmins>
);

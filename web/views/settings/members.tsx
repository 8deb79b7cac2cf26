import { Trash2, Users } from 'lucide-react';
import { useState } from 'react';
import { type Role, roles } from '../../../foundations/auth/roles.ts';
import {
  entityOf,
  type Member,
  useChangeMembers,
  useIsEntityAdmin,
  useMembers,
  usePeople,
} from '../../calls/people/people.ts';
import { ForAdmins, useRead, useSession } from '../../session/session.tsx';
import { readSignIn } from '../../session/sign-in.ts';
import { Button, Check, Empty, IconButton, Notice, QueryStatus, ScrollTable } from '../../ui/controls.tsx';
import { Choice, Form, Input } from '../../ui/fields.tsx';
import { Confirm } from '../../ui/popups.tsx';
import { useWork } from '../../ui/work.ts';

/** What each role lets its members do. */
const meanings: Readonly<Record<Role, string>> = {
  read: 'sees everything in the project',
  report: 'adds calls and feedback, and sees nothing',
  write: 'reports, gives feedback and changes things; includes read',
  inference: 'asks models through this service',
  admin: 'everything, and members, keys and limits',
};

/** What a member's grants are of: this project, all of its entity, or all of the service. */
interface Place {
  readonly scope: string;
  /** How requests name it. */
  readonly about: { readonly project_id: string } | { readonly entity: string };
}

const placesOf = (project: string): readonly [ofProject: Place, ofEntity: Place] => [
  { scope: project, about: { project_id: project } },
  { scope: `${entityOf(project)}/*`, about: { entity: entityOf(project) } },
];

/** A member with the roles that it has in one place. */
interface Membership {
  readonly member: string;
  readonly scope: string;
  readonly roles: readonly Role[];
}

/** Members place by place: the project, and what its members have by wider grants. */
const toMemberships = (project: string, members: readonly Member[]): Membership[] =>
  members.flatMap(({ member, grants, inherited }) => {
    const wider = [...Map.groupBy(inherited, ({ resource }) => resource)].map(([scope, group]) => ({
      member,
      scope,
      roles: group.map(({ role }) => role),
    }));
    return [...(grants.length > 0 ? [{ member, scope: project, roles: grants }] : []), ...wider];
  });

interface MemberFormProps {
  readonly project: string;
  /** @default - a new member */
  readonly membership: Membership | undefined;
  readonly onDone: () => void;
}

/** Adds a member, or changes the roles of one. */
const MemberForm = ({ project, membership, onDone }: MemberFormProps) => {
  const { set } = useChangeMembers();
  const people = usePeople(project);
  const places = placesOf(project);
  const ofEntity = useIsEntityAdmin(project);
  const [member, setMember] = useState(membership?.member ?? '');
  const [scope, setScope] = useState(membership?.scope ?? project);
  const [granted, setGranted] = useState<readonly Role[]>(membership?.roles ?? ['read']);
  const { isBusy, error, run, refuse } = useWork();
  const submit = () => {
    const place = places.find((known) => known.scope === scope) ?? places[0];
    if (granted.length === 0) return refuse('Choose a role.');
    run(
      async () => {
        await set.mutateAsync({ ...place.about, member: member.trim(), grants: [...granted] });
        onDone();
      },
      { failed: 'Nothing was saved.' },
    );
  };
  return (
    <Form
      className="card stack"
      aria-label={membership ? `Change ${membership.member}` : 'Add a member'}
      onSubmit={submit}
    >
      <h3>{membership ? `Change ${membership.member}` : 'Add a member'}</h3>
      <div className="price-fields">
        <Input
          label="Person or group"
          hint="The e-mail that they sign in with, or group: and the name that the issuer has for a group."
          placeholder="ada@example.com"
          suggestions={people.filter((user) => user.includes('@'))}
          required
          autoFocus
          readOnly={membership !== undefined}
          value={member}
          onChange={setMember}
        />
        {ofEntity && !membership ? (
          <Choice
            label="Where"
            options={places.map(({ scope: value }, at) => [
              value,
              at === 0 ? `this project` : `all projects of ${entityOf(project)}`,
            ])}
            value={scope}
            onChange={setScope}
          />
        ) : null}
      </div>
      <fieldset className="role-set">
        <legend>Roles in {scope}</legend>
        {roles.map((role) => (
          <Check
            key={role}
            label={`${role}: ${meanings[role]}`}
            checked={granted.includes(role)}
            onChange={(checked) =>
              setGranted((before) => (checked ? [...before, role] : before.filter((other) => other !== role)))
            }
          />
        ))}
      </fieldset>
      {error ? <Notice kind="error">{error}</Notice> : null}
      <div className="row-end">
        <Button onClick={onDone}>Cancel</Button>
        <Button kind="primary" type="submit" idle={isBusy}>
          {isBusy ? 'Saving…' : membership ? 'Save' : 'Add'}
        </Button>
      </div>
    </Form>
  );
};

interface MemberTableProps {
  readonly project: string;
  readonly members: readonly Member[];
  readonly onChange: (membership: Membership) => void;
  readonly onRemove: (membership: Membership) => void;
}

const MemberTable = ({ project, members, onChange, onRemove }: MemberTableProps) => {
  const ofEntity = useIsEntityAdmin(project);
  const mayChange = ({ scope }: Membership) =>
    scope === project || (ofEntity && scope === placesOf(project)[1].scope);
  return (
    <ScrollTable
      label="Members"
      columns={[
        { title: 'Member', className: 'break', cell: ({ member }) => member },
        { title: 'Where', cell: ({ scope }) => <code>{scope}</code> },
        { title: 'Roles', cell: ({ roles: granted }) => granted.join(', ') },
        {
          title: 'Change',
          className: 'action',
          cell: (membership) =>
            mayChange(membership) ? (
              <span className="row-start">
                <Button
                  kind="quiet"
                  aria-label={`Change ${membership.member} in ${membership.scope}`}
                  onClick={() => onChange(membership)}
                >
                  Change
                </Button>
                <IconButton
                  icon={Trash2}
                  name={`Remove ${membership.member} from ${membership.scope}`}
                  onClick={() => onRemove(membership)}
                />
              </span>
            ) : (
              <span className="muted">by its administrators</span>
            ),
        },
      ]}
      rows={toMemberships(project, members)}
      getKey={({ member, scope }) => `${member} ${scope}`}
    />
  );
};

const Members = ({ project }: { project: string }) => {
  const query = useMembers(project);
  const { remove } = useChangeMembers();
  const { me } = useSession();
  const [form, setForm] = useState<{ readonly membership: Membership | undefined }>();
  // The button that opened the form has the focus again when it closes.
  const [wasOpen, setWasOpen] = useState(false);
  const [removing, setRemoving] = useState<Membership>();
  const { data } = query;
  const open = (membership: Membership | undefined) => {
    setForm({ membership });
    setWasOpen(true);
  };
  const add = (
    <Button autoFocus={wasOpen} onClick={() => open(undefined)}>
      Add a member
    </Button>
  );
  const confirm = () => {
    if (!removing) return;
    const place = placesOf(project).find(({ scope }) => scope === removing.scope) ?? placesOf(project)[0];
    remove.mutate({ ...place.about, member: removing.member }, { onSuccess: () => setRemoving(undefined) });
  };
  return (
    <>
      <QueryStatus queries={[query]} loading="Loading members…" />
      {data?.length === 0 && !form ? (
        <Empty icon={Users} title="No members yet" action={add}>
          People who sign in see the projects that they or their groups are members of. Keys work besides.
        </Empty>
      ) : null}
      {data && data.length > 0 ? (
        <>
          <MemberTable project={project} members={data} onChange={open} onRemove={setRemoving} />
          {form ? null : <div>{add}</div>}
        </>
      ) : null}
      {form ? (
        <MemberForm
          key={`${form.membership?.member} ${form.membership?.scope}`}
          project={project}
          membership={form.membership}
          onDone={() => setForm(undefined)}
        />
      ) : null}
      <Confirm
        title="Remove this member?"
        action="Remove"
        open={removing !== undefined}
        onClose={() => setRemoving(undefined)}
        idle={remove.isPending}
        error={remove.error}
        onConfirm={confirm}
      >
        {removing?.member === me.user ? 'This is you. ' : ''}
        {removing?.member} loses {removing?.roles.join(', ')} on {removing?.scope}, within minutes. Groups
        that they are in are not changed.
      </Confirm>
    </>
  );
};

/** Who may do what in the project, by the sign-in. */
export const MembersSection = ({ project }: { project: string }) => {
  // Whoever has signed in knows that it is there.
  const { issuer } = useSession();
  const { data: signIn } = useRead(['sign-in'], readSignIn, { enabled: issuer === undefined });
  return (
    <ForAdmins project={project} what="to see and change its members">
      {signIn === null ? (
        <Notice kind="info">
          This deployment has no sign-in: members count once it has the setting <code>signIn</code>.
        </Notice>
      ) : null}
      <Members project={project} />
    </ForAdmins>
  );
};

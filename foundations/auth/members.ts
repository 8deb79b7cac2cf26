import {
  compareAndSwap,
  deleteItem,
  getItems,
  type Item,
  type RequestBudget,
  replaceItem,
  scanItems,
  type Table,
} from '../storage/index.ts';
import type { TableKey } from '../storage/tables.ts';
import { formatTime, type Micros } from '../wire/index.ts';
import { entityOf, formatGrant, type Grant, type Scope } from './grants.ts';
import { areTooMany, fromItem, type GrantRecord, isUser, maxGrants, maxGrantsLength } from './keys.ts';
import { type Role, roles } from './roles.ts';

/*
 * Members: people and groups of an identity provider, and what they are granted. Their records lie beside those
 * of keys and roles, and have no digest, since no key opens them.
 */

const groupPrefix = 'group:';
const memberPrefix = 'member:';

/**
 * Who can be a member: a person by an e-mail address, its letters A–Z in lower case, or `group:<name>`. Only
 * {@link parsePerson}, {@link parseGroup} and {@link parseMember} make one.
 */
export type Member = string & { readonly __brand: 'Member' };

/** The id of a member's record. No key's id has a colon. */
export type MemberId = `member:${string}`;

/** The rule for members, for error messages. */
export const memberRule =
  'should be an e-mail address of at most 128 characters, such as ada@example.com, or group:<name>, the name being 1 to 128 printable characters without double quote, backslash and space around it';

const email = /^[^@\s,;<>()[\]]+@[^@\s,;<>()[\]]+$/u;
const groupName = /^[^\p{C}\p{Zl}\p{Zp}"\\]+$/u;
const maxNameLength = 128;

/**
 * The member that an e-mail address names. Only A–Z become lower case: other letters that become ASCII ones, such
 * as the Kelvin sign, would make one person another.
 *
 * @returns undefined if the text is no e-mail address, or could not be a user's name
 */
export const parsePerson = (text: string): Member | undefined =>
  email.test(text) && isUser(text)
    ? (text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase()) as Member)
    : undefined;

/**
 * The member that a group's name names. The case of names counts.
 *
 * @returns undefined if the name is empty, too long, or has what no name may have
 */
export const parseGroup = (name: string): Member | undefined =>
  groupName.test(name) && [...name].length <= maxNameLength && name.trim() === name
    ? (`${groupPrefix}${name}` as Member)
    : undefined;

/**
 * Parses a member as requests and settings write it. Claims of a token go to {@link parsePerson} and
 * {@link parseGroup}: an e-mail address must not become a group.
 *
 * @returns undefined if the text is none; {@link memberRule} says why
 */
export const parseMember = (text: string): Member | undefined =>
  text.startsWith(groupPrefix) ? parseGroup(text.slice(groupPrefix.length)) : parsePerson(text);

/** The id of a member's record: `member:ada@example.com`, `member:group:engineers`. */
export const toMemberId = (member: Member): MemberId => `${memberPrefix}${member}`;

/** Whether a record is a member's. */
export const isMember = ({ id }: Pick<GrantRecord, 'id'>): boolean => id.startsWith(memberPrefix);

const toItem = ({ id, user, grants, createdAt }: GrantRecord): Item => ({
  id,
  user,
  grants: grants.map(formatGrant),
  createdAt: formatTime(createdAt),
});

const toKey = (member: Member): TableKey<'keys'> => ({ id: toMemberId(member) });

/** Roles of one scope, each once, in the order in which roles are listed. */
const rolesOn = (grants: readonly Grant[], scope: Scope): Role[] =>
  roles.filter((role) => grants.some((grant) => grant.scope === scope && grant.role === role));

/** What a member is to have on one scope. */
export interface Membership {
  readonly member: Member;
  readonly scope: Scope;
  /** In place of what the member has there; none to remove it. */
  readonly roles: readonly Role[];
}

/** The roles that a member had on a scope, and has now. */
export interface MemberChange {
  readonly before: readonly Role[];
  readonly after: readonly Role[];
}

/** Each entity has room of its own: whoever administers another one takes none of it. */
const refuseTooMany = (all: readonly Grant[], { member, scope }: Membership): void => {
  const grants = all.filter((grant) => entityOf(grant.scope) === entityOf(scope));
  if (!areTooMany(grants)) return;
  throw new RangeError(
    `${member} would have too many grants in ${entityOf(scope)}: at most ${maxGrants}, and ${maxGrantsLength} characters in all; give roles on an entity instead`,
  );
};

/**
 * Sets what a member has on one scope, and leaves other scopes as they are. A member without any grant has no
 * record. The same again changes nothing, and others may change the same member meanwhile.
 *
 * @param now microseconds since 1970
 * @param announce is called with each change that is about to be written, and may refuse it
 * @throws RangeError if the member had too many grants in the entity then; what `announce` throws, and nothing is written
 */
export const setMember = (
  table: Table,
  membership: Membership,
  now: Micros,
  budget: RequestBudget,
  announce: (change: MemberChange) => Promise<void> = async () => {},
): Promise<MemberChange> => {
  const { member, scope, roles: wanted } = membership;
  return compareAndSwap(budget, async () => {
    const [stored] = await getItems(table, [toKey(member)], budget, { consistent: true });
    const record = stored && fromItem(stored);
    const had = record?.grants ?? [];
    const after = roles.filter((role) => wanted.includes(role));
    const change: MemberChange = { before: rolesOn(had, scope), after };
    if (change.before.join() === after.join()) return { value: change };
    const grants = [
      ...had.filter((grant) => grant.scope !== scope),
      ...after.map((role): Grant => ({ scope, role })),
    ];
    refuseTooMany(grants, membership);
    await announce(change);
    const expected = { grants: stored?.grants };
    const { createdAt = now } = record ?? {};
    const held =
      grants.length === 0
        ? await deleteItem(table, toKey(member), expected, budget)
        : await replaceItem(
            table,
            toItem({ id: toMemberId(member), user: member, grants, createdAt }),
            expected,
            budget,
          );
    return held ? { value: change } : undefined;
  });
};

/** Reads the records of all members, by their names. It scans the table of keys. */
export const listMembers = async (table: Table, budget: RequestBudget): Promise<GrantRecord[]> =>
  (await scanItems(table, budget))
    .map(fromItem)
    .filter(isMember)
    .sort((a, b) => (a.user < b.user ? -1 : 1));

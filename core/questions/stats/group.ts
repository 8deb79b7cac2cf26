import { compile, type Expression, pathsIn } from '../../foundations/expression/index.ts';
import type { JsonValue, WireNames } from '../../foundations/wire/index.ts';
import { type CallHeader, statusOf } from '../../records/calls/index.ts';
import { among, type CallsFilter, callKind, likeOneOf, noIncludes } from '../query/index.ts';
import { Cell, type Keeping } from './cell.ts';
import type { GroupField } from './request.ts';

/** What rollups tell calls apart by. */
export interface Dimensions {
  readonly opName: string;
  readonly userId: string;
  readonly status: string;
}

/** The calls of some time that do not differ in their dimensions. */
export interface Group extends Dimensions {
  readonly cell: Cell;
}

/** The dimensions of a call. */
export const dimensionsOf = (header: CallHeader): Dimensions => ({
  opName: header.start.opName,
  userId: header.start.userId,
  status: statusOf(header),
});

/** Groups by their dimensions. */
export class Groups {
  readonly #groups = new Map<string, Group>();
  readonly #keeping: Keeping;

  constructor(keeping: Keeping) {
    this.#keeping = keeping;
  }

  /** The cell of a group, made if there is none yet. */
  cell(dimensions: Dimensions): Cell {
    const key = `${dimensions.status}\n${dimensions.userId}\n${dimensions.opName}`;
    const known = this.#groups.get(key);
    if (known) return known.cell;
    const cell = new Cell(this.#keeping);
    this.#groups.set(key, { ...dimensions, cell });
    return cell;
  }

  /** All groups, in the order of their first calls. */
  get all(): Group[] {
    return [...this.#groups.values()];
  }
}

/** The fields of calls that groups know, by their paths in expressions. */
const readersOf = (names: WireNames): ReadonlyMap<string, (dimensions: Dimensions) => JsonValue> =>
  new Map([
    ['op_name', ({ opName }: Dimensions) => opName],
    [names.userId, ({ userId }: Dimensions) => userId],
    [`summary.${names.service}.status`, ({ status }: Dimensions) => status],
  ]);

/** The fields to group by that groups know. */
const known: ReadonlySet<GroupField> = new Set(['op_name', 'user', 'status']);

/** Why groups cannot tell what is asked for; undefined if they can. */
export const unknownToGroups = (
  names: WireNames,
  filter: CallsFilter,
  where: Expression | null,
  groupBy: readonly GroupField[],
): string | undefined => {
  const { opNames: _ops, userIds: _users, ...others } = filter;
  const set = Object.entries(others).find(([, value]) => value !== null && value !== false);
  if (set) return `filter by ${set[0]}`;
  const readers = readersOf(names);
  const path = where === null ? undefined : pathsIn(where).find(({ text }) => !readers.has(text));
  if (path) return `query on ${path.text}`;
  const field = groupBy.find((each) => !known.has(each));
  return field && `groups by ${field}`;
};

/** Makes the test of groups by a filter and a query that groups can tell. */
export const groupTest = (
  names: WireNames,
  { opNames, userIds }: CallsFilter,
  where: Expression | null,
): ((dimensions: Dimensions) => boolean) => {
  const [op, user] = [likeOneOf(opNames), among(userIds)];
  const readers = readersOf(names);
  const passes =
    where === null
      ? () => true
      : compile<Dimensions>(
          callKind(names, noIncludes),
          where,
          ({ text }) => readers.get(text) ?? (() => undefined),
        );
  return (dimensions) =>
    op?.(dimensions.opName) !== false && user?.(dimensions.userId) !== false && passes(dimensions);
};

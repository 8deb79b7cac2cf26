/*
 * The one declaration of all tables and indexes. The stack, permissions, metrics, the local service
 * and the bench read it, and keys are typed by it: any other name does not compile. Functions
 * import only types from here, so none of it is in their bundles.
 */

/** The type of a key attribute, as DynamoDB names it: bytes or text. */
export type KeyType = 'B' | 'S';

export interface KeyAttribute {
  readonly name: string;
  readonly type: KeyType;
}

/** A global secondary index. */
export interface IndexDeclaration {
  readonly partition: KeyAttribute;
  readonly sort: KeyAttribute;
  /** The attributes that its rows hold beside its own key and the table's. */
  readonly projects: readonly string[];
}

/** What a stream has of a changed item, as DynamoDB names it. */
export type StreamView = 'KEYS_ONLY' | 'NEW_IMAGE' | 'OLD_IMAGE' | 'NEW_AND_OLD_IMAGES';

/** A table, as the stack makes it. */
export interface TableDeclaration {
  /** The id of its construct. The logical id has it, so another id would be another table. */
  readonly construct: string;
  /** The environment variable with its name, for functions. */
  readonly variable: string;
  /** The stack output with its name. @default - none */
  readonly output?: string;
  readonly partition: KeyAttribute;
  readonly sort?: KeyAttribute;
  /** The attribute with an item's expiry, in seconds since 1970. @default - items are kept */
  readonly expiry?: string;
  readonly indexes: Readonly<Record<string, IndexDeclaration>>;
  /**
   * What its stream has. It has one only where events or analytics read it. @default - it never has
   * a stream
   */
  readonly stream?: StreamView;
}

const binary = <const Name extends string>(name: Name) => ({ name, type: 'B' }) as const;
const text = <const Name extends string>(name: Name) => ({ name, type: 'S' }) as const;

/** The tables of the service. The dashboard's metrics follow the order of their indexes. */
export const tables = {
  /** Calls and their payloads. Index rows have headers, in lists also small payloads. */
  calls: {
    construct: 'Calls',
    variable: 'CALLS_TABLE',
    output: 'CallsTable',
    partition: binary('k'),
    sort: text('p'),
    expiry: 'x',
    stream: 'NEW_AND_OLD_IMAGES',
    indexes: {
      by_time: { partition: binary('tk'), sort: binary('ts'), projects: ['h', 'c'] },
      by_trace: { partition: binary('rk'), sort: binary('ts'), projects: ['h'] },
      by_thread: { partition: binary('hk'), sort: binary('hs'), projects: ['h'] },
      by_error: { partition: binary('ek'), sort: binary('ts'), projects: ['h', 'c'] },
    },
  },
  /**
   * Objects with their versions and labels, tables with packs of their rows, and files. Large
   * values are in the bucket.
   */
  objects: {
    construct: 'Objects',
    variable: 'OBJECTS_TABLE',
    output: 'ObjectsTable',
    partition: binary('k'),
    sort: binary('s'),
    indexes: {},
  },
  /** The projects' own prices of models. */
  costs: {
    construct: 'Costs',
    variable: 'COSTS_TABLE',
    output: 'CostsTable',
    partition: binary('k'),
    sort: binary('p'),
    indexes: {},
  },
  /** Feedback. Index rows have heads, and links between the revisions of a chain. */
  feedback: {
    construct: 'Feedback',
    variable: 'FEEDBACK_TABLE',
    output: 'FeedbackTable',
    partition: binary('k'),
    expiry: 'x',
    stream: 'NEW_AND_OLD_IMAGES',
    indexes: {
      by_time: { partition: binary('tk'), sort: binary('t'), projects: ['h', 'f', 'r'] },
      by_ref: { partition: binary('rk'), sort: binary('t'), projects: ['h', 'f', 'r'] },
      by_type: { partition: binary('yk'), sort: binary('t'), projects: ['h', 'f', 'r'] },
    },
  },
  /**
   * What the service keeps of its own: the projects that there are, rollups of their calls and the marks
   * that make these stale, what is held and spent of limits, leases of judges, and the registers of
   * alerts. `core/records/partitions.ts` lists it. Its deployed names are those of its first use.
   */
  bookkeeping: {
    construct: 'Rollups',
    variable: 'BOOKKEEPING_TABLE',
    output: 'RollupsTable',
    partition: binary('k'),
    sort: binary('s'),
    expiry: 'x',
    indexes: {},
  },
  /** The keys of callers, by their ids. */
  keys: {
    construct: 'Keys',
    variable: 'KEYS_TABLE',
    output: 'KeysTable',
    partition: text('id'),
    indexes: {},
  },
  /** The audit trail, by entity and time. Functions insert entries and query them, and do nothing else to it. */
  audit: {
    construct: 'Audit',
    variable: 'AUDIT_TABLE',
    output: 'AuditTable',
    partition: binary('k'),
    sort: binary('s'),
    expiry: 'x',
    indexes: {},
  },
  /** Counts of each key's inference requests. Only a stack with a limit has the table. */
  rates: {
    construct: 'Rates',
    variable: 'RATES_TABLE',
    partition: text('id'),
    expiry: 'x',
    indexes: {},
  },
} as const satisfies Readonly<Record<string, TableDeclaration>>;

type Tables = typeof tables;

/** The name of a table in the declaration. */
export type TableName = keyof Tables;

export type IndexName<T extends TableName> = keyof Tables[T]['indexes'] & string;

/** An environment variable with a table's name. */
export type TableVariable = Tables[TableName]['variable'];

/** A table with a stack output. */
export type NamedTable = {
  [T in TableName]: Tables[T] extends { readonly output: string } ? T : never;
}[TableName];

/*
 * The types of keys, derived from the declaration above. A key with an attribute or index that the
 * table does not have does not compile.
 */

type ValueOf<A extends KeyAttribute> = A['type'] extends 'B' ? Uint8Array : string;

type Attributes<A extends KeyAttribute> = { readonly [One in A as One['name']]: ValueOf<One> };

type SortOf<T extends TableName> = Tables[T] extends { readonly sort: infer S extends KeyAttribute }
  ? S
  : never;

type Index<T extends TableName, I extends IndexName<T>> = Tables[T]['indexes'][I] extends infer D extends
  IndexDeclaration
  ? D
  : never;

/** The key of an item in a table. */
export type TableKey<T extends TableName> = Attributes<Tables[T]['partition'] | SortOf<T>>;

/** The key of an item in an index. */
export type IndexKey<T extends TableName, I extends IndexName<T>> = Attributes<
  Index<T, I>['partition'] | Index<T, I>['sort']
>;

/** The name of a key attribute of the table or of one of its indexes. */
export type KeyName<T extends TableName> =
  | keyof TableKey<T>
  | { [I in IndexName<T>]: keyof IndexKey<T, I> }[IndexName<T>];

interface Range<P extends KeyAttribute, S extends KeyAttribute> {
  readonly partition: readonly [name: P['name'], value: Uint8Array];
  /** The bounds are inclusive. @default - the whole partition */
  readonly sort?: readonly [name: S['name'], from: Uint8Array, to: Uint8Array];
}

/** A key range of a table. */
export type TableRange<T extends TableName> = Range<Tables[T]['partition'], SortOf<T>>;

/** A key range of an index. */
export interface IndexRange<T extends TableName, I extends IndexName<T>>
  extends Range<Index<T, I>['partition'], Index<T, I>['sort']> {
  readonly index: I;
}

/** A key range of any index of a table. */
export type AnyIndexRange<T extends TableName> = { [I in IndexName<T>]: IndexRange<T, I> }[IndexName<T>];

export type RowAttribute<T extends TableName, I extends IndexName<T>> =
  | keyof TableKey<T>
  | keyof IndexKey<T, I>
  | Index<T, I>['projects'][number];

/** The attribute that makes an item of a table expire, in seconds since 1970. */
export type ExpiryOf<T extends TableName> = Tables[T] extends { readonly expiry: infer E extends string }
  ? { readonly [A in E]: number }
  : never;

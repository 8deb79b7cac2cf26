/*
 * Every table and index, once. The CDK stack makes them of this, permissions and alarms name them
 * by this, and keys are typed by it: a name that is not here does not compile. Functions import
 * types alone, so that none of it is in their bundles.
 */

/** The type of a key attribute, as DynamoDB names it: bytes or text. */
export type KeyType = 'B' | 'S';

/** An attribute that a key is made of. */
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

/** What of a changed item a stream carries, as DynamoDB names it. */
export type StreamView = 'KEYS_ONLY' | 'NEW_IMAGE' | 'OLD_IMAGE' | 'NEW_AND_OLD_IMAGES';

/** A table. */
export interface TableDeclaration {
  /** The id of its construct. Logical ids hang on it: another one would be another table. */
  readonly construct: string;
  /** The environment variable that gives functions its name. */
  readonly variable: string;
  /** The stack's output that gives its name. @default - none */
  readonly output?: string;
  readonly partition: KeyAttribute;
  readonly sort?: KeyAttribute;
  /**
   * The attribute with the time at which an item expires, in seconds since 1970. @default - none
   */
  readonly expiry?: string;
  readonly indexes: Readonly<Record<string, IndexDeclaration>>;
  /** What its stream carries. @default - it has no stream */
  readonly stream?: StreamView;
}

const binary = <const Name extends string>(name: Name) => ({ name, type: 'B' }) as const;
const text = <const Name extends string>(name: Name) => ({ name, type: 'S' }) as const;

/**
 * The tables of the service. The order of tables and indexes is that of the dashboard's metrics.
 */
export const tables = {
  /** Calls and their payloads; index rows hold headers. */
  calls: {
    construct: 'Calls',
    variable: 'CALLS_TABLE',
    output: 'CallsTable',
    partition: binary('k'),
    sort: text('p'),
    expiry: 'x',
    indexes: {
      by_time: { partition: binary('tk'), sort: binary('ts'), projects: ['h'] },
      by_trace: { partition: binary('rk'), sort: binary('ts'), projects: ['h'] },
      by_thread: { partition: binary('hk'), sort: binary('hs'), projects: ['h'] },
    },
  },
  /** Heads and versions of objects, with small values. */
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
  /** Feedback; index rows hold heads, and what links a record to those that it replaced. */
  feedback: {
    construct: 'Feedback',
    variable: 'FEEDBACK_TABLE',
    output: 'FeedbackTable',
    partition: binary('k'),
    expiry: 'x',
    indexes: {
      by_time: { partition: binary('tk'), sort: binary('t'), projects: ['h', 'f', 'r'] },
      by_ref: { partition: binary('rk'), sort: binary('t'), projects: ['h', 'f', 'r'] },
      by_type: { partition: binary('yk'), sort: binary('t'), projects: ['h', 'f', 'r'] },
    },
  },
  /** The keys of callers, by their ids. */
  keys: {
    construct: 'Keys',
    variable: 'KEYS_TABLE',
    output: 'KeysTable',
    partition: text('id'),
    indexes: {},
  },
  /** Counts of each key's requests for inference; only a stack that limits these has it. */
  rates: {
    construct: 'Rates',
    variable: 'RATES_TABLE',
    partition: text('id'),
    expiry: 'x',
    indexes: {},
  },
} as const satisfies Readonly<Record<string, TableDeclaration>>;

type Tables = typeof tables;

/** A table. */
export type TableName = keyof Tables;

/** An index of a table. */
export type IndexName<T extends TableName> = keyof Tables[T]['indexes'] & string;

/** An environment variable that gives functions a table's name. */
export type TableVariable = Tables[TableName]['variable'];

/** A table whose name the stack puts out. */
export type NamedTable = {
  [T in TableName]: Tables[T] extends { readonly output: string } ? T : never;
}[TableName];

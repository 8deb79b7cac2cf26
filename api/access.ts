import type { IndexName } from '../foundations/storage/tables.ts';

/*
 * The ways in which functions access stores, and what each may do there. The roles of functions have
 * exactly this. BatchExecuteStatement needs PartiQLInsert for its INSERTs. Transactions need PutItem,
 * DeleteItem and ConditionCheckItem.
 */

/** What one way of accessing a store needs. */
export interface Actions<Index extends string = string> {
  /** Actions of DynamoDB on the table itself. @default - none */
  readonly table?: readonly string[];
  /** The table's indexes that are queried. @default - none */
  readonly indexes?: readonly Index[];
  /** Actions of S3 on the objects of the store. @default - none */
  readonly objects?: readonly string[];
  /** Whether the bucket's keys are listed. @default false */
  readonly lists?: true;
}

/** A way of accessing a store that holds what clients report. */
interface OfReports<Index extends string> extends Actions<Index> {
  /** Whether it brings something of a client's into the store, which is redacted then. */
  readonly stores: boolean;
}

type Ways<Way extends Actions> = Readonly<Record<string, Way>>;

/** Access to calls. */
export const calls = {
  /** Reads calls by their ids. */
  get: { stores: false, table: ['BatchGetItem'] },
  /** Reads calls by their ids, and looks for all in their traces. */
  find: { stores: false, table: ['BatchGetItem', 'Query'], indexes: ['by_trace'] },
  /** Reads all calls of a trace. */
  trace: { stores: false, table: ['BatchGetItem'], indexes: ['by_trace'] },
  /** Looks for many in every way. */
  query: {
    stores: false,
    table: ['BatchGetItem', 'Query'],
    indexes: ['by_time', 'by_trace', 'by_thread', 'by_error'],
  },
  /** Looks for the turns of threads. */
  threads: { stores: false, table: ['BatchGetItem'], indexes: ['by_thread'] },
  /**
   * Inserts starts and ends, and looks up the starts that they depend on. Replaces one by one those
   * that come again, and starts that hold an end which comes again. Puts segments and notes in batches.
   */
  write: { stores: true, table: ['BatchGetItem', 'BatchWriteItem', 'PartiQLInsert', 'PutItem'] },
  /**
   * Writes, and reads log records with the calls that they join. Deletes calls that log records made by
   * themselves, once those of spans take their places.
   */
  join: {
    stores: true,
    table: ['BatchGetItem', 'BatchWriteItem', 'DeleteItem', 'PartiQLInsert', 'PutItem', 'Query'],
  },
  /** Does the same, and looks for the calls of answers that were judged. */
  settle: {
    stores: true,
    table: ['BatchGetItem', 'BatchWriteItem', 'DeleteItem', 'PartiQLInsert', 'PutItem', 'Query'],
    indexes: ['by_time', 'by_trace'],
  },
  /** Joins, and finds where calls belong by all that is known of their traces. */
  meet: {
    stores: true,
    table: ['BatchGetItem', 'BatchWriteItem', 'DeleteItem', 'PartiQLInsert', 'PutItem', 'Query'],
    indexes: ['by_trace'],
  },
  /** Does all that the endpoints do. */
  serve: {
    stores: true,
    table: ['BatchGetItem', 'BatchWriteItem', 'DeleteItem', 'PartiQLInsert', 'PutItem', 'Query'],
    indexes: ['by_time', 'by_trace', 'by_thread', 'by_error'],
  },
  /** Writes whole calls with new ids, each a start with its end. */
  record: { stores: true, table: ['BatchWriteItem'] },
  /** Replaces calls one by one. */
  update: { stores: true, table: ['BatchGetItem', 'PutItem'] },
  /**
   * Finds what belongs together and deletes it. Puts segments that also hold others' payloads again,
   * without those of the deleted. Finds descendants in their traces. Queries notes on former payloads
   * and deletes them in batches.
   */
  delete: {
    stores: false,
    table: ['BatchGetItem', 'BatchWriteItem', 'DeleteItem', 'PutItem', 'Query'],
    indexes: ['by_trace'],
  },
  /**
   * Goes over all that a project holds: finds it by an index or reads the whole table, deletes it in batches,
   * or has it expire. Queries notes on former payloads.
   */
  sweep: {
    stores: false,
    table: ['BatchWriteItem', 'Query', 'Scan', 'UpdateItem'],
    indexes: ['by_time'],
  },
} as const satisfies Ways<OfReports<IndexName<'calls'>>>;

/** Access to the calls' part of the bucket. */
export const payloads = {
  read: { objects: ['GetObject'] },
  write: { objects: ['PutObject'] },
  change: { objects: ['GetObject', 'PutObject'] },
  /** Writing on condition of an ETag needs GetObject too. */
  delete: { objects: ['GetObject', 'PutObject', 'DeleteObject'] },
  sweep: { objects: ['DeleteObject', 'PutObjectTagging'], lists: true },
} as const satisfies Ways<Actions<never>>;

/** Access to the answers of models that are kept to come again. */
export const answers = {
  keep: { objects: ['GetObject', 'PutObject'] },
  sweep: { objects: ['DeleteObject'] },
} as const satisfies Ways<Actions<never>>;

/** Access to objects, in their table and in their part of the bucket. */
export const objects = {
  /** Reads small values by name. */
  find: { stores: false, table: ['BatchGetItem'] },
  /** Reads by name. */
  read: { stores: false, table: ['BatchGetItem'], objects: ['GetObject'] },
  query: { stores: false, table: ['BatchGetItem', 'Query'], objects: ['GetObject'] },
  /** Reads those of a class whose values are small enough for an item. */
  list: { stores: false, table: ['BatchGetItem', 'Query'] },
  /**
   * BatchWriteItem puts and deletes notes on values in the bucket. Query finds them. Values that did
   * not become versions are deleted.
   */
  create: {
    stores: true,
    table: ['BatchGetItem', 'Query', 'BatchWriteItem', 'PutItem', 'DeleteItem'],
    objects: ['PutObject', 'DeleteObject'],
  },
  delete: {
    stores: false,
    table: ['BatchGetItem', 'Query', 'BatchWriteItem', 'PutItem', 'DeleteItem'],
    objects: ['DeleteObject'],
  },
  /** Does all of this, and labels versions, on condition that they are there. */
  serve: {
    stores: true,
    table: ['BatchGetItem', 'Query', 'BatchWriteItem', 'PutItem', 'DeleteItem', 'ConditionCheckItem'],
    objects: ['GetObject', 'PutObject', 'DeleteObject'],
  },
  /** Finds what lists show, reads the whole table, and deletes all of a project. */
  sweep: { stores: false, table: ['BatchWriteItem', 'Query', 'Scan'], objects: ['DeleteObject'] },
} as const satisfies Ways<OfReports<IndexName<'objects'>>>;

/** Access to files, in the objects table and in their part of the bucket. */
export const files = {
  create: { stores: true, table: ['BatchGetItem', 'BatchWriteItem'], objects: ['PutObject'] },
  read: { stores: false, table: ['BatchGetItem'], objects: ['GetObject'] },
  serve: { stores: true, table: ['BatchGetItem', 'BatchWriteItem'], objects: ['GetObject', 'PutObject'] },
  sweep: { stores: false, objects: ['DeleteObject'] },
} as const satisfies Ways<OfReports<IndexName<'objects'>>>;

/**
 * Access to tables, in the objects table and in their part of the bucket. Rows are found by queries of
 * their index.
 */
export const rowTables = {
  /** Reads no rows. */
  create: { stores: true, table: ['BatchWriteItem', 'Query'], objects: ['PutObject'] },
  /** Reads the rows of another table. */
  update: {
    stores: true,
    table: ['BatchGetItem', 'BatchWriteItem', 'Query'],
    objects: ['GetObject', 'PutObject'],
  },
  read: { stores: false, table: ['BatchGetItem', 'Query'], objects: ['GetObject'] },
  /** Reads tables without their rows. */
  count: { stores: false, table: ['BatchGetItem'] },
  sweep: { stores: false, objects: ['DeleteObject'] },
} as const satisfies Ways<OfReports<IndexName<'objects'>>>;

/** Access to prices. They are inserted and deleted, never looked up first or replaced. */
export const costs = {
  read: { table: ['Query'] },
  create: { table: ['PartiQLInsert'] },
  purge: { table: ['BatchWriteItem'] },
  serve: { table: ['BatchWriteItem', 'PartiQLInsert', 'Query'] },
  sweep: { table: ['BatchWriteItem', 'Query'] },
} as const satisfies Ways<Actions<IndexName<'costs'>>>;

/** Access to feedback, in its table and in its part of the bucket. */
export const feedback = {
  /** Looks for records by their ids. */
  find: { stores: false, table: ['BatchGetItem'] },
  /** Reads what is on given refs. */
  join: { stores: false, table: ['BatchGetItem'], indexes: ['by_ref'], objects: ['GetObject'] },
  /** Reads what is on so many refs that the project may be read as a whole. */
  joinMany: {
    stores: false,
    table: ['BatchGetItem'],
    indexes: ['by_time', 'by_ref'],
    objects: ['GetObject'],
  },
  /** Deletes what is on given refs. */
  erase: {
    stores: false,
    table: ['BatchGetItem', 'DeleteItem', 'PutItem'],
    indexes: ['by_ref'],
    objects: ['DeleteObject'],
  },
  query: {
    stores: false,
    table: ['BatchGetItem'],
    indexes: ['by_time', 'by_ref', 'by_type'],
    objects: ['GetObject'],
  },
  /** Reads that of a span of time, of one type or all. */
  count: { stores: false, table: ['BatchGetItem'], indexes: ['by_time', 'by_type'], objects: ['GetObject'] },
  /**
   * PutItem replaces a tombstone that has the id. A payload is deleted if its record turned out to be
   * there already.
   */
  create: {
    stores: true,
    table: ['BatchGetItem', 'PartiQLInsert', 'PutItem'],
    objects: ['PutObject', 'DeleteObject'],
  },
  /** Queries in order of time, joins, and creates records that are small enough for an item. */
  annotate: {
    stores: true,
    table: ['BatchGetItem', 'PartiQLInsert', 'PutItem'],
    indexes: ['by_time', 'by_ref'],
    objects: ['GetObject'],
  },
  /** Creates records that are small enough for an item. */
  verdict: { stores: true, table: ['BatchGetItem', 'PartiQLInsert', 'PutItem'] },
  replace: {
    stores: true,
    table: ['BatchGetItem', 'PutItem', 'ConditionCheckItem'],
    objects: ['PutObject', 'DeleteObject'],
  },
  purge: { stores: false, table: ['BatchGetItem', 'PutItem', 'DeleteItem'], objects: ['DeleteObject'] },
  /** Does all that the endpoints do. */
  serve: {
    stores: true,
    table: ['BatchGetItem', 'ConditionCheckItem', 'DeleteItem', 'PartiQLInsert', 'PutItem'],
    indexes: ['by_time', 'by_ref', 'by_type'],
    objects: ['GetObject', 'PutObject', 'DeleteObject'],
  },
  /** Goes over all of a project's as it does over calls. */
  sweep: {
    stores: false,
    table: ['BatchWriteItem', 'Scan', 'UpdateItem'],
    indexes: ['by_time'],
    objects: ['DeleteObject', 'PutObjectTagging'],
  },
} as const satisfies Ways<OfReports<IndexName<'feedback'>>>;

/** Access to the table `bookkeeping`. */
export const bookkeeping = {
  /** Notes the projects that are written to, and the rollups that a write makes stale. */
  note: { table: ['UpdateItem'] },
  /** Lists the noted projects. */
  list: { table: ['Query'] },
  /**
   * Notes, and keeps what judges spend: a transaction replaces what is known of a verdict, and adds to
   * what a day's verdicts cost.
   */
  spend: { table: ['BatchGetItem', 'PutItem', 'UpdateItem'] },
  /** Reads rollups and their marks, and stores rollups. */
  use: { table: ['Query', 'BatchWriteItem'] },
  /** Does all of this but keep what judges spend. */
  serve: { table: ['Query', 'BatchWriteItem', 'UpdateItem'] },
  /** Deletes all of a project, reading the whole table, and keeps how far sweeps are. */
  sweep: { table: ['BatchGetItem', 'BatchWriteItem', 'Query', 'Scan', 'UpdateItem'] },
} as const satisfies Ways<Actions<IndexName<'bookkeeping'>>>;

/** Access to the audit trail: an INSERT fails where there is an entry, so nothing replaces one. */
export const audit = {
  append: { table: ['PartiQLInsert'] },
  /** Appends, and reads. */
  serve: { table: ['PartiQLInsert', 'Query'] },
} as const satisfies Ways<Actions<IndexName<'audit'>>>;

/** Access to keys and members. */
export const keys = {
  /** Lists, makes and revokes keys, and sets members. */
  manage: { table: ['BatchGetItem', 'DeleteItem', 'PutItem', 'Scan', 'UpdateItem'] },
} as const satisfies Ways<Actions<IndexName<'keys'>>>;

/** The stores that a function uses, and how. */
export interface Stores {
  readonly calls?: keyof typeof calls;
  readonly payloads?: keyof typeof payloads;
  readonly answers?: keyof typeof answers;
  readonly objects?: keyof typeof objects;
  readonly files?: keyof typeof files;
  readonly tables?: keyof typeof rowTables;
  readonly costs?: keyof typeof costs;
  readonly feedback?: keyof typeof feedback;
  readonly bookkeeping?: keyof typeof bookkeeping;
  readonly keys?: keyof typeof keys;
  readonly audit?: keyof typeof audit;
}

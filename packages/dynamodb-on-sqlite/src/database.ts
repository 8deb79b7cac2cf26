import { closeSync, openSync } from 'node:fs';
import { DatabaseSync, type SQLOutputValue, type StatementSync } from 'node:sqlite';
import { crc32 } from 'node:zlib';
import type { Key, TableDefinition } from './tables.ts';

/*
 * How items lie in SQLite. Each table has one of its own, and one for each index, sorted by the bytes
 * of their keys, which are compared without a sign as DynamoDB's are. A row has the JSON of the item
 * as it is on the wire, so an answer is made of rows without a look into them, and the item's size by
 * DynamoDB's rules.
 */

/** An item, or an item's row in an index. */
export interface Row {
  /** In bytes, by DynamoDB's rules. */
  readonly size: number;
  /** The JSON of its attributes, as on the wire. */
  readonly text: string;
}

/** A bound of a range. */
export interface Bound {
  readonly bytes: Buffer;
  readonly inclusive: boolean;
}

/** Where a page begins: behind a key. In an index that is a row's key and then its item's. */
export interface Start {
  readonly key: Key;
  /** The key of the item, in an index. */
  readonly item?: Key;
}

/** A part of a partition, of a table or of an index. */
export interface Range {
  readonly partition: Buffer;
  readonly from?: Bound;
  readonly to?: Bound;
  readonly descending: boolean;
  readonly start?: Start;
}

/** A change of an item, as a stream has it. */
export interface ChangeRecord {
  /** Greater than those of all changes before. */
  readonly sequence: number;
  /** The JSON of the record, without its sequence number. */
  readonly text: string;
}

type Parameter = Buffer | number | string | null;

const toRow = ({ size, item }: Record<string, SQLOutputValue>): Row => {
  if (typeof size !== 'number' || typeof item !== 'string')
    throw new Error('the database has a row that is none');
  return { size, text: item };
};

function* toRows(found: Iterable<Record<string, SQLOutputValue>>): Generator<Row> {
  for (const row of found) yield toRow(row);
}

const bound = (column: string, sign: '<' | '>', { bytes, inclusive }: Bound): [string, Parameter[]] => [
  `${column} ${sign}${inclusive ? '=' : ''} ?`,
  [bytes],
];

/** A table with its indexes, and the statements on it. */
export class StoredTable {
  readonly id: number;
  readonly definition: TableDefinition;
  readonly #db: DatabaseSync;
  readonly #statements = new Map<string, StatementSync>();

  constructor(db: DatabaseSync, id: number, definition: TableDefinition) {
    this.#db = db;
    this.id = id;
    this.definition = definition;
  }

  #prepare(sql: string): StatementSync {
    const known = this.#statements.get(sql);
    if (known) return known;
    const statement = this.#db.prepare(sql);
    this.#statements.set(sql, statement);
    return statement;
  }

  get(key: Key): Row | undefined {
    const found = this.#prepare(`SELECT size, item FROM items_${this.id} WHERE p = ? AND s = ?`).get(
      key.partition,
      key.sort,
    );
    return found && toRow(found);
  }

  /** @param expiry when it expires, in seconds since 1970; null if it does not */
  put(key: Key, { size, text }: Row, expiry: number | null): void {
    this.#prepare(`INSERT OR REPLACE INTO items_${this.id} (p, s, x, size, item) VALUES (?, ?, ?, ?, ?)`).run(
      key.partition,
      key.sort,
      expiry,
      size,
      text,
    );
  }

  remove(key: Key): void {
    this.#prepare(`DELETE FROM items_${this.id} WHERE p = ? AND s = ?`).run(key.partition, key.sort);
  }

  /** @param index the index's place in the definition */
  putIndexRow(index: number, row: Key, item: Key, { size, text }: Row): void {
    this.#prepare(
      `INSERT OR REPLACE INTO index_${this.id}_${index} (p, s, ip, "is", size, item) VALUES (?, ?, ?, ?, ?, ?)`,
    ).run(row.partition, row.sort, item.partition, item.sort, size, text);
  }

  removeIndexRow(index: number, row: Key, item: Key): void {
    this.#prepare(`DELETE FROM index_${this.id}_${index} WHERE p = ? AND s = ? AND ip = ? AND "is" = ?`).run(
      row.partition,
      row.sort,
      item.partition,
      item.sort,
    );
  }

  /** The rows of a range in its order. @param index its place in the definition; the table's without */
  range({ partition, from, to, descending, start }: Range, index?: number): Generator<Row> {
    const [sign, order] = descending ? (['<', 'DESC'] as const) : (['>', 'ASC'] as const);
    const isIndex = index !== undefined;
    const parts: [string, Parameter[]][] = [['p = ?', [partition]]];
    if (from) parts.push(bound('s', '>', from));
    if (to) parts.push(bound('s', '<', to));
    if (start?.item)
      parts.push([
        `(s, ip, "is") ${sign} (?, ?, ?)`,
        [start.key.sort, start.item.partition, start.item.sort],
      ]);
    else if (start) parts.push([`s ${sign} ?`, [start.key.sort]]);
    const table = isIndex ? `index_${this.id}_${index}` : `items_${this.id}`;
    const columns = isIndex ? ['s', 'ip', '"is"'] : ['s'];
    const statement = this.#prepare(
      `SELECT size, item FROM ${table} WHERE ${parts.map(([sql]) => sql).join(' AND ')} ` +
        `ORDER BY ${columns.map((column) => `${column} ${order}`).join(', ')}`,
    );
    return toRows(statement.iterate(...parts.flatMap(([, values]) => values)));
  }

  /** All items behind a key, by the bytes of their keys; of one segment of several, if there are some. */
  scan(start: Key | undefined, segment: number, segments: number): Generator<Row> {
    const conditions = [
      ...(start ? ['(p, s) > (?, ?)'] : []),
      ...(segments > 1 ? ['segment_of(p, ?) = ?'] : []),
    ];
    const where = conditions.length > 0 ? `WHERE ${conditions.join(' AND ')}` : '';
    const statement = this.#prepare(`SELECT size, item FROM items_${this.id} ${where} ORDER BY p, s`);
    const parameters: Parameter[] = [
      ...(start ? [start.partition, start.sort] : []),
      ...(segments > 1 ? [segments, segment] : []),
    ];
    return toRows(statement.iterate(...parameters));
  }

  /** Some of the items that have expired. @param now in seconds since 1970 */
  expired(now: number, from: number, most: number): Row[] {
    const statement = this.#prepare(
      `SELECT size, item FROM items_${this.id} WHERE x > ? AND x <= ? ORDER BY x LIMIT ?`,
    );
    return statement.all(from, now, most).map(toRow);
  }
}

/** The version of this layout, which a file says that it has. */
const layout = 1;

const schema = `
  CREATE TABLE tables (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, definition TEXT NOT NULL);
  CREATE TABLE changes (
    sequence INTEGER PRIMARY KEY AUTOINCREMENT, table_id INTEGER NOT NULL, at REAL NOT NULL, record TEXT NOT NULL
  );
  CREATE INDEX changes_of_table ON changes (table_id, sequence);
  CREATE INDEX changes_by_time ON changes (at);
`;

/** A number for the partition of an item, which says its segment in a scan. */
export const toSegment = (partition: unknown, segments: unknown): number =>
  partition instanceof Uint8Array && typeof segments === 'number' ? crc32(partition) % segments : 0;

const open = (file: string | undefined, maxPages: number | undefined): DatabaseSync => {
  // SQLite gives the files beside it the same mode.
  if (file !== undefined) closeSync(openSync(file, 'a', 0o600));
  const db = new DatabaseSync(file ?? ':memory:');
  db.exec(`
    PRAGMA page_size = 8192;
    PRAGMA cache_size = -16000;
    PRAGMA temp_store = MEMORY;
    PRAGMA locking_mode = EXCLUSIVE;
  `);
  if (maxPages !== undefined) db.exec(`PRAGMA max_page_count = ${maxPages}`);
  // A commit is on the disk before it is acknowledged.
  if (file !== undefined) db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;');
  return db;
};

const toNumber = (row: Record<string, SQLOutputValue> | undefined): number => {
  const [value] = Object.values(row ?? {});
  return typeof value === 'number' ? value : 0;
};

/**
 * The tables of a store, in memory or in a file. All that is written goes into one transaction until
 * {@link Database.commit}: many requests share the wait for the disk.
 */
export class Database {
  readonly #db: DatabaseSync;
  readonly #tables = new Map<string, StoredTable>();
  readonly #begin: StatementSync;
  readonly #commit: StatementSync;
  readonly #rollback: StatementSync;
  readonly #addChange: StatementSync;
  readonly #changes: StatementSync;
  readonly #lastChange: StatementSync;
  readonly #trimChanges: StatementSync;

  /**
   * @param file where the data are kept; in memory if undefined
   * @param maxPages the most pages of 8 KB that the file may have
   * @throws Error if the file is none of this store, of a later version, or in use
   */
  constructor(file?: string, maxPages?: number) {
    const db = open(file, maxPages);
    this.#db = db;
    const version = toNumber(db.prepare('PRAGMA user_version').get());
    if (version > layout) throw new Error(`${file} was written by a later version of this store`);
    if (version === 0) db.exec(`BEGIN; ${schema} PRAGMA user_version = ${layout}; COMMIT;`);
    db.function('segment_of', { deterministic: true, directOnly: true }, toSegment);
    this.#begin = db.prepare('BEGIN IMMEDIATE');
    this.#commit = db.prepare('COMMIT');
    this.#rollback = db.prepare('ROLLBACK');
    this.#addChange = db.prepare('INSERT INTO changes (table_id, at, record) VALUES (?, ?, ?)');
    this.#changes = db.prepare(
      'SELECT sequence, record FROM changes WHERE table_id = ? AND sequence > ? ORDER BY sequence LIMIT ?',
    );
    this.#lastChange = db.prepare("SELECT seq FROM sqlite_sequence WHERE name = 'changes'");
    this.#trimChanges = db.prepare('DELETE FROM changes WHERE at < ?');
    for (const { id, definition } of db.prepare('SELECT id, definition FROM tables').iterate())
      if (typeof id === 'number' && typeof definition === 'string') this.#keep(id, JSON.parse(definition));
  }

  #keep(id: number, definition: TableDefinition): StoredTable {
    const table = new StoredTable(this.#db, id, definition);
    this.#tables.set(definition.name, table);
    return table;
  }

  /** A table by its name; undefined if there is none. */
  table(name: string): StoredTable | undefined {
    return this.#tables.get(name);
  }

  get tables(): Iterable<StoredTable> {
    return this.#tables.values();
  }

  /** Makes a table, whose name nobody has. */
  createTable(definition: TableDefinition): StoredTable {
    this.begin();
    const { lastInsertRowid } = this.#db
      .prepare('INSERT INTO tables (name, definition) VALUES (?, ?)')
      .run(definition.name, JSON.stringify(definition));
    const id = Number(lastInsertRowid);
    const columns = 'size INTEGER NOT NULL, item TEXT NOT NULL';
    this.#db.exec(
      `CREATE TABLE items_${id} (p BLOB NOT NULL, s BLOB NOT NULL, x REAL, ${columns}, PRIMARY KEY (p, s)) WITHOUT ROWID;
       CREATE INDEX expiry_${id} ON items_${id} (x) WHERE x IS NOT NULL;`,
    );
    for (const index of definition.indexes.keys())
      this.#db.exec(
        `CREATE TABLE index_${id}_${index} (
           p BLOB NOT NULL, s BLOB NOT NULL, ip BLOB NOT NULL, "is" BLOB NOT NULL, ${columns},
           PRIMARY KEY (p, s, ip, "is")
         ) WITHOUT ROWID;`,
      );
    return this.#keep(id, definition);
  }

  /** Gives a table another definition, with the same keys and indexes. */
  changeTable({ id, definition: before }: StoredTable, definition: TableDefinition): void {
    this.begin();
    this.#db.prepare('UPDATE tables SET definition = ? WHERE id = ?').run(JSON.stringify(definition), id);
    if (definition.expiry !== before.expiry && definition.expiry !== undefined)
      this.#db
        .prepare(`UPDATE items_${id} SET x = CAST(json_extract(item, ?) AS REAL)`)
        .run(`$.${JSON.stringify(definition.expiry)}.N`);
    this.#keep(id, definition);
  }

  /** Whether something is written that is not committed yet. */
  get isWriting(): boolean {
    return this.#db.isTransaction;
  }

  /** Begins to write, unless that is under way. */
  begin(): void {
    if (!this.isWriting) this.#begin.run();
  }

  /** Resolves what was written: it is on the disk then. */
  commit(): void {
    this.#commit.run();
  }

  /** Drops what was written since the last commit. Tables that were made are gone. */
  rollback(): void {
    if (this.isWriting) this.#rollback.run();
    this.#tables.clear();
    for (const { id, definition } of this.#db.prepare('SELECT id, definition FROM tables').all())
      if (typeof id === 'number' && typeof definition === 'string') this.#keep(id, JSON.parse(definition));
  }

  /** Adds a change to a table's stream. @param at in seconds since 1970 */
  addChange({ id }: StoredTable, at: number, text: string): void {
    this.#addChange.run(id, at, text);
  }

  /** The changes of a table behind a sequence number, in their order. */
  changes({ id }: StoredTable, after: number, most: number): ChangeRecord[] {
    return this.#changes.all(id, after, most).map(({ sequence, record }) => ({
      sequence: Number(sequence),
      text: String(record),
    }));
  }

  /** The sequence number of the last change of all tables; 0 if there was none. */
  get lastChange(): number {
    return toNumber(this.#lastChange.get());
  }

  /** Drops changes that are older. @param before in seconds since 1970 */
  trimChanges(before: number): void {
    this.begin();
    this.#trimChanges.run(before);
  }

  close(): void {
    this.#db.close();
  }
}

import type { IndexDeclaration, IndexName, KeyAttribute, TableName, tables } from './tables.ts';

/*
 * The types of keys, derived from the declaration of the tables. A key with an attribute or index
 * that the table does not have does not compile.
 */

type Tables = typeof tables;

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

/** An attribute that the rows of an index have. */
export type RowAttribute<T extends TableName, I extends IndexName<T>> =
  | keyof TableKey<T>
  | keyof IndexKey<T, I>
  | Index<T, I>['projects'][number];

/** The attribute that makes an item of a table expire, in seconds since 1970. */
export type ExpiryOf<T extends TableName> = Tables[T] extends { readonly expiry: infer E extends string }
  ? { readonly [A in E]: number }
  : never;

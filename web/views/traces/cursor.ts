/** How far a list has been read. */
export interface Cursor {
  /** How many rows were read. */
  readonly read: number;
  /** When the last of them started. @default - none was read */
  readonly last?: string;
  /** How many of the last rows started at that moment. */
  readonly same: number;
}

/** Before the first row. */
export const atStart: Cursor = { read: 0, same: 0 };

/** A cursor after more rows. */
export const advanced = (cursor: Cursor, rows: readonly { readonly started_at: string }[]): Cursor => {
  const last = rows.at(-1)?.started_at;
  if (last === undefined) return cursor;
  const others = rows.findLastIndex(({ started_at }) => started_at !== last) + 1;
  const before = others === 0 && cursor.last === last ? cursor.same : 0;
  return { read: cursor.read + rows.length, last, same: before + rows.length - others };
};

import {
  type Expression,
  type Pushed as PushedTo,
  pushDown as pushTo,
  type RecordKind,
} from '../expression/index.ts';

/** The fields by whose values calls can be looked up. */
export type LookupField = 'id' | 'trace_id' | 'parent_id' | 'turn_id' | 'thread_id';

/** What expressions that must all hold say of where the calls are. */
export type Pushed = PushedTo<LookupField>;

const fields: readonly LookupField[] = ['id', 'trace_id', 'parent_id', 'turn_id', 'thread_id'];

/** Finds what expressions, all of which must hold, say of where the calls are. */
export const pushDown = (kind: RecordKind, expressions: readonly Expression[]): Pushed =>
  pushTo(kind, { fields, time: 'started_at' }, expressions);

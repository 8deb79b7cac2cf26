import {
  type Expression,
  type Pushed as PushedTo,
  pushDown as pushTo,
  type RecordKind,
} from '../../foundations/expression/index.ts';

/** The fields by whose values calls can be looked up. */
export type LookupField = 'id' | 'trace_id' | 'parent_id' | 'turn_id' | 'thread_id';

/** Where calls are, as far as expressions that must all hold say. */
export type Pushed = PushedTo<LookupField>;

const fields: readonly LookupField[] = ['id', 'trace_id', 'parent_id', 'turn_id', 'thread_id'];

/** Finds what expressions say of where calls are. All of them must hold. */
export const pushDown = (kind: RecordKind, expressions: readonly Expression[]): Pushed =>
  pushTo(kind, { fields, time: 'started_at' }, expressions);

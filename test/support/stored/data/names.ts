import { unicorns } from '../noise.ts';

/** The projects that the data sets are written to. */
export const project = 'acme/shop';
export const otherProject = 'acme/other';

/** A UUID for each small number. */
export const uuid = (n: number): string => `01a0f4c3-0874-7e3e-8297-${String(n).padStart(12, '0')}`;

/** A turn, a model call in it, and a call in it whose end comes by itself. */
export const root = uuid(1);
export const model = uuid(2);
export const running = uuid(3);

/** What all calls of that turn say of their place. */
export const thread = { trace_id: uuid(9), thread_id: 'thread 1', turn_id: root };

/** Text to be repeated. */
export const sentences = 'The order was packed on Monday and left the house on Tuesday. ';

/**
 * Ids of 1,024 bytes, alike but for their last character: the keys of indexes hold digests of them.
 */
export const longId = `${unicorns}a`;
export const otherLongId = `${unicorns}b`;

/** An id that is no UUID, and nothing but printable. */
export const oddId = 'órder/42: “why?” ☃%2F\\#\'"';

/** The ref of a call of the project. */
export const callRef = (id: string): string => `svc:///${project}/call/${id}`;

/** A query by one field. */
export const whereEqual = (field: string, value: unknown) => ({
  $expr: { $eq: [{ $getField: field }, { $literal: value }] },
});

/** A query of feedback or prices by ids. */
export const queryAny = (...ids: string[]) => ({
  $expr: { $or: ids.map((id) => ({ $eq: [{ $getField: 'id' }, { $literal: id }] })) },
});

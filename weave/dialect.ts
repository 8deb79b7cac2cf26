import type { Endpoint } from '../api/endpoint.ts';
import { answerInWeave } from './api/answers.ts';
import { bodyInWeave } from './api/changes.ts';

/** A description, as far as a dialect changes how its requests and answers are read. */
export type Described = Pick<Endpoint, 'path' | 'request' | 'answer' | 'tolerant'>;

/**
 * A description in Weave's dialect: it has requests of its own, and passes unknown fields over.
 * Those that do so already are of this dialect alone.
 */
export const inWeave = <D extends Described>(own: D): D => {
  const { path, tolerant, request } = own;
  if (tolerant) return own;
  return { ...own, tolerant: true, ...(request && { request: () => bodyInWeave(path, request()) }) };
};

/** What gives an answer that is a value the names of Weave's dialect. */
export const weaveNames = ({ answer, tolerant }: Described): (<T>(value: T) => T) => {
  const rename = tolerant ? undefined : answerInWeave(answer());
  return rename ? (value) => rename(value) as typeof value : (value) => value;
};

import type { Endpoint } from '../api/endpoint.ts';
import { answerInWeave } from './api/answers.ts';
import { bodyInWeave } from './api/changes.ts';

/** A description, as far as a dialect changes how its requests and answers are read. */
export type Described = Pick<Endpoint, 'path' | 'dialect' | 'request' | 'answer' | 'tolerant'>;

/** A description in Weave's dialect: it has requests of its own, and passes unknown fields over. */
export const inWeave = <D extends Described>(own: D): D => {
  const { path, dialect, request } = own;
  return {
    ...own,
    tolerant: true,
    ...(request && dialect === undefined && { request: () => bodyInWeave(path, request()) }),
  };
};

/** What gives an answer that is a value the names of Weave's dialect. */
export const weaveNames = ({ answer, dialect }: Described): (<T>(value: T) => T) => {
  const rename = dialect === undefined ? answerInWeave(answer()) : undefined;
  return rename ? (value) => rename(value) as typeof value : (value) => value;
};

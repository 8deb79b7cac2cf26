import Negotiator from 'negotiator';
import { type Coding, codings } from './files.ts';

const kept = Object.keys(codings) as (keyof typeof codings)[];

/** The best coding that a client takes, by its `accept-encoding` header. It must be named there. */
export const preferredCoding = (acceptEncoding: string): Coding => {
  const negotiator = new Negotiator({ headers: { 'accept-encoding': acceptEncoding } });
  const named = kept.filter((coding) => acceptEncoding.toLowerCase().includes(coding));
  return named.find((coding) => negotiator.encoding([coding, 'identity']) === coding) ?? 'identity';
};

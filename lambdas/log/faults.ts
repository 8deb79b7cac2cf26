import type { ErrorDetail } from '../../core/wire/index.ts';
import type { LoggedError, LoggedFault } from './fields.ts';
import { inSources } from './stack-trace.ts';

const maxFaults = 10;

/** Stands for a step that the client chose. */
const chosen = '*';

const isIndex = (step: string): boolean => /^\d+$/.test(step);
const isName = (step: string): boolean => /^\$?[A-Za-z][\w-]{0,40}$/.test(step);

/** Whether a step of a fault's place is a key of the client's own, which may be anything. */
const isChosen = ({ loc, type }: ErrorDetail, at: number): boolean => {
  const step = loc[at] ?? '';
  if (isIndex(step)) return false;
  const isLast = at === loc.length - 1;
  if (isLast && type === 'extra_forbidden') return true;
  // An operator that there is none of; the known ones have faults of other types, or below them.
  if (isLast && type === 'value_error' && loc.includes('$expr') && step !== '$getField') return true;
  // Prices are by model, and headers for an upstream may have any name.
  return ['costs', 'extra_headers'].includes(loc[at - 1] ?? '') || !isName(step);
};

/**
 * What was wrong with a request, by kind and place. Messages stay out, and what the client chose of
 * a place: they can quote the body.
 */
export const faultsOf = (details: readonly ErrorDetail[]): LoggedFault[] =>
  details.slice(0, maxFaults).map((detail) => ({
    type: detail.type,
    loc: detail.loc.map((step, at) => (isChosen(detail, at) ? chosen : step)).join('.'),
  }));

const maxCauses = 5;

/** V8 quotes the text that it could not parse. */
const messageOf = (error: Error): string =>
  error instanceof SyntaxError ? 'some text does not parse' : error.message;

/** A cause can be a text of this service's own; whatever else is thrown may be anything. */
const nameless = (cause: unknown, depth: number): LoggedError => ({
  name: 'unknown',
  message: depth > 0 && typeof cause === 'string' ? cause : typeof cause,
});

/**
 * An error's name, message, frames, and those of its causes: never its other properties, which may
 * hold a request or an item.
 */
export const errorOf = (error: unknown, depth = 0): LoggedError => {
  if (!(error instanceof Error)) return nameless(error, depth);
  const frames = error.stack?.match(/^ {4}at .*$/gm)?.join('\n');
  return {
    name: error.name,
    message: messageOf(error),
    ...(frames && { stack: inSources(frames) }),
    ...(error.cause !== undefined && depth < maxCauses && { cause: errorOf(error.cause, depth + 1) }),
  };
};

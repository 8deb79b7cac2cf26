import type { ErrorDetail } from '../../core/foundations/wire/index.ts';
import type { LoggedError, LoggedProblem } from './fields.ts';
import { inSources } from './stack-trace.ts';

const maxProblems = 10;

/** Stands for a step that the client chose. */
const chosen = '*';

const isIndex = (step: string): boolean => /^\d+$/.test(step);
const isName = (step: string): boolean => /^\$?[A-Za-z][\w-]{0,40}$/.test(step);

/** Whether a step of a problem's place is a key of the client's own, which may be anything. */
const isChosen = ({ loc, type }: ErrorDetail, at: number): boolean => {
  const step = loc[at] ?? '';
  if (isIndex(step)) return false;
  const isLast = at === loc.length - 1;
  if (isLast && type === 'extra_forbidden') return true;
  // An unknown operator. Known ones have problems of other types, or below them.
  if (isLast && type === 'value_error' && loc.includes('$expr') && step !== '$getField') return true;
  // Prices are by model, and headers for an upstream may have any name.
  return ['costs', 'extra_headers'].includes(loc[at - 1] ?? '') || !isName(step);
};

/**
 * The problems of a request, by kind and place. Messages stay out, as do steps that the client
 * chose: they can quote the body.
 */
export const problemsOf = (details: readonly ErrorDetail[]): LoggedProblem[] =>
  details.slice(0, maxProblems).map((detail) => ({
    type: detail.type,
    loc: detail.loc.map((step, at) => (isChosen(detail, at) ? chosen : step)).join('.'),
  }));

const maxCauses = 5;

/** V8 quotes the text that it could not parse. */
const messageOf = (error: Error): string =>
  error instanceof SyntaxError ? 'some text does not parse' : error.message;

/** A cause can be a text of this service's own. Anything else that was thrown may hold anything. */
const nameless = (cause: unknown, depth: number): LoggedError => ({
  name: 'unknown',
  message: depth > 0 && typeof cause === 'string' ? cause : typeof cause,
});

/**
 * An error's name, message and frames, and those of its causes. Its other properties stay out: they
 * may hold a request or an item.
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

import { nonEmptyString } from '../../../foundations/wire/index.ts';
import type { Span } from './span.ts';

const errorStatus = 2;

/** `<type>: <message>`, and the stack trace below it, as far as the last exception event has them. */
const exceptionInEvents = ({ events }: Span): string => {
  const event = events.findLast(({ name }) => name === 'exception');
  const [type, message, stack] = ['type', 'message', 'stacktrace'].map((name) =>
    nonEmptyString(event?.attributes.get(`exception.${name}`)),
  );
  const head = [type, message].filter(Boolean).join(': ');
  return [head, stack].filter(Boolean).join('\n');
};

/**
 * The exception of a call. Where the status is an error: the last exception event, else the status
 * message, else what a convention reports, else `error`.
 *
 * @param reported the error that a convention reports elsewhere
 * @returns null without an error
 */
export const getException = (span: Span, reported: string | undefined): string | null => {
  if (span.status.code !== errorStatus) return reported ?? null;
  return exceptionInEvents(span) || span.status.message || reported || 'error';
};

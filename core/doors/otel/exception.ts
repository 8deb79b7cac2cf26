import type { Attributes, Span } from './span.ts';

const errorStatus = 2;

const textAt = (attributes: Attributes, key: string): string => {
  const value = attributes.get(key);
  return typeof value === 'string' ? value : '';
};

/**
 * `<type>: <message>`, and the stack trace below it, as far as the last exception event has them.
 */
const ofEvents = ({ events }: Span): string => {
  const event = events.findLast(({ name }) => name === 'exception');
  if (!event) return '';
  const [type, message, stack] = ['type', 'message', 'stacktrace'].map((name) =>
    textAt(event.attributes, `exception.${name}`),
  );
  const head = [type, message].filter(Boolean).join(': ');
  return [head, stack].filter(Boolean).join('\n');
};

/**
 * The exception of a call. Where the status is an error: the last exception event, else the status
 * message, else what a convention says, else `error`.
 *
 * @param told the error that a convention tells elsewhere
 * @returns null without an error
 */
export const exceptionOf = (span: Span, told: string | undefined): string | null => {
  if (span.status.code !== errorStatus) return told ?? null;
  return ofEvents(span) || span.status.message || told || 'error';
};

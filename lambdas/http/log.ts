import { inSources } from './stack-trace.ts';

/**
 * Writes one JSON line to the function's log. Only what an operator needs: never a payload, a key or a header's value.
 *
 * @param fields what happened; an Error becomes its name, message and stack, and those of its causes
 */
export const log = (level: 'info' | 'error', fields: Readonly<Record<string, unknown>>): void => {
  const line = JSON.stringify({ level, ...fields }, (_key, value: unknown) =>
    value instanceof Error
      ? { name: value.name, message: value.message, stack: inSources(value.stack ?? ''), cause: value.cause }
      : value,
  );
  // console.log would add Lambda's own prefix, and the line would not be JSON any more.
  process.stdout.write(`${line}\n`);
};

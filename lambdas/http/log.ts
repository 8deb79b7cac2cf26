import { inSources } from './stack-trace.ts';

/** What is said of an error: never its other properties, which may hold a request or an item. */
const described = (error: Error) => {
  const { name, message, stack = '', cause } = error;
  // V8 quotes the text that it could not parse.
  if (error instanceof SyntaxError)
    return { name, stack: inSources(stack.replace(message, 'some text does not parse')) };
  return { name, message, stack: inSources(stack), cause };
};

/**
 * Writes one JSON line to the function's log. Only what an operator needs: never a payload, a key or a header's value.
 *
 * @param fields what happened; an Error becomes its name, message and stack, and those of its causes
 */
export const log = (level: 'info' | 'error', fields: Readonly<Record<string, unknown>>): void => {
  const line = JSON.stringify({ level, ...fields }, (_key, value: unknown) =>
    value instanceof Error ? described(value) : value,
  );
  // console.log would add Lambda's own prefix, and the line would not be JSON any more.
  process.stdout.write(`${line}\n`);
};

import { parentPort } from 'node:worker_threads';
import type { RE2JS } from 're2js';
import { formats } from '../../../foundations/json-schema/formats.ts';
import type { Schema } from '../../../foundations/json-schema/read.ts';
import { compileRe2 } from '../../../foundations/re2.ts';
import type { FromCheckThread, ToCheckThread } from './check-runner.ts';

/*
 * The thread in which expressions and schemas of clients look at texts: check-runner.ts starts it, and
 * ends it when one takes too long.
 */

/** What is compiled already. A project has few expressions, and they come again. */
const compiled = new Map<string, RE2JS>();
const maxCompiled = 20;

const matches = async (pattern: string, text: string): Promise<boolean> => {
  const known = compiled.get(pattern) ?? (await compileRe2(pattern));
  if (compiled.size >= maxCompiled) compiled.clear();
  compiled.set(pattern, known);
  return known.matcher(text).find();
};

/** Why a text does not fit a schema; undefined if it does. */
const misfit = async (schema: Schema, text: string): Promise<string | undefined> => {
  const { Validator, format } = await import('@cfworker/json-schema');
  // A schema that was read names no others.
  Object.assign(format, formats);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return 'the output is no JSON';
  }
  const { valid, errors } = new Validator(schema, '2020-12', true).validate(value);
  const first = errors.at(-1);
  return valid ? undefined : `${first?.instanceLocation ?? '#'}: ${first?.error ?? 'it does not fit'}`;
};

const work = async (check: ToCheckThread): Promise<FromCheckThread> => {
  if (check.kind === 'regex') return { type: 'done', passes: await matches(check.pattern, check.text) };
  const why = await misfit(check.schema, check.text);
  return { type: 'done', passes: why === undefined, reason: why };
};

/** Loads what a check takes, so that its time is its own. */
const load = ({ kind }: ToCheckThread): Promise<unknown> =>
  kind === 'regex' ? import('re2js') : import('@cfworker/json-schema');

const send = (message: FromCheckThread): void => parentPort?.postMessage(message);

parentPort?.on('message', async (check: ToCheckThread) => {
  try {
    await load(check);
    send({ type: 'began' });
    send(await work(check));
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    send({ type: 'failed', message: `the check could not be made: ${why}` });
  }
});

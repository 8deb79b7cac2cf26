import type { RequestBudget, Store } from '../../../foundations/storage/index.ts';
import {
  invalidAt,
  isJsonObject,
  type JsonValue,
  type ProjectId,
  parseJson,
  parseRef,
  parseVersionName,
  ServiceError,
} from '../../../foundations/wire/index.ts';
import { readObject } from '../../records/objects/index.ts';
import type { CompletionInputs } from './endpoints/completions.ts';

const loc = ['body', 'inputs', 'prompt'];
const problem = (msg: string) => invalidAt(loc, msg);

/** Says of a problem that it is the prompt's. */
const ofPrompt = (error: unknown): never => {
  if (!(error instanceof ServiceError) || error.status !== 404) throw error;
  throw new ServiceError(
    404,
    error.detail.map((detail) => ({ ...detail, loc })),
  );
};

/**
 * The messages of a prompt: an object of a project whose value has some.
 *
 * @throws ServiceError 404 if it is not there; 422 if it is of another project, or has no messages
 */
const readPrompt = async (
  objects: Store,
  projectId: ProjectId,
  text: string,
  budget: RequestBudget,
): Promise<readonly JsonValue[]> => {
  const ref = parseRef(text);
  if (ref?.kind !== 'object' || ref.projectId !== projectId)
    throw problem(`should lead into the project ${projectId}`);
  const address = { projectId, objectId: ref.name, version: parseVersionName(ref.digest) };
  const { val } = await readObject(objects, address, budget).catch(ofPrompt);
  const value = parseJson(val);
  const messages = isJsonObject(value) && Object.hasOwn(value, 'messages') ? value.messages : null;
  if (!Array.isArray(messages)) throw problem('should lead to a prompt that has messages');
  return messages;
};

/** Puts values in the place of `{name}` in all texts of a value. What has no value stays. */
const filled = (value: unknown, values: Readonly<Record<string, unknown>>): unknown => {
  if (typeof value === 'string')
    return value.replace(/\{(\w+)\}/g, (whole, name: string) => {
      if (!Object.hasOwn(values, name)) return whole;
      const value = values[name];
      return typeof value === 'string' ? value : JSON.stringify(value);
    });
  if (Array.isArray(value)) return value.map((item) => filled(item, values));
  if (!isJsonObject(value as JsonValue)) return value;
  return Object.fromEntries(
    Object.entries(value as object).map(([key, value]) => [key, filled(value, values)]),
  );
};

/**
 * The body of a request to an upstream: the messages of the prompt, then those of the request, with
 * what they leave open filled in.
 *
 * @throws ServiceError as {@link readPrompt}; 503 when storage does not give the prompt in time
 */
export const completionBody = async (
  objects: Store,
  projectId: ProjectId,
  { body, prompt, templateVars }: CompletionInputs,
  budget: RequestBudget,
): Promise<CompletionInputs['body']> => {
  const before = prompt === null ? [] : await readPrompt(objects, projectId, prompt, budget);
  const messages = [...before, ...((body.messages as readonly unknown[] | undefined) ?? [])];
  return {
    ...body,
    messages: templateVars ? messages.map((message) => filled(message, templateVars)) : messages,
  };
};

import { once } from 'node:events';
import { request } from 'node:http';
import { request as secureRequest } from 'node:https';
import { BadSetting } from '../key.ts';
import type { LocalStore } from './store.ts';

/** The variables that name stores which run already. */
export type StoreVariable = 'AWS_ENDPOINT_URL_DYNAMODB' | 'AWS_ENDPOINT_URL_S3';

const answerMs = 5000;

const reasonOf = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error);
  if (error.name === 'AbortError') return `no answer within ${answerMs / 1000} s`;
  return 'code' in error ? String(error.code) : error.message;
};

/** Resolves once a server answers at the endpoint, whatever it says. */
const answers = async (endpoint: string, signal: AbortSignal): Promise<void> => {
  const ask = endpoint.startsWith('https:') ? secureRequest : request;
  const asking = ask(endpoint, { method: 'HEAD', agent: false, signal });
  asking.end();
  const [response] = await once(asking, 'response');
  response.resume();
};

/**
 * A store that somebody else runs, and ends.
 *
 * @param signal gives it up
 * @throws BadSetting where nothing answers at the endpoint within 5 s; the signal's reason
 */
export const externalStore = async (
  variable: StoreVariable,
  endpoint: string,
  signal: AbortSignal,
): Promise<LocalStore> => {
  try {
    await answers(endpoint, AbortSignal.any([signal, AbortSignal.timeout(answerMs)]));
  } catch (error) {
    signal.throwIfAborted();
    throw new BadSetting(
      `${variable} is ${endpoint}, where nothing answers (${reasonOf(error)}): start it, or leave ${variable} out ` +
        'to have one started',
      { cause: error },
    );
  }
  return { endpoint, stop: async () => {} };
};

/**
 * Gives what the work gives, its failure being that of a store that the operator gave.
 *
 * @param endpoint the store that was given; undefined or empty where the service has started it,
 * whose failures stay as they are
 * @throws BadSetting that names the variable
 */
export const usingExternal = async <T>(
  variable: StoreVariable,
  endpoint: string | undefined,
  work: Promise<T>,
): Promise<T> => {
  try {
    return await work;
  } catch (error) {
    if (!endpoint || !(error instanceof Error)) throw error;
    const [message] = error.message.split('\n');
    throw new BadSetting(
      `${variable} is ${endpoint}, which refused to be prepared (${error.name}: ${message}): is it the right address?`,
      { cause: error },
    );
  }
};

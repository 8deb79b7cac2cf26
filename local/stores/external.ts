import { once } from 'node:events';
import { request } from 'node:http';
import { request as secureRequest } from 'node:https';
import { BadSetting } from '../key.ts';
import type { LocalStore } from './store.ts';

/** The variables that name external stores. */
export type StoreVariable = 'AWS_ENDPOINT_URL_DYNAMODB' | 'AWS_ENDPOINT_URL_S3';

const answerMs = 5000;

const reasonOf = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error);
  if (error.name === 'AbortError') return `no answer within ${answerMs / 1000} s`;
  return 'code' in error ? String(error.code) : error.message;
};

/** Resolves when a server answers at the endpoint, whatever the answer. */
const untilAnswering = async (endpoint: string, signal: AbortSignal): Promise<void> => {
  const send = endpoint.startsWith('https:') ? secureRequest : request;
  const probe = send(endpoint, { method: 'HEAD', agent: false, signal });
  probe.end();
  const [response] = await once(probe, 'response');
  response.resume();
};

/**
 * Uses a store that the operator runs. Stopping it is left to them.
 *
 * @param signal cancels the wait
 * @throws BadSetting if nothing answers at the endpoint within 5 s; the signal's reason
 */
export const externalStore = async (
  variable: StoreVariable,
  endpoint: string,
  signal: AbortSignal,
): Promise<LocalStore> => {
  try {
    await untilAnswering(endpoint, AbortSignal.any([signal, AbortSignal.timeout(answerMs)]));
  } catch (error) {
    signal.throwIfAborted();
    throw new BadSetting(
      `${variable} is ${endpoint}, where nothing answers (${reasonOf(error)}): start it, or leave ${variable} out ` +
        'to start one',
      { cause: error },
    );
  }
  return { endpoint, stop: async () => {} };
};

/**
 * Awaits a task on a store. A failure of an external store is reported as a wrong setting.
 *
 * @param endpoint the external store; undefined or empty if the service started the store, whose
 * failures stay as they are
 * @throws BadSetting that names the variable
 */
export const usingExternal = async <T>(
  variable: StoreVariable,
  endpoint: string | undefined,
  task: Promise<T>,
): Promise<T> => {
  try {
    return await task;
  } catch (error) {
    if (!endpoint || !(error instanceof Error)) throw error;
    const [message] = error.message.split('\n');
    throw new BadSetting(
      `${variable} is ${endpoint}, which failed (${error.name}: ${message}): check the address`,
      { cause: error },
    );
  }
};

import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type Credentials, createClient, keyCredentials } from '../../../../web/api/client.ts';
import { RequestFailed } from '../../../../web/api/http.ts';

/** The answers that the service gives, one after the other; the last stays. */
let answers: number[] = [];
let sent: (string | null)[] = [];

beforeEach(() => {
  sent = [];
  vi.stubGlobal('document', { baseURI: 'https://example.com/ui/' });
  vi.stubGlobal('fetch', async (_url: URL, { headers }: RequestInit) => {
    sent.push(new Headers(headers).get('authorization'));
    const status = (answers.length > 1 ? answers.shift() : answers[0]) ?? 200;
    return new Response('{}', { status });
  });
});
afterEach(() => vi.unstubAllGlobals());

/** Credentials whose token is the number of times that they were renewed. */
const renewable = (renew: () => Promise<boolean> = async () => true) => {
  let count = 0;
  const credentials: Credentials = {
    authorize: () => `Bearer ${count}`,
    renew: async () => {
      count++;
      return renew();
    },
  };
  return credentials;
};

const ask = (credentials: Credentials, onRefused = () => {}) =>
  createClient(credentials, { onRefused }).ask('/me', undefined);

describe('a request', () => {
  it('is sent again with new credentials after a 401, once', async () => {
    answers = [401, 200];
    await ask(renewable());
    expect(sent).toEqual(['Bearer 0', 'Bearer 1']);
  });

  it('that is refused with new credentials as well tells so', async () => {
    answers = [401];
    const onRefused = vi.fn();
    await expect(ask(renewable(), onRefused)).rejects.toMatchObject({ status: 401 });
    expect(sent).toHaveLength(2);
    expect(onRefused).toHaveBeenCalledOnce();
  });

  it('with a key is sent once', async () => {
    answers = [401];
    const onRefused = vi.fn();
    await expect(ask(keyCredentials('svc_key'), onRefused)).rejects.toMatchObject({ status: 401 });
    expect(sent).toEqual([`Basic ${btoa('api:svc_key')}`]);
    expect(onRefused).toHaveBeenCalledOnce();
  });

  it('whose credentials have ended for good tells so, and is not sent again', async () => {
    answers = [401];
    const onRefused = vi.fn();
    const ended = new RequestFailed('Your session has ended. Sign in again.', 401);
    const credentials = renewable(() => Promise.reject(ended));
    await expect(ask(credentials, onRefused)).rejects.toBe(ended);
    expect(sent).toHaveLength(1);
    expect(onRefused).toHaveBeenCalledOnce();
  });

  it('whose credentials cannot be renewed now fails, and the session stays', async () => {
    answers = [401];
    const onRefused = vi.fn();
    const credentials = renewable(() => Promise.reject(new RequestFailed('Cannot reach the issuer.')));
    await expect(ask(credentials, onRefused)).rejects.toThrow('Cannot reach the issuer.');
    expect(onRefused).not.toHaveBeenCalled();
  });
});

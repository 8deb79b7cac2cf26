import { once } from 'node:events';
import { createServer as createSecureServer } from 'node:https';
import { type AddressInfo, createServer } from 'node:net';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type Outside,
  postOutside,
  type Resolve,
  Undelivered,
  urlProblem,
} from '../../../../../../core/workers/alerts/tell/post.ts';
import { requestBudget } from '../../../../../../foundations/storage/index.ts';
import { hooksExample } from '../../../../../support/service/hooks-example.ts';
import { type Behaviour, startUpstream, type TestUpstream } from '../../../../../support/service/upstream.ts';

const secret = 'T0KEN-of-this-webhook';

let receiver: TestUpstream;
beforeAll(async () => {
  receiver = await startUpstream();
});
afterAll(() => receiver[Symbol.asyncDispose]());

const local: Outside = { loopback: true };

const post = (url: string, outside: Outside = local, ms = 5000) =>
  postOutside(url, { 'content-type': 'application/json' }, '{"a":1}', outside, requestBudget(ms));

/** Posts to the receiver as it behaves, and gives what went wrong. */
const failing = async (behaviour: Behaviour, ms?: number): Promise<string> => {
  receiver.behave(behaviour);
  return catchProblem(post(`${receiver.baseUrl}/${secret}`, local, ms));
};

const catchProblem = async (posting: Promise<void>): Promise<string> => {
  const error: unknown = await posting.catch((caught: unknown) => caught);
  expect(error).toBeInstanceOf(Undelivered);
  const text = error instanceof Error ? `${error.stack} ${error.cause ?? ''}` : '';
  expect(text).not.toContain(secret);
  expect(text).not.toContain('hooks.example');
  return error instanceof Error ? error.message : '';
};

const answering =
  (status: number, headers: Record<string, string> = {}): Behaviour =>
  (_, res) =>
    res.writeHead(status, headers).end();

describe('a request to the outside', () => {
  it('brings its body and headers, and is content with any status of success', async () => {
    receiver.behave(answering(202));
    await post(`${receiver.baseUrl}/${secret}`);
    expect(receiver.last()).toMatchObject({
      method: 'POST',
      text: '{"a":1}',
      headers: { 'content-type': 'application/json', 'content-length': '7' },
    });
  });

  it('fails with the status of a receiver that fails, and goes through once that is well', async () => {
    expect(await failing(answering(500))).toBe('it answered 500');
    receiver.behave(answering(200));
    await post(receiver.baseUrl);
  });

  it('does not follow redirects', async () => {
    const before = receiver.requests.length;
    const target = `${receiver.baseUrl}/elsewhere`;
    expect(await failing(answering(307, { location: target }))).toBe(
      'it answered 307: redirects are not followed',
    );
    expect(receiver.requests).toHaveLength(before + 1);
  });

  it('waits for an answer no longer than it may', async () => {
    expect(await failing(() => undefined, 200)).toBe('it did not answer in time');
  });

  it('does not wait for the end of an answer whose status has come', async () => {
    receiver.behave((_, res) => res.writeHead(200).write('slow'));
    await post(receiver.baseUrl, local, 300);
  });

  it('breaks an answer off that does not end', async () => {
    let isBrokenOff = Promise.resolve();
    receiver.behave((request, res) => {
      isBrokenOff = request.aborted;
      res.writeHead(200);
      const chunk = Buffer.alloc(64 * 1024);
      const write = () => {
        while (res.write(chunk)) if (res.destroyed) return;
        res.once('drain', write);
      };
      write();
    });
    await post(receiver.baseUrl);
    await isBrokenOff;
  });

  it('takes no more headers than it should', async () => {
    expect(await failing(answering(200, { 'x-long': 'x'.repeat(40_000) }))).toBe(
      'the headers of its answer are too long',
    );
  });

  it('says so if nobody listens, or the connection breaks', async () => {
    const nobody = createServer().listen(0, '127.0.0.1');
    await once(nobody, 'listening');
    const { port } = nobody.address() as AddressInfo;
    nobody.close();
    await once(nobody, 'close');
    expect(await catchProblem(post(`http://127.0.0.1:${port}/${secret}`))).toMatch(
      /^no connection .*ECONNREFUSED/,
    );
    expect(await failing((_, res) => res.destroy())).toMatch(/^no connection .*ECONNRESET/);
  });
});

describe('a host', () => {
  const found =
    (...addresses: string[]): Resolve =>
    async () =>
      addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
  const url = `https://hooks.example/${secret}`;

  it.each(['127.0.0.1', '10.1.2.3', '169.254.169.254', '::1', '::ffff:127.0.0.1', 'fd00:ec2::254'])(
    'whose name leads to %s is not asked',
    async (address) => {
      expect(await catchProblem(post(url, { resolve: found(address) }))).toBe(
        'its host has an address that is not public',
      );
    },
  );

  it('with one such address among public ones is not asked either', async () => {
    const resolve = found('1.1.1.1', '10.0.0.1');
    expect(await catchProblem(post(url, { resolve }))).toBe('its host has an address that is not public');
  });

  it('is looked up once, so that it cannot lead elsewhere after it was found to be allowed', async () => {
    const answers = [['127.0.0.1'], ['10.0.0.1']];
    const resolve: Resolve = (host) => found(...(answers.shift() ?? []))(host);
    receiver.behave(answering(200));
    const { port } = new URL(receiver.baseUrl);
    await post(`http://hooks.example:${port}/`, { loopback: true, resolve });
    expect(receiver.last().headers.host).toBe(`hooks.example:${port}`);
    expect(answers).toHaveLength(1);
  });

  it('that nobody knows is no host', async () => {
    const resolve: Resolve = async () => {
      throw new Error('getaddrinfo ENOTFOUND hooks.example');
    };
    expect(await catchProblem(post(url, { resolve }))).toBe('the name of its host is not known');
  });

  it('whose name is not answered in time is given up', async () => {
    expect(await catchProblem(post(url, { resolve: () => new Promise(() => {}) }, 100))).toBe(
      'it did not answer in time',
    );
  });

  describe('with a certificate', () => {
    const server = createSecureServer(hooksExample, (_, res) => res.end());
    const trusted = getCACertificates('default');
    beforeAll(async () => {
      server.listen(0, '127.0.0.1');
      await once(server, 'listening');
    });
    afterAll(() => {
      setDefaultCACertificates(trusted);
      server.close();
    });
    const there = (host: string) => `https://${host}:${(server.address() as AddressInfo).port}/${secret}`;
    const outside = { loopback: true, resolve: found('127.0.0.1') };

    it('that nobody trusts is not told anything', async () => {
      expect(await catchProblem(post(there('hooks.example'), outside))).toMatch(
        /^its certificate is not valid/,
      );
    });

    it('of its name is asked, and of another name is not', async () => {
      setDefaultCACertificates([...trusted, hooksExample.cert]);
      await post(there('hooks.example'), outside);
      expect(await catchProblem(post(there('other.example'), outside))).toMatch(
        /^its certificate is not valid/,
      );
    });
  });
});

describe('a URL', () => {
  it.each([
    ['no URL', 'it is not a URL'],
    ['http://hooks.example/x', 'it does not begin with https://'],
    ['ftp://hooks.example/x', 'it does not begin with https://'],
    ['https://me:secret@hooks.example/x', 'it has a user or a password'],
    ['https://127.0.0.1/x', 'its address is not public'],
    ['https://2130706433/x', 'its address is not public'],
    ['https://0x7f.1/x', 'its address is not public'],
    ['https://[::ffff:169.254.169.254]/x', 'its address is not public'],
    ['https://169.254.169.254/latest/meta-data', 'its address is not public'],
  ])('%s is refused, for %s', (text, problem) => expect(urlProblem(text)).toBe(problem));

  it('is taken with https and a public host', () => {
    expect(urlProblem('https://hooks.slack.com/services/T/B/x')).toBeUndefined();
    expect(urlProblem('https://1.1.1.1:8443/x?y=z')).toBeUndefined();
  });

  it('is only on the local service one of this machine', () => {
    expect(urlProblem('http://127.0.0.1:9000/x', local)).toBeUndefined();
    expect(urlProblem('http://10.0.0.1/x', local)).toBe('its address is not public');
  });
});

import { afterEach, describe, expect, it, vi } from 'vitest';
import { newMeter } from '../../../../core/foundations/storage/index.ts';
import { ServiceError } from '../../../../core/foundations/wire/index.ts';
import { RequestLog } from '../../../../lambdas/log/index.ts';
import { startContainer } from '../../../support/container.ts';
import { linesOf } from './lines.ts';

const newLog = (Log = RequestLog) =>
  new Log(
    { message: 'request', requestId: 'request-1', route: '/call/read' },
    { awsRequestId: 'invocation-1' },
  );

afterEach(() => vi.unstubAllEnvs());

/** The class as a container has it that has just started. */
const loadAnew = async (): Promise<typeof RequestLog> => {
  const load = startContainer();
  const module = await load<{ RequestLog: typeof RequestLog }>('lambdas/log/index.ts');
  return module.RequestLog;
};

describe('the line of a request', () => {
  it('says who requested what, how it ended and what it used', async () => {
    const Log = await loadAnew();
    const [line] = await linesOf(() => {
      const log = newLog(Log);
      log.calledBy({ user: 'ada', keyId: 'key-1' });
      log.names(['acme/shop', 'acme/shop']);
      log.spends({ ...newMeter(), readUnits: 1.5, requests: 2, throttled: 1 });
      log.describes(() => ({ status: 200, rows: 7, bytes: 99, plan: { source: 'time' } }));
      log.ends('answered');
    });
    expect(line).toEqual({
      level: 'info',
      message: 'request',
      requestId: 'request-1',
      lambdaRequestId: 'invocation-1',
      coldStart: true,
      route: '/call/read',
      outcome: 'answered',
      user: 'ada',
      keyId: 'key-1',
      projects: ['acme/shop'],
      plan: { source: 'time' },
      status: 200,
      rows: 7,
      bytes: 99,
      ms: expect.any(Number),
      readUnits: 1.5,
      writeUnits: 0,
      requests: 2,
      throttled: 1,
      failed: 0,
    });
  });

  it('says cold start only for the first request of a container', async () => {
    const Anew = await loadAnew();
    const lines = await linesOf(() => {
      for (const requestId of ['1', '2'])
        new Anew({ message: 'request', requestId, route: '/' }, { awsRequestId: 'i' }).ends('answered');
    });
    expect(lines.map(({ coldStart }) => coldStart)).toEqual([true, false]);
  });

  it('has the id of its trace if Lambda traces it', async () => {
    vi.stubEnv(
      '_X_AMZN_TRACE_ID',
      'Root=1-5759e988-bd862e3fe1be46a994272793;Parent=53995c3f42cd8ad8;Sampled=1',
    );
    const [line] = await linesOf(() => newLog().ends('answered'));
    expect(line).toMatchObject({ traceId: '1-5759e988-bd862e3fe1be46a994272793' });
  });

  it('names ten projects and their number', async () => {
    const [line] = await linesOf(() => {
      const log = newLog();
      log.names(Array.from({ length: 12 }, (_, i) => `acme/${i}`));
      log.ends('answered');
    });
    expect(line?.projects).toHaveLength(10);
    expect(line?.projectCount).toBe(12);
  });

  it('is written once, whatever ends later', async () => {
    const lines = await linesOf(() => {
      const log = newLog();
      log.ends('broken', new Error('first'));
      log.ends('gone');
      log.endsIn(new Error('second'));
    });
    expect(lines).toMatchObject([{ outcome: 'broken', error: { message: 'first' } }]);
  });

  it('waits for work after the answer', async () => {
    const log = newLog();
    const release = log.hold();
    expect(await linesOf(() => log.ends('answered'))).toEqual([]);
    log.lacksRecord(new Error('no table'));
    expect(await linesOf(release)).toMatchObject([
      { level: 'error', outcome: 'answered', failed: 1, recordError: { message: 'no table' } },
    ]);
  });
});

describe('the line of a request that ends in an error', () => {
  const lineOf = async (error: unknown) => (await linesOf(() => newLog().endsIn(error)))[0];

  it('is of level info for the caller’s mistakes, with only the kinds and places of the problems', async () => {
    const detail = [{ loc: ['body', 'limit'], msg: 'should be an integer, not secret', type: 'int_type' }];
    const line = await lineOf(new ServiceError(422, detail));
    expect(line).toMatchObject({
      level: 'info',
      outcome: 'refused',
      status: 422,
      failed: 0,
      errors: [{ type: 'int_type', loc: 'body.limit' }],
    });
    expect(JSON.stringify(line)).not.toContain('secret');
  });

  it.each([
    [503, new ServiceError(503, [{ loc: ['storage'], msg: 'not in time', type: 'storage_unavailable' }])],
    [500, new TypeError('what nobody foresaw')],
  ])('is of level error for the service’s failures: %i', async (status, error) => {
    expect(await lineOf(error)).toMatchObject({
      level: 'error',
      outcome: 'failed',
      status,
      failed: 1,
      error: { name: error.name, message: error.message, stack: expect.stringMatching(/^ {4}at /) },
    });
  });

  it('is of level warn if the caller’s own time was up', async () => {
    const detail = [{ loc: ['upstream'], msg: 'no answer within 0.1 s', type: 'timeout' }];
    const timeout = new ServiceError(504, detail, { isCallersTimeout: true });
    expect(await lineOf(timeout)).toMatchObject({
      level: 'warn',
      outcome: 'timed_out',
      status: 504,
      failed: 0,
      error: { message: 'no answer within 0.1 s' },
    });
    expect(await lineOf(new ServiceError(504, detail))).toMatchObject({ level: 'error', outcome: 'failed' });
  });

  it('has the causes of the error', async () => {
    const error = new Error('outer', { cause: new Error('inner', { cause: 'unprocessed items' }) });
    expect(await lineOf(error)).toMatchObject({
      error: { cause: { message: 'inner', cause: { message: 'unprocessed items' } } },
    });
  });
});

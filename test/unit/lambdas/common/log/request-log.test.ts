import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import { newMeter } from '../../../../../foundations/storage/index.ts';
import { ServiceError } from '../../../../../foundations/wire/index.ts';
import { RequestLog, toLoggedError, toProblems } from '../../../../../lambdas/common/log/request-log.ts';
import { startContainer } from '../../../../support/service/container.ts';

/** The lines that a piece of work writes to standard output, parsed. */
const captureLines = async (work: () => unknown): Promise<Record<string, unknown>[]> => {
  const lines: string[] = [];
  const write = vi.spyOn(process.stdout, 'write').mockImplementation((line) => lines.push(String(line)) > 0);
  try {
    await work();
  } finally {
    write.mockRestore();
  }
  return lines.map((line) => JSON.parse(line));
};

const newLog = (Log = RequestLog) =>
  new Log(
    { message: 'request', requestId: 'request-1', route: '/call/read' },
    { awsRequestId: 'invocation-1' },
  );

afterEach(() => vi.unstubAllEnvs());

/** The class as a container has it that has just started. */
const loadAnew = async (): Promise<typeof RequestLog> => {
  const load = startContainer();
  const module = await load<{ RequestLog: typeof RequestLog }>('lambdas/common/log/request-log.ts');
  return module.RequestLog;
};

describe('the line of a request', () => {
  it('says who requested what, how it ended and what it used', async () => {
    const Log = await loadAnew();
    const [line] = await captureLines(() => {
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
    const lines = await captureLines(() => {
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
    const [line] = await captureLines(() => newLog().ends('answered'));
    expect(line).toMatchObject({ traceId: '1-5759e988-bd862e3fe1be46a994272793' });
  });

  it('names ten projects and their number', async () => {
    const [line] = await captureLines(() => {
      const log = newLog();
      log.names(Array.from({ length: 12 }, (_, i) => `acme/${i}`));
      log.ends('answered');
    });
    expect(line?.projects).toHaveLength(10);
    expect(line?.projectCount).toBe(12);
  });

  it('is written once, whatever ends later', async () => {
    const lines = await captureLines(() => {
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
    expect(await captureLines(() => log.ends('answered'))).toEqual([]);
    log.lacksRecord(new Error('no table'));
    expect(await captureLines(release)).toMatchObject([
      { level: 'error', outcome: 'answered', failed: 1, recordError: { message: 'no table' } },
    ]);
  });
});

describe('the line of a request that ends in an error', () => {
  const captureLine = async (error: unknown) => (await captureLines(() => newLog().endsIn(error)))[0];

  it('is of level info for the caller’s mistakes, with only the kinds and places of the problems', async () => {
    const detail = [{ loc: ['body', 'limit'], msg: 'should be an integer, not secret', type: 'int_type' }];
    const line = await captureLine(new ServiceError(422, detail));
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
    expect(await captureLine(error)).toMatchObject({
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
    expect(await captureLine(timeout)).toMatchObject({
      level: 'warn',
      outcome: 'timed_out',
      status: 504,
      failed: 0,
      error: { message: 'no answer within 0.1 s' },
    });
    expect(await captureLine(new ServiceError(504, detail))).toMatchObject({
      level: 'error',
      outcome: 'failed',
    });
  });

  it('has the causes of the error', async () => {
    const error = new Error('outer', { cause: new Error('inner', { cause: 'unprocessed items' }) });
    expect(await captureLine(error)).toMatchObject({
      error: { cause: { message: 'inner', cause: { message: 'unprocessed items' } } },
    });
  });
});

/** What a log gets to see and must not say. */
const canary = 'canary-7f3a';

const written = (error: unknown): string => {
  const write = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
  const subject = { message: 'request', requestId: 'r', route: '/call/read' } as const;
  new RequestLog(subject, { awsRequestId: 'i' }).endsIn(error);
  return String(write.mock.lastCall?.[0]);
};
afterEach(() => vi.restoreAllMocks());

const parseFailure = (): unknown => {
  try {
    return JSON.parse(`{"prompt": ${canary}}`);
  } catch (error) {
    return error;
  }
};

describe('the log of an error', () => {
  it('is one line of JSON with its name, message and stack, and those of its causes', () => {
    const cause = new RangeError('too far');
    const { error } = JSON.parse(written(new Error('no way', { cause })));
    expect(error).toMatchObject({
      name: 'Error',
      message: 'no way',
      cause: { name: 'RangeError', message: 'too far' },
    });
    expect(error.stack).toContain('request-log.test.ts');
    expect(written(cause)).toMatch(/^[^\n]*\n$/);
  });

  it('omits the item, request or response that an SDK attaches to it', () => {
    const extras = {
      Item: { b: canary },
      $response: { body: canary },
      input: canary,
      CancellationReasons: [canary],
    };
    const error = Object.assign(new Error('The conditional request failed'), extras);
    expect(written(error)).not.toContain(canary);
    expect(written(new Error('outer', { cause: error }))).not.toContain(canary);
  });

  it('omits a text that does not parse, which the error quotes', () => {
    const error = parseFailure();
    expect(String(error)).toContain(canary.slice(0, 4));
    const line = written(error);
    expect(line).not.toContain('canary');
    expect(JSON.parse(line).error).toMatchObject({
      name: 'SyntaxError',
      stack: expect.stringContaining('request-log.test.ts'),
    });
    expect(written(new Error('outer', { cause: error }))).not.toContain('canary');
  });
});

const getLoc = (type: string, ...loc: string[]) =>
  toProblems([{ loc, msg: 'quotes the body', type }])[0]?.loc;

describe('the place of a problem', () => {
  it('is its steps, with dots', () => {
    expect(getLoc('missing', 'body', 'batch', '3', 'req', 'start', 'op_name')).toBe(
      'body.batch.3.req.start.op_name',
    );
    expect(getLoc('list_type', 'body', 'query', '$expr', '$and')).toBe('body.query.$expr.$and');
    expect(getLoc('value_error', 'body', 'query', '$expr', '$eq', '0', '$getField')).toBe(
      'body.query.$expr.$eq.0.$getField',
    );
  });

  it.each([
    ['a field that there is none of', 'body.start.*', ['extra_forbidden', 'body', 'start', 'ssn_078051120']],
    ['a model', 'body.costs.*.prompt_token_cost', ['missing', 'body', 'costs', 'gpt', 'prompt_token_cost']],
    [
      'an operator that there is none of',
      'body.query.$expr.*',
      ['value_error', 'body', 'query', '$expr', 'secret'],
    ],
    [
      'a header for an upstream',
      'body.extra_headers.*',
      ['value_error', 'body', 'extra_headers', 'sk-proj-abcdef0123456789'],
    ],
    ['what no name of the service looks like', 'body.*', ['missing', 'body', 'my secret']],
    ['a key', 'body.*', ['missing', 'body', `svc_0123456789abcdef_${'0'.repeat(64)}`]],
  ] as const)('does not have %s in it', (_, expected, [type, ...loc]) => {
    expect(getLoc(type, ...loc)).toBe(expected);
  });
});

describe('problems', () => {
  it('beyond the tenth are left out', () => {
    const detail = { loc: ['body'], msg: '', type: 'missing' };
    expect(toProblems(Array.from({ length: 11 }, () => detail))).toHaveLength(10);
  });
});

describe('an error', () => {
  it('that is no Error is not told: it may be anything', () => {
    expect(toLoggedError('a payload')).toEqual({ name: 'unknown', message: 'string' });
  });
});

/**
 * The schema that AWS publishes for validating documents of the embedded metric format, without its
 * titles and examples
 * (https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch_Embedded_Metric_Format_Specification.html).
 */
const published: Parameters<typeof z.fromJSONSchema>[0] = {
  type: 'object',
  required: ['_aws'],
  properties: {
    _aws: {
      type: 'object',
      required: ['Timestamp', 'CloudWatchMetrics'],
      properties: {
        Timestamp: { type: 'integer' },
        CloudWatchMetrics: {
          type: 'array',
          items: {
            type: 'object',
            required: ['Namespace', 'Dimensions', 'Metrics'],
            properties: {
              Namespace: { type: 'string', pattern: '^(.*)$', minLength: 1, maxLength: 1024 },
              Dimensions: {
                type: 'array',
                minItems: 1,
                items: {
                  type: 'array',
                  minItems: 0,
                  maxItems: 30,
                  items: { type: 'string', pattern: '^(.*)$', minLength: 1, maxLength: 250 },
                },
              },
              Metrics: {
                type: 'array',
                items: {
                  type: 'object',
                  required: ['Name'],
                  properties: {
                    Name: { type: 'string', pattern: '^(.*)$', minLength: 1, maxLength: 1024 },
                    Unit: {
                      type: 'string',
                      pattern:
                        '^(Seconds|Microseconds|Milliseconds|Bytes|Kilobytes|Megabytes|Gigabytes|Terabytes|Bits|Kilobits|Megabits|Gigabits|Terabits|Percent|Count|Bytes\\/Second|Kilobytes\\/Second|Megabytes\\/Second|Gigabytes\\/Second|Terabytes\\/Second|Bits\\/Second|Kilobits\\/Second|Megabits\\/Second|Gigabits\\/Second|Terabits\\/Second|Count\\/Second|None)$',
                    },
                    StorageResolution: { type: 'integer' },
                  },
                },
              },
            },
          },
        },
      },
    },
  },
};

const document = z.fromJSONSchema(published);

const lineWith = async (namespace: string | undefined) => {
  vi.stubEnv('METRICS_NAMESPACE', namespace);
  const subject = { message: 'request', requestId: 'r', route: '/call/read' } as const;
  const [line] = await captureLines(() => new RequestLog(subject, { awsRequestId: 'i' }).ends('answered'));
  return line ?? {};
};

afterEach(() => vi.unstubAllEnvs());

describe('a log line', () => {
  it('has no metrics if its route has none', async () => {
    expect(await lineWith(undefined)).not.toHaveProperty('_aws');
  });

  it('is a document of the embedded metric format if its route has metrics', async () => {
    expect(document.safeParse(await lineWith('Pennytrace')).error).toBeUndefined();
    expect(document.safeParse(await lineWith(undefined)).success).toBe(false);
  });

  it('has a number for each metric and a text for each dimension, as the specification requires', async () => {
    const line = await lineWith('Pennytrace');
    const { _aws } = line as { _aws: { CloudWatchMetrics: { Metrics: { Name: string }[] }[] } };
    const [directive] = _aws.CloudWatchMetrics;
    expect(directive).toEqual({
      Namespace: 'Pennytrace',
      Dimensions: [['route']],
      Metrics: [
        { Name: 'ms', Unit: 'Milliseconds' },
        { Name: 'failed', Unit: 'Count' },
        { Name: 'throttled', Unit: 'Count' },
        { Name: 'rows', Unit: 'Count' },
        { Name: 'readUnits', Unit: 'Count' },
        { Name: 'writeUnits', Unit: 'Count' },
      ],
    });
    expect(line.route).toBe('/call/read');
    for (const { Name } of directive?.Metrics ?? []) expect(line[Name]).toEqual(expect.any(Number));
  });

  it('has its time in milliseconds', async () => {
    const { _aws } = (await lineWith('Pennytrace')) as { _aws: { Timestamp: number } };
    expect(Math.abs(Date.now() - _aws.Timestamp)).toBeLessThan(60_000);
  });
});

const root = resolve(import.meta.dirname, '../../../../..');
const read = (path: string) => readFileSync(join(root, path), 'utf8');

it('docs/operations.md has every field of a log line, in order, and no other', () => {
  const [, interfaceBody = ''] =
    /interface LineFields \{(.*?)\n\}/s.exec(read('lambdas/common/log/request-log.ts')) ?? [];
  const fields = [...interfaceBody.matchAll(/^ {2}readonly (\w+)\??:/gm)].map(([, name]) => name);
  const [, logs = ''] = /\n## Logs\n(.*?)\n### /s.exec(read('docs/operations.md')) ?? [];
  const rows = [...logs.matchAll(/^\| (`[^|]*) \|/gm)].flatMap(([, names = '']) => names.match(/\w+/g) ?? []);
  expect(rows).toEqual([...fields, '_aws']);
});

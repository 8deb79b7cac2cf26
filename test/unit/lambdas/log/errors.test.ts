import { afterEach, describe, expect, it, vi } from 'vitest';
import { RequestLog } from '../../../../lambdas/log/index.ts';

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
    expect(error.stack).toContain('errors.test.ts');
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
      stack: expect.stringContaining('errors.test.ts'),
    });
    expect(written(new Error('outer', { cause: error }))).not.toContain('canary');
  });
});

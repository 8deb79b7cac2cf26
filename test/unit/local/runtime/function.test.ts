import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { collect } from '../../../../local/gateway/answer.ts';
import { type Concurrency, LambdaFunction } from '../../../../local/runtime/function.ts';

let folder: string;
let functions: LambdaFunction[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'pennytrace-function-'));
});
afterEach(async () => {
  await Promise.all(functions.map((lambda) => lambda.kill()));
  functions = [];
  rmSync(folder, { recursive: true });
});

const make = (concurrency: Concurrency): LambdaFunction => {
  const lambda = new LambdaFunction(
    {
      spec: {
        name: 'plain',
        arn: 'arn:plain',
        folder: join(import.meta.dirname, '../../../support/fixtures/plain'),
        handler: 'index.handler',
        environment: {},
        timeoutSeconds: 10,
        memoryMb: 128,
      },
      environment: {},
      log: () => {},
    },
    concurrency,
  );
  functions.push(lambda);
  return lambda;
};

const never = new AbortController().signal;

const count = async (lambda: LambdaFunction, signal = never): Promise<number> => {
  const answer = JSON.parse(await collect(await lambda.invoke('{"body":"count"}', signal)));
  return Number(answer.body);
};

/** Keeps one worker busy until it is released. */
const occupy = async (lambda: LambdaFunction) => {
  const [started, released] = [join(folder, `${Math.random()}`), join(folder, `${Math.random()}`)];
  const headers = { 'x-note': started, 'x-other-note': released };
  const answer = lambda.invoke(JSON.stringify({ body: 'meet', headers }), never).then(collect);
  await expect.poll(() => existsSync(started)).toBe(true);
  return {
    answer,
    release: async () => {
      writeFileSync(released, '');
      await answer;
    },
  };
};

describe('a function', () => {
  it('keeps its process from one invocation to the next', async () => {
    const lambda = make({ maxWorkers: 4, maxWaiting: 4 });
    expect(await count(lambda)).toBe(1);
    expect(await count(lambda)).toBe(2);
  });

  it('queues invocations while all its workers are busy', async () => {
    const lambda = make({ maxWorkers: 1, maxWaiting: 4 });
    const { release } = await occupy(lambda);
    const waiting = [count(lambda), count(lambda)];
    await release();
    expect(await Promise.all(waiting)).toEqual([2, 3]);
  });

  it('refuses invocations while its queue is full', async () => {
    const lambda = make({ maxWorkers: 1, maxWaiting: 1 });
    const { release } = await occupy(lambda);
    const waiting = count(lambda);
    await expect(count(lambda)).rejects.toThrow('plain is busy: 1 invocations are in its queue');
    await release();
    await waiting;
  });

  it('drops queued invocations whose callers have gone', async () => {
    const lambda = make({ maxWorkers: 1, maxWaiting: 1 });
    const { release } = await occupy(lambda);
    const gone = new AbortController();
    const abandoned = count(lambda, gone.signal);
    gone.abort(new Error('gone'));
    await expect(abandoned).rejects.toThrow('gone');
    const waiting = count(lambda);
    await release();
    expect(await waiting).toBe(2);
  });

  it('serves queued invocations with a new process when its own is killed', async () => {
    const lambda = make({ maxWorkers: 1, maxWaiting: 1 });
    await count(lambda);
    const { answer } = await occupy(lambda);
    const failed = expect(answer).rejects.toThrow('a test');
    const waiting = count(lambda);
    await lambda.kill('a test');
    await failed;
    expect(await waiting).toBe(1);
  });
});

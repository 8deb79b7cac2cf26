import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { collect } from '../../src/gateway/answer.ts';
import { type Concurrency, LambdaFunction, WorkerPool } from '../../src/runtime/functions.ts';

let folder: string;
let functions: LambdaFunction[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'function-'));
});
afterEach(async () => {
  await Promise.all(functions.map((lambda) => lambda.kill()));
  functions = [];
  rmSync(folder, { recursive: true });
});

const make = (concurrency: Concurrency, pool?: WorkerPool): LambdaFunction => {
  const lambda = new LambdaFunction(
    {
      spec: {
        name: 'plain',
        arn: 'arn:plain',
        folder: join(import.meta.dirname, '../fixtures/plain'),
        handler: 'index.handler',
        environment: {},
        timeoutSeconds: 10,
        memoryMb: 128,
      },
      environment: {},
      log: () => {},
    },
    concurrency,
    pool,
  );
  functions.push(lambda);
  return lambda;
};

const never = new AbortController().signal;

const ask = async (lambda: LambdaFunction, body: string, signal = never): Promise<string> =>
  JSON.parse(await collect(await lambda.invoke(JSON.stringify({ body }), signal))).body;

const count = async (lambda: LambdaFunction, signal = never): Promise<number> =>
  Number(await ask(lambda, 'count', signal));

/** Keeps one worker busy until it is released. */
const occupy = async (lambda: LambdaFunction) => {
  const started = join(folder, `${Math.random()}`);
  const released = join(folder, `${Math.random()}`);
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

describe('the workers of all functions', () => {
  const concurrency = { maxWorkers: 4, maxWaiting: 4 };
  const long = 3_600_000;
  const readers = { maxHeld: 0, stalledMs: long, trimMs: long };

  it('retire when they are idle, the last of a function later', async () => {
    const pool = new WorkerPool({ ...readers, maxWorkers: 8, idleMs: 20, lastIdleMs: long });
    const lambda = make(concurrency, pool);
    const busy = await Promise.all([occupy(lambda), occupy(lambda)]);
    expect(pool.size).toBe(2);
    for (const { release } of busy) await release();
    await expect.poll(() => pool.size).toBe(1);
    expect(lambda.busy).toBe(false);
    expect(await count(lambda)).toBe(2);
  });

  it('become more than the quick ones when an invocation has waited for a while', async () => {
    const limits = { ...readers, quickWorkers: 1, maxWorkers: 2, idleMs: long, lastIdleMs: long };
    const pool = new WorkerPool(limits);
    const lambda = make(concurrency, pool);
    const { release } = await occupy(lambda);
    expect(pool.enter(false, 0)).toBe(false);
    expect(await count(lambda)).toBe(1);
    expect(pool.size).toBe(2);
    await release();
  });

  it('retire soon if there are more than the quick ones, but for the last of a function', async () => {
    const limits = { ...readers, quickWorkers: 1, maxWorkers: 8, idleMs: long, lastIdleMs: long };
    const pool = new WorkerPool({ ...limits, trimMs: 20 });
    const lambda = make(concurrency, pool);
    const busy = await Promise.all([occupy(lambda), occupy(lambda)]);
    expect(pool.size).toBe(2);
    for (const { release } of busy) await release();
    await expect.poll(() => pool.size).toBe(1);
    expect(await count(lambda)).toBe(2);
  });

  it('make room for those of other functions if there are more than the quick ones', async () => {
    const limits = { ...readers, quickWorkers: 2, maxWorkers: 8, idleMs: long, lastIdleMs: long };
    const pool = new WorkerPool(limits);
    const one = make(concurrency, pool);
    const other = make(concurrency, pool);
    const busy = await Promise.all([occupy(one), occupy(one)]);
    for (const { release } of busy) await release();
    expect(pool.size).toBe(2);
    expect(await count(other)).toBe(1);
    expect(pool.size).toBe(2);
    expect(await count(one)).toBe(2);
  });

  it('retire all of them in the end', async () => {
    const pool = new WorkerPool({ ...readers, maxWorkers: 8, idleMs: 1, lastIdleMs: 1 });
    const lambda = make(concurrency, pool);
    expect(await count(lambda)).toBe(1);
    await expect.poll(() => pool.size).toBe(0);
    expect(await count(lambda)).toBe(1);
  });

  it('make room for those of other functions', async () => {
    const pool = new WorkerPool({ ...readers, maxWorkers: 1, idleMs: long, lastIdleMs: long });
    const one = make(concurrency, pool);
    const other = make(concurrency, pool);
    expect(await count(one)).toBe(1);
    expect(await count(other)).toBe(1);
    expect(await count(one)).toBe(1);
    expect(pool.size).toBe(1);
  });

  it('are too many only for a function that has none, and only while it needs one', async () => {
    const pool = new WorkerPool({ ...readers, maxWorkers: 1, idleMs: long, lastIdleMs: long });
    const one = make(concurrency, pool);
    const other = make(concurrency, pool);
    const { release } = await occupy(one);
    expect(await count(other)).toBe(1);
    expect(pool.size).toBe(1);
    const waiting = count(one);
    await release();
    expect(await waiting).toBe(2);
  });

  it('give back the memory of their invocations when they are idle', async () => {
    const limits = { ...readers, maxWorkers: 1, idleMs: long, lastIdleMs: long };
    const lambda = make(concurrency, new WorkerPool({ ...limits, trimMs: 1 }));
    const heapMb = async () => Number(await ask(lambda, 'heap')) / 1024 ** 2;
    const atFirst = await heapMb();
    await ask(lambda, 'litter');
    expect(await heapMb()).toBeGreaterThan(atFirst + 12);
    // Many questions would make V8 collect what they leave.
    await expect.poll(heapMb, { interval: 500 }).toBeLessThan(atFirst + 4);
  });

  it('do not show functions what they collect garbage with', async () => {
    expect(await ask(make(concurrency), 'shows a collector')).toBe('undefined');
  });

  it('no longer count when they were killed', async () => {
    const pool = new WorkerPool({ ...readers, maxWorkers: 1, idleMs: long, lastIdleMs: long });
    const lambda = make(concurrency, pool);
    for (let i = 0; i < 3; i += 1) {
      expect(await count(lambda)).toBe(1);
      await lambda.kill();
      expect([pool.size, lambda.busy]).toEqual([0, false]);
    }
  });
});

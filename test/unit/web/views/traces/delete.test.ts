import { describe, expect, it } from 'vitest';
import { RequestFailed } from '../../../../../web/api/http.ts';
import {
  countedCalls,
  type Deletion,
  deleteCalls,
  rootsAmong,
} from '../../../../../web/views/traces/delete.ts';

const project = 'acme/shop';
const calls = Array.from({ length: 120 }, (_, at) => `call-${at}`);

/** A service that answers each request as it is told. */
const scripted = (...answers: (Error | undefined)[]) => {
  const asked: number[] = [];
  const ask = async (_path: string, { call_ids }: { call_ids: string[] }) => {
    asked.push(call_ids.length);
    const answer = answers.shift();
    if (answer) throw answer;
    return { num_deleted: call_ids.length };
  };
  return { asked, client: { ask } as unknown as Deletion['client'] };
};

const run = async (service: ReturnType<typeof scripted>, more: Partial<Deletion> = {}) => {
  const deleted: number[] = [];
  const { signal } = new AbortController();
  const work = deleteCalls({
    client: service.client,
    project,
    calls,
    signal,
    pauseMs: 0,
    onDeleted: (ids) => deleted.push(ids.length),
    ...more,
  });
  return {
    deleted,
    failure: await work.then(
      () => undefined,
      (error: unknown) => error,
    ),
  };
};

const busy = new RequestFailed('busy', 503);

describe('calls are deleted', () => {
  it('in batches, each told once it is gone', async () => {
    const service = scripted();
    expect(await run(service)).toEqual({ deleted: [50, 50, 20], failure: undefined });
    expect(service.asked).toEqual([50, 50, 20]);
  });

  it('by the same request again while the service is busy, four times at most', async () => {
    const service = scripted(undefined, busy, busy, busy);
    expect((await run(service)).deleted).toEqual([50, 50, 20]);
    expect(service.asked).toEqual([50, 50, 50, 50, 50, 20]);
    const broken = scripted(busy, busy, busy, busy);
    expect(await run(broken)).toEqual({ deleted: [], failure: busy });
    expect(broken.asked).toEqual([50, 50, 50, 50]);
  });

  it('no further than the first batch that cannot be', async () => {
    const refused = new RequestFailed('no', 403);
    const service = scripted(undefined, refused);
    expect(await run(service)).toEqual({ deleted: [50], failure: refused });
    expect(service.asked).toEqual([50, 50]);
  });

  it('until somebody stops it, after the batch that is under way', async () => {
    const ending = new AbortController();
    const service = scripted();
    const told: number[] = [];
    await run(service, {
      signal: ending.signal,
      onDeleted: (ids) => {
        told.push(ids.length);
        ending.abort();
      },
    });
    expect([told, service.asked]).toEqual([[50], [50]]);
  });
});

describe('what is deleted', () => {
  const row = (id: string, parent_id: string | null) => ({ id, parent_id, trace_id: id }) as never;

  it('is called traces if the list has all of them as roots', () => {
    const rows = [row('a', null), row('b', null), row('c', 'a')];
    expect(countedCalls(['a', 'b'], rows)).toBe('2 traces');
    expect(countedCalls(['a'], rows)).toBe('1 trace');
    expect(countedCalls(['a', 'c'], rows)).toBe('2 calls');
    expect(countedCalls(['a', 'elsewhere'], rows)).toBe('2 calls');
    expect(rootsAmong(['b'], rows)).toEqual([rows[1]]);
  });
});

import { describe, expect, it } from 'vitest';
import {
  fromMessage,
  type Job,
  type JobQueue,
  putBack,
  sendJobs,
} from '../../../../../core/workers/evaluators/index.ts';
import { requestBudget } from '../../../../../foundations/storage/index.ts';
import { type ProjectId, parseProjectId } from '../../../../../foundations/wire/index.ts';

const project = (text: string): ProjectId => parseProjectId(text) ?? expect.fail(text);
const job = (fields: Partial<Job> = {}): Job => ({
  projectId: project('acme/a'),
  callId: 'c',
  objectId: 'e',
  digest: 'd',
  isAsked: false,
  ...fields,
});

interface Entry {
  readonly MessageBody: string;
  readonly MessageGroupId: string;
  readonly DelaySeconds?: number;
}

/** What work puts into a queue. */
const queued = async (work: (queue: JobQueue) => Promise<void>): Promise<Entry[]> => {
  const entries: Entry[] = [];
  const send = async ({ input }: { input: { Entries: Entry[] } }) => {
    expect(input.Entries.length).toBeLessThanOrEqual(10);
    entries.push(...input.Entries);
    return {};
  };
  await work({ url: 'u', client: async () => ({ send }) as never });
  return entries;
};

/** What jobs are in the queue. */
const sent = (jobs: readonly Job[]): Promise<Entry[]> =>
  queued((queue) => sendJobs(queue, jobs, requestBudget(1000)));

describe('a message of jobs', () => {
  it('has those of one project and delay, ten at most, and names the project to the queue', async () => {
    const other = project('acme/b');
    const jobs = [
      ...Array.from({ length: 12 }, (_, i) => job({ callId: `c${i}` })),
      job({ projectId: other, isAsked: true }),
      job({ delaySeconds: 5 }),
      job({ projectId: other, callId: 'c2' }),
    ];
    const entries = await sent(jobs);
    expect(
      entries.map(({ MessageBody, DelaySeconds }) => [fromMessage(MessageBody).jobs.length, DelaySeconds]),
    ).toEqual([
      [10, undefined],
      [2, undefined],
      [1, 5],
      [2, undefined],
    ]);
    for (const { MessageBody } of entries)
      expect(new Set(fromMessage(MessageBody).jobs.map(({ projectId }) => projectId)).size).toBe(1);
    const groups = entries.map(({ MessageGroupId }) => MessageGroupId);
    expect(groups.slice(0, 3)).toEqual(Array(3).fill(groups[0]));
    expect(groups[3]).not.toBe(groups[0]);
    for (const group of groups) expect(group).toMatch(/^[0-9a-f]{1,128}$/);
    const back = entries.flatMap(({ MessageBody }) => fromMessage(MessageBody).jobs);
    const plain = jobs.map(({ delaySeconds: _, ...rest }) => rest);
    expect(back).toHaveLength(plain.length);
    expect(back).toEqual(expect.arrayContaining(plain));
  });

  it('of a release that had one job a message is read', () => {
    const body = { project_id: 'acme/a', call_id: 'c', object_id: 'e', digest: 'd', is_asked: true };
    expect(fromMessage(JSON.stringify(body)).jobs).toEqual([job({ isAsked: true })]);
    expect(() => fromMessage('{"project_id": "acme/a"}')).toThrow();
  });
});

describe('a message that is put back', () => {
  const putBackOnce = async (waits: number) => {
    const message = { projectId: project('acme/a'), jobs: [job({ isAsked: true })], tries: 2, waits };
    const [entry, ...others] = await queued((queue) => putBack(queue, message, requestBudget(1000)));
    expect(others).toEqual([]);
    return entry ?? expect.fail('nothing was sent');
  };

  it('is as it was, with its tries and one wait more', async () => {
    const { MessageBody } = await putBackOnce(3);
    expect(fromMessage(MessageBody)).toEqual({
      projectId: 'acme/a',
      jobs: [job({ isAsked: true })],
      tries: 2,
      waits: 4,
    });
  });

  it.each([
    [0, 3, 5],
    [1, 5, 10],
    [4, 40, 80],
    [8, 450, 900],
    [2000, 450, 900],
  ])('waits longer each time, at most as long as SQS lets it: after %i times', async (waits, least, most) => {
    for (let i = 0; i < 20; i++) {
      const { DelaySeconds } = await putBackOnce(waits);
      expect(DelaySeconds).toBeGreaterThanOrEqual(least);
      expect(DelaySeconds).toBeLessThanOrEqual(most);
    }
  });
});

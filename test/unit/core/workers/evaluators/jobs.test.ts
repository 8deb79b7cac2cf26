import { describe, expect, it } from 'vitest';
import { fromMessage, type Job, sendJobs } from '../../../../../core/workers/evaluators/index.ts';
import { requestBudget } from '../../../../../foundations/storage/index.ts';
import { type ProjectId, parseProjectId } from '../../../../../foundations/wire/index.ts';

const project = (text: string): ProjectId => parseProjectId(text) ?? expect.fail(text);
const job = (fields: Partial<Job> = {}): Job => ({
  ...{ projectId: project('acme/a'), callId: 'c', objectId: 'e', digest: 'd', isAsked: false },
  ...fields,
});

interface Entry {
  readonly MessageBody: string;
  readonly MessageGroupId: string;
  readonly DelaySeconds?: number;
}

/** What jobs are in the queue. */
const sent = async (jobs: readonly Job[]): Promise<Entry[]> => {
  const entries: Entry[] = [];
  const send = async ({ input }: { input: { Entries: Entry[] } }) => {
    expect(input.Entries.length).toBeLessThanOrEqual(10);
    entries.push(...input.Entries);
    return {};
  };
  await sendJobs({ url: 'u', client: async () => ({ send }) as never }, jobs, requestBudget(1000));
  return entries;
};

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
      entries.map(({ MessageBody, DelaySeconds }) => [fromMessage(MessageBody).length, DelaySeconds]),
    ).toEqual([
      [10, undefined],
      [2, undefined],
      [1, 5],
      [2, undefined],
    ]);
    for (const { MessageBody } of entries)
      expect(new Set(fromMessage(MessageBody).map(({ projectId }) => projectId)).size).toBe(1);
    const groups = entries.map(({ MessageGroupId }) => MessageGroupId);
    expect(groups.slice(0, 3)).toEqual(Array(3).fill(groups[0]));
    expect(groups[3]).not.toBe(groups[0]);
    for (const group of groups) expect(group).toMatch(/^[0-9a-f]{1,128}$/);
    const back = entries.flatMap(({ MessageBody }) => fromMessage(MessageBody));
    const plain = jobs.map(({ delaySeconds: _, ...rest }) => rest);
    expect(back).toHaveLength(plain.length);
    expect(back).toEqual(expect.arrayContaining(plain));
  });

  it('of a release that had one job a message is read', () => {
    const body = { project_id: 'acme/a', call_id: 'c', object_id: 'e', digest: 'd', is_asked: true };
    expect(fromMessage(JSON.stringify(body))).toEqual([job({ isAsked: true })]);
    expect(() => fromMessage('{"project_id": "acme/a"}')).toThrow();
  });
});

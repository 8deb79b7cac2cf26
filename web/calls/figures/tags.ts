import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { CallRow } from '../../api/calls.ts';
import type { CallFeedback } from '../../api/contract.ts';
import { getFeedback, tagIn, tagType } from '../../api/feedback.ts';
import { toChunks } from '../../data/values.ts';
import { ranges, type TracesSearch } from '../../navigation/search.ts';
import { type Reading, readAgain, useRead, useSession } from '../../session/session.tsx';
import { readRows } from '../data.ts';
import { saidPath, scoreText } from '../scores.ts';
import { whole } from './requests.ts';

/** When what is counted for the filters of a list begins: seven days ago, unless the list says it. */
export const countedFrom = ({ range, from }: Pick<TracesSearch, 'range' | 'from'>, now: number): string =>
  new Date(!range && from ? Date.parse(from) : now - ranges[range ?? '7d'] * 60_000).toISOString();

/** The types of feedback since a moment, with how many records are of each. */
export const readTypes = async (
  { client, signal }: Reading,
  project: string,
  since: string,
): Promise<ReadonlyMap<string, number>> => {
  const { buckets } = await client.ask(
    '/feedback/stats',
    { project_id: project, start: since, granularity: whole, group_by: ['feedback_type'] },
    signal,
  );
  return new Map(
    buckets.flatMap(({ feedback_type: type, count }) =>
      typeof type === 'string' ? [[type, Number(count)]] : [],
    ),
  );
};

/** The scores that a project has had in the time of a list: their paths, with what they are called. */
export const useScorePaths = (search: Pick<TracesSearch, 'project' | 'range' | 'from'>) => {
  const { project, range, from } = search;
  const { data } = useRead(['values of feedback', project, range, from], (reading) =>
    readTypes(reading, project, countedFrom(search, Date.now())),
  );
  return [...(data?.keys() ?? [])]
    .filter((type) => tagIn(type) === undefined && !type.includes(']'))
    .map((type): [path: string, text: string] => [saidPath(type), scoreText({ type, field: 'value' })])
    .toSorted(([, a], [, b]) => a.localeCompare(b));
};

/** How many calls are read, tagged or deleted at once. */
const atOnce = 100;

/** The records by which people have tagged calls, by the id of the call. */
const readTags = async (reading: Reading, project: string, calls: readonly string[]) => {
  const found = new Map<string, readonly CallFeedback[]>();
  for (const call_ids of toChunks(calls, atOnce)) {
    const rows: CallRow[] = await readRows(reading, {
      project_id: project,
      filter: { call_ids },
      columns: ['id'],
      include_feedback: true,
    });
    for (const row of rows)
      found.set(
        row.id,
        getFeedback(row).filter(({ feedback_type }) => tagIn(feedback_type) !== undefined),
      );
  }
  return found;
};

/** A tag of people, and how many of some calls have it. */
export interface CountedTag {
  readonly tag: string;
  readonly count: number;
}

/** The tags that people gave some calls, and what gives and removes them. */
export const useTags = (project: string, calls: readonly string[]) => {
  const { client } = useSession();
  const cache = useQueryClient();
  const query = useRead(['tags of calls', project, calls], (reading) => readTags(reading, project, calls));
  const found = query.data;
  const counts = new Map<string, number>();
  for (const records of found?.values() ?? [])
    for (const type of new Set(records.map(({ feedback_type }) => feedback_type)))
      counts.set(type, (counts.get(type) ?? 0) + 1);
  const onSettled = () => {
    const isOwn = (kind: unknown) => kind === 'tags of calls';
    const isStale = (kind: unknown) => /^(tags|values|call$)/.test(String(kind)) && !isOwn(kind);
    // Nobody waits for what other parts of the page show of them.
    void readAgain(cache, { predicate: ({ queryKey: [kind] }) => isStale(kind) });
    return readAgain(cache, { predicate: ({ queryKey: [kind] }) => isOwn(kind) });
  };
  /** Gives a tag to those of the calls that lack it. */
  const add = useMutation({
    mutationFn: async (tag: string) => {
      const type = tagType(tag);
      const untagged = [...(found ?? [])].flatMap(([id, records]) =>
        records.some(({ feedback_type }) => feedback_type === type) ? [] : [id],
      );
      for (const ids of toChunks(untagged, atOnce))
        await client.ask('/feedback/batch/create', {
          batch: ids.map((id) => ({
            project_id: project,
            svc_ref: `svc:///${project}/call/${id}`,
            feedback_type: type,
            payload: { value: true },
          })),
        });
      return untagged.length;
    },
    onSettled,
  });
  /** Takes a tag from all of the calls, whoever gave it. */
  const remove = useMutation({
    mutationFn: async (tag: string) => {
      const type = tagType(tag);
      const ids = [...(found ?? [])].flatMap(([, records]) =>
        records.flatMap((record) => (record.feedback_type === type ? [record.id] : [])),
      );
      for (const chunk of toChunks(ids, atOnce)) {
        const $or = chunk.map((id) => ({ $eq: [{ $getField: 'id' as const }, { $literal: id }] }));
        await client.ask('/feedback/purge', { project_id: project, query: { $expr: { $or } } } as never);
      }
    },
    onSettled,
  });
  const tags: CountedTag[] = [...counts].map(([type, count]) => ({ tag: tagIn(type) ?? '', count }));
  return { query, found, tags: tags.toSorted((a, b) => b.count - a.count), add, remove };
};

/** The tags that people gave of late, as suggestions. */
export const useKnownTags = (project: string): readonly string[] => {
  const { data } = useRead(['tags of the project', project], (reading) =>
    readTypes(reading, project, countedFrom({ range: '30d' }, Date.now())),
  );
  return [...(data?.keys() ?? [])].flatMap((type) => tagIn(type) ?? []).sort();
};

import { keepPreviousData, useMutation, useQueryClient } from '@tanstack/react-query';
import type { CallRow } from '../../api/calls.ts';
import type { Request } from '../../api/contract.ts';
import { withPreviews } from '../../calls/call-link.tsx';
import { readRows, withHeaderColumns } from '../../calls/data.ts';
import { iso, type Span } from '../../calls/figures/requests.ts';
import { readAgain, useRead, useSession } from '../../session/session.tsx';
import type { Issue } from './issue.ts';

/** Issues of a time. Those of before stay until others are there. */
export const useIssues = (request: Request<'/issues/query'>, enabled = true) =>
  useRead(['issues', request], ({ client, signal }) => client.ask('/issues/query', request, signal), {
    enabled,
    placeholderData: keepPreviousData,
  });

/** An issue as it was seen in a time; its list is empty if it was not. */
export const useIssue = (project: string, id: string, { start, end }: Span) =>
  useIssues({
    project_id: project,
    start: iso(start),
    end: iso(end),
    filter: { issue_ids: [id] },
    limit: 1,
  });

/** Calls with an issue, in the order of its examples. Those that are gone are left out. */
export const useExamples = (project: string, { examples }: Pick<Issue, 'examples'>) =>
  useRead(['examples', project, examples], async (reading): Promise<CallRow[]> => {
    const request = {
      project_id: project,
      filter: { call_ids: [...examples] },
      columns: withHeaderColumns('preview'),
    };
    const rows = await withPreviews(reading, project, await readRows(reading, request));
    const byId = new Map(rows.map((row) => [row.id, row]));
    return examples.flatMap((id) => byId.get(id) ?? []);
  });

export type IssueChange = Omit<Request<'/issues/update'>, 'project_id' | 'issue_id'>;

/** Says what became of an issue: a change leaves the rest as it is. */
export const useUpdateIssue = (project: string, id: string) => {
  const { client } = useSession();
  const cache = useQueryClient();
  return useMutation({
    mutationFn: (change: IssueChange) =>
      client.ask('/issues/update', { project_id: project, issue_id: id, ...change }),
    onSuccess: () => readAgain(cache, { predicate: ({ queryKey: [kind] }) => kind === 'issues' }),
  });
};

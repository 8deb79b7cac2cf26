import { listPrompts as description } from '../../../api/tools.ts';
import { queryPrompts } from '../../records/prompts.ts';
import { compact } from './calls.ts';
import { runs } from './context.ts';
import { parseCursor, toCursor } from './range.ts';
import { fitted } from './reply.ts';

export const listPrompts = runs(description, async (args, { stores, budget, links }) => {
  const { projectId, limit, cursor, maxCharacters } = args;
  const offset = cursor === null ? 0 : parseCursor(cursor).offset;
  const query = { projectId, objectId: null, offset, limit: limit + 1 };
  const { prompts: found } = await queryPrompts(stores.objects, query, budget);
  const rows = found.slice(0, limit).map((prompt) =>
    compact({
      name: prompt.name,
      latest: prompt.version_index,
      versions: prompt.versions,
      labels: Object.fromEntries(prompt.labels.map(({ label, version_index }) => [label, version_index])),
      saved_at: prompt.saved_at,
      saved_by: prompt.svc_user_id,
      url: links.object(projectId, prompt.name, undefined),
    }),
  );
  return fitted(maxCharacters, rows.length, (count) => ({
    prompts: rows.slice(0, count),
    ...(found.length > count && {
      missing: ['more prompts: list_prompts with the cursor'],
      next_cursor: toCursor({ start: null, end: null, offset: offset + count }),
    }),
  }));
});

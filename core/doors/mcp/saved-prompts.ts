import { everyCall } from '../../../api/queries.ts';
import * as tools from '../../../api/tools.ts';
import { compare, type Expression } from '../../../foundations/expression/index.ts';
import { asString, type ProjectId } from '../../../foundations/wire/index.ts';
import { createPrompt, movePromptLabel, queryPrompts, readPrompt } from '../../records/prompts.ts';
import { compact, newestFirst, readCalls, readStats, wholeRange } from './calls.ts';
import { runs, type ToolContext } from './context.ts';
import { cutter } from './cut.ts';
import { toWord } from './mend.ts';
import { checkKnown } from './names.ts';
import { parseCursor, type Range, toCursor, within } from './range.ts';
import { fitted, isFields, type Json, toMissing } from './reply.ts';

/* The tools of prompts that a project has saved. */

/** How far calls are looked at that name prompts: seven days. */
const usualSpan = 7 * 86_400e6;

/** How many prompts that are not saved are named. */
const maxNamed = 10;

/** The newest call with a version of a prompt. */
const newestOf = async (
  context: ToolContext,
  projectId: ProjectId,
  range: Range,
  name: string,
  version: string | number,
): Promise<string> => {
  const isIts: Expression = {
    kind: 'and',
    operands: [
      compare('attributes.prompt.name', '$eq', name),
      compare('attributes.prompt.version', '$eq', version),
    ],
  };
  const query = { projectId, where: within(range, isIts), sort: newestFirst, limit: 1, columns: [] };
  const [call] = await readCalls(context, query);
  return asString(call?.id) ?? '';
};

/** Says which prompts calls name where none is saved, and how to compare their versions. */
const promptsOfCalls = async (context: ToolContext, projectId: ProjectId): Promise<string[]> => {
  const range = { start: context.now - usualSpan, end: context.now + 60e6 };
  const { call_buckets: rows } = await readStats(context, {
    projectId,
    ...range,
    granularity: wholeRange,
    timezone: 'UTC',
    filter: everyCall,
    where: null,
    groupBy: ['attributes.prompt.name', 'attributes.prompt.version'],
    groupByFeedback: null,
    calls: [{ metric: 'call_count', aggregations: ['sum'], percentiles: [] }],
    usage: [],
  });
  const versions = Map.groupBy(
    rows.flatMap((row) => {
      const name = row['attributes.prompt.name'];
      const version = row['attributes.prompt.version'];
      const isKnown = typeof version === 'string' || typeof version === 'number';
      return typeof name === 'string' ? [{ name, version: isKnown ? version : '' }] : [];
    }),
    ({ name }) => name,
  );
  if (versions.size === 0) return [];
  const told = [...versions]
    .slice(0, maxNamed)
    .map(
      ([name, all]) =>
        `${toWord(name)} (${all.map(({ version }) => toWord(`${version}` || 'none')).join(', ')})`,
    );
  const notes = [
    `no prompt is saved here, but calls of the last 7 days name some in attributes.prompt: ${told.join(', ')}. get_stats with group_by ["attributes.prompt.name", "attributes.prompt.version"] compares their figures`,
  ];
  const [several] = [...versions].filter(([, all]) => all.length > 1);
  if (!several) return notes;
  const [name, all] = several;
  const [a, b] = all
    .map(({ version }) => version)
    .toSorted((one, other) => `${one}`.localeCompare(`${other}`, 'en', { numeric: true }))
    .slice(-2);
  const ids = await Promise.all(
    [a, b].map((version) => newestOf(context, projectId, range, name, version ?? '')),
  );
  if (ids.some((id) => id === '')) return notes;
  return [
    ...notes,
    `what changed in ${toWord(name)} from ${toWord(`${a}`)} to ${toWord(`${b}`)}: compare_calls with a ${toWord(ids[0] ?? '')} and b ${toWord(ids[1] ?? '')}, the newest calls of each`,
  ];
};

export const listPrompts = runs(tools.listPrompts, async (args, context) => {
  const { stores, budget, links } = context;
  const { projectId, limit, cursor, maxCharacters } = args;
  const offset = cursor === null ? 0 : parseCursor(cursor).offset;
  const query = { projectId, objectId: null, offset, limit: limit + 1 };
  const { prompts: found } = await queryPrompts(stores.objects, query, budget);
  if (found.length === 0) await checkKnown(context, projectId);
  const notes = found.length === 0 && offset === 0 ? await promptsOfCalls(context, projectId) : [];
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
    ...(notes.length > 0 && { notes }),
    ...(found.length > count && {
      missing: ['more prompts: list_prompts with the cursor'],
      next_cursor: toCursor({ start: null, end: null, offset: offset + count }),
    }),
  }));
});

/** A value as replies have it. Numbers are doubles. */
const toJson = (value: unknown): Json => JSON.parse(JSON.stringify(value)) as Json;

export const getPrompt = runs(tools.getPrompt, async (args, { stores, budget, links }) => {
  const { projectId, name: objectId, label, versionIndex, maxCharacters } = args;
  const choice = { projectId, objectId, label, versionIndex, digest: null };
  const prompt = await readPrompt(stores.objects, choice, { consistent: true, at: 'body' }, budget);
  const { messages, text, config, ...about } = prompt;
  const content = toJson({ ...(messages ? { messages } : { text }), config });
  const head = toJson(about);
  const cut = cutter();
  return fitted(maxCharacters, maxCharacters, (room) => {
    const { value, gaps } = cut(content, room, '');
    return {
      prompt: { ...(isFields(head) && head), ...(isFields(value) && value) },
      url: links.object(projectId, objectId, prompt.digest),
      ...toMissing(
        gaps.map(
          ({ path, of, unit }) =>
            `${path} was cut, of ${of} ${unit}: get_prompt with more max_characters; do not save it like this`,
        ),
      ),
    };
  });
});

export const savePrompt = runs(tools.savePrompt, async (args, context) => {
  const { projectId, name: objectId, messages, text, config, labels } = args;
  const { stores, budget, links, movingLabels } = context;
  const prompt = { projectId, objectId, messages, text, config, labels };
  const made = await movingLabels((mover) => createPrompt(stores.objects, prompt, mover, budget));
  return {
    prompt: { name: objectId, ...made, labels },
    url: links.object(projectId, objectId, made.digest),
    ...(labels.length === 0 && {
      missing: ['programs get it once a label that they read is on it: set_prompt_label'],
    }),
  };
});

export const setPromptLabel = runs(tools.setPromptLabel, async (args, context) => {
  const { projectId, name: objectId, label, versionIndex } = args;
  const { stores, budget, links, movingLabels } = context;
  const prompt = { projectId, objectId };
  await movingLabels((mover) => movePromptLabel(stores.objects, prompt, label, versionIndex, mover, budget));
  // What it was before is what an agent needs to move it back.
  const { history = [] } = await queryPrompts(stores.objects, { ...prompt, offset: 0, limit: 20 }, budget);
  const last = history.find((move) => move.label === label);
  return {
    label: {
      name: objectId,
      label,
      version_index: versionIndex,
      ...(last && {
        previous_version_index: last.previous_version_index,
        moved_at: last.moved_at,
        moved_by: last.svc_user_id,
      }),
    },
    url: links.object(projectId, objectId, undefined),
  };
});

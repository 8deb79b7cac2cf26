import * as tools from '../../../api/tools.ts';
import { createPrompt, movePromptLabel, queryPrompts, readPrompt } from '../../records/prompts.ts';
import { compact } from './calls.ts';
import { runs } from './context.ts';
import { cutter } from './cut.ts';
import { checkKnown } from './names.ts';
import { parseCursor, toCursor } from './range.ts';
import { fitted, isFields, type Json, toMissing } from './reply.ts';

/* The tools of prompts that a project has saved. */

export const listPrompts = runs(tools.listPrompts, async (args, context) => {
  const { stores, budget, links } = context;
  const { projectId, limit, cursor, maxCharacters } = args;
  const offset = cursor === null ? 0 : parseCursor(cursor).offset;
  const query = { projectId, objectId: null, offset, limit: limit + 1 };
  const { prompts: found } = await queryPrompts(stores.objects, query, budget);
  if (found.length === 0) await checkKnown(context, projectId);
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

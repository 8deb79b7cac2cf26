import { getPrompt as description } from '../../../api/tools.ts';
import { readPrompt } from '../../records/prompts.ts';
import { runs } from './context.ts';
import { cutter } from './cut.ts';
import { fitted, isFields, type Json, toMissing } from './reply.ts';

/** A value as replies have it. Numbers are doubles. */
const toJson = (value: unknown): Json => JSON.parse(JSON.stringify(value)) as Json;

export const getPrompt = runs(description, async (args, { stores, budget, links }) => {
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

import { savePrompt as description } from '../../../api/tools.ts';
import { createPrompt } from '../../records/prompts.ts';
import { runs } from './context.ts';

export const savePrompt = runs(description, async (args, context) => {
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

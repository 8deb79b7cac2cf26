import { setPromptLabel as description } from '../../../api/tools.ts';
import { movePromptLabel, queryPrompts } from '../../records/prompts.ts';
import { runs } from './context.ts';

export const setPromptLabel = runs(description, async (args, context) => {
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

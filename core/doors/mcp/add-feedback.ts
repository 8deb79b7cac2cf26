import { addFeedback as description } from '../../../api/tools.ts';
import { ownDigests } from '../../../foundations/door.ts';
import { asString, callRef } from '../../../foundations/wire/index.ts';
import { createOneFeedback } from '../../records/feedback/index.ts';
import { runs } from './context.ts';
import { readOne } from './get-call.ts';

export const addFeedback = runs(description, async (args, context) => {
  const { projectId, callId, note, score, label, feedbackType } = args;
  const { stores, caller, budget, links } = context;
  // A record on a call that there is not would be seen by nobody.
  const call = await readOne(context, projectId, callId, []);
  const type = feedbackType ?? (score !== null ? 'score' : label !== null ? 'label' : 'note');
  const draftFields = {
    ...(note !== null && { note }),
    ...(score !== null && { score }),
    ...(label !== null && { label }),
  };
  // A call of the tool that is sent again, since no answer came, adds nothing.
  const id = ownDigests.ofValue([caller.user, callId, type, draftFields]);
  const stored = await createOneFeedback(
    stores.feedback,
    {
      projectId,
      id,
      ref: callRef(projectId, callId),
      type,
      payload: draftFields,
      creator: null,
      annotationRef: null,
      runnableRef: null,
      callRef: null,
      triggerRef: null,
    },
    caller.user,
    budget,
  );
  return {
    feedback: { id: stored.id, call_id: callId, feedback_type: type, created_at: stored.created_at },
    url: links.trace(projectId, asString(call.trace_id) ?? '', callId),
  };
});

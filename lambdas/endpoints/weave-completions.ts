import { buffer } from 'node:stream/consumers';
import { forward, neverReached, Recording } from '../../core/doors/inference/index.ts';
import { completionsCreate } from '../../core/doors/weave/endpoints/completions.ts';
import { completionBody } from '../../core/doors/weave/index.ts';
import { allows, describeRefusal } from '../../foundations/auth/index.ts';
import { forbidden, isJsonObject, type JsonObject, newId, parseJson } from '../../foundations/wire/index.ts';
import { overStream, work } from '../common/http/endpoint.ts';
import type { ServiceRequest } from '../common/http/request.ts';
import { stores } from '../common/http/stores.ts';
import { conclude, countCaller, holdCost, recordMs, requireKeepable } from '../common/inference/asking.ts';
import { inference } from '../common/inference/upstreams.ts';
import { throughDoor } from '../common/weave/door.ts';

type Request = ServiceRequest<ReturnType<NonNullable<typeof completionsCreate.request>>['_zod']['output']>;

/** What Weave's server calls such a request. */
const opName = 'weave.completions_create';
const path = '/chat/completions';

/** Refuses a key that may use inference in the project, but not what the request takes besides. */
const requireRoles = ({ body, caller }: Request): void => {
  const { projectId, isRecorded, inputs } = body;
  const may = (role: 'read' | 'write') => allows(caller.grants, projectId, role);
  if (isRecorded && !may('write'))
    throw forbidden(
      ['body', 'project_id'],
      `this key may not write, so not record in, the project ${projectId}: send track_llm_call: false`,
    );
  if (inputs.prompt !== null && !may('read'))
    throw forbidden(['body', 'inputs', 'prompt'], describeRefusal('read', projectId));
};

/** Asks the upstream, and gives its answer; undefined if that is none. */
const ask = async (
  { budget }: Request,
  body: Request['body']['inputs']['body'],
  recording: Recording,
): Promise<JsonObject | undefined> => {
  const answer = await forward(inference, {
    path,
    body,
    received: body,
    headers: {},
    recording,
    maxMs: budget.deadline - Date.now() - recordMs,
    gone: budget.signal ?? new AbortController().signal,
  });
  const text = (await buffer(answer.body)).toString('utf8');
  try {
    const value = parseJson(text);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
};

/**
 * `POST /weave/completions/create`: asks an upstream for Weave's SDKs. What the upstream refuses, or fails
 * with, stands in the answer.
 */
const completion = work(completionsCreate, async (request) => {
  const { caller, budget } = request;
  const { projectId, inputs, isRecorded, traceId, parentId } = request.body;
  requireRoles(request);
  requireKeepable(inputs.body, ['body', 'inputs'], 1);
  await countCaller(caller, budget);
  const body = await completionBody(stores.objects, projectId, inputs, budget);
  const spending = await holdCost({ path, body, caller, project: projectId }, budget);
  const place = { traceId: traceId ?? newId(), parentId };
  const call = { id: newId(), opName, place };
  const recording = new Recording({ path, body, requestId: request.id, call });
  let isUnsent = false;
  let refused: unknown;
  const response = await ask(request, body, recording).catch((error: unknown) => {
    isUnsent = neverReached(error);
    refused = error;
    return undefined;
  });
  // Nobody may wait for the answer any more, but what it has cost counts.
  const { deadline, meter } = budget;
  const project = isRecorded ? projectId : undefined;
  const answered = { recording, spending, isUnsent, project, user: caller.user };
  const { isStored, problems } = await conclude(answered, { deadline, meter });
  for (const problem of problems) request.lacksRecord(problem);
  if (isUnsent) throw refused;
  const { exception } = recording;
  return {
    response:
      response && exception === null ? response : { error: exception ?? 'the upstream gave no answer' },
    weave_call_id: isStored ? call.id : null,
    span_id: isStored ? call.id : null,
    trace_id: isStored ? place.traceId : null,
  };
});

export const handler = overStream(throughDoor(completion, completionsCreate.path));

import * as z from 'zod/mini';
import { endpoint, passThrough } from '../../../../api/endpoint.ts';
import { jsonObject, project } from '../../../../api/fields.ts';
import { type InferenceBody, inferenceBody } from '../../../../api/inference.ts';
import {
  documented,
  field,
  freeObject,
  id,
  nullish,
  problem,
  record,
  refTo,
  rule,
  type Shape,
  withDefault,
} from '../../../../foundations/wire/schema.ts';

/** Fields that may be null as well. SDKs send null for all that nobody said. */
const orNull = ({ model, ...rest }: Shape): Shape => {
  const described = (schema: z.ZodMiniType) => z.globalRegistry.get(schema)?.description ?? '';
  const fields = Object.entries(rest).map(([name, schema]) => {
    const takesNull = schema.safeParse(null).success;
    return [name, takesNull ? schema : field(nullish(schema), described(schema))] as const;
  });
  return { ...(model && { model }), ...Object.fromEntries(fields) };
};

/** A request for a completion: what goes to the upstream, and what its messages are made of. */
export interface CompletionInputs {
  readonly body: InferenceBody;
  /** A ref to the prompt whose messages come first; null for none. */
  readonly prompt: string | null;
  /** What stands for `{name}` in the texts of messages; null for nothing. */
  readonly templateVars: Readonly<Record<string, unknown>> | null;
}

const unserved = z
  .custom<null>(
    (value) => value === null,
    rule('is not served: the keys of upstreams are settings of the service'),
  )
  .register(documented, { keywords: { type: 'null' } });

const inputs = () =>
  z
    .pipe(
      z.looseObject({
        ...orNull(inferenceBody().shape),
        prompt: field(nullish(refTo('object')), 'A prompt of the same project, whose messages come first.'),
        template_vars: field(nullish(freeObject), 'What stands for `{name}` in the texts of messages.'),
        vertex_credentials: field(z.optional(unserved), 'Not served.'),
      }),
      z.transform((fields: Readonly<Record<string, unknown>>): CompletionInputs => {
        // The answer is one JSON value.
        const { prompt, template_vars, stream: _stream, stream_options: _options, ...rest } = fields;
        const body = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== null));
        return {
          body: body as InferenceBody,
          prompt: (prompt ?? null) as CompletionInputs['prompt'],
          templateVars: (template_vars ?? null) as CompletionInputs['templateVars'],
        };
      }),
    )
    .register(documented, { name: 'CompletionInputs' });

const withTrace = z.check<{ readonly trace_id?: string | null; readonly parent_id?: string | null }>(
  ({ value, issues }) => {
    if (!value.parent_id || value.trace_id) return;
    const message = "is required with a parent_id: the parent's trace";
    issues.push(problem(message, value, 'trace_id'));
  },
);

const completionsBody = () =>
  record(
    {
      project_id: project,
      inputs: field(inputs(), 'The request, as for `/inference/v1/chat/completions`; without `stream`.'),
      track_llm_call: field(withDefault(z.boolean(), true), 'Whether it becomes a call of the project.'),
      trace_id: field(nullish(id), 'The trace of that call. Without it the call has a trace of its own.'),
      parent_id: field(nullish(id), 'What that call is below.'),
    },
    { track_llm_call: 'isRecorded' },
    undefined,
    withTrace as never,
  );

export const completionsCreate = /* @__PURE__ */ endpoint({
  path: '/completions/create',
  role: 'inference',
  shape: passThrough,
  stores: { calls: 'record', payloads: 'write', objects: 'read', bookkeeping: 'note' },
  upstreams: 'ask',
  limits: 'hold',
  tag: 'weave',
  name: 'CompletionsCreate',
  summary: 'Complete a chat',
  description:
    "Sends a chat to the upstream of its model, and answers what comes. The key needs `inference` on the project, `write` for the call that the request becomes, and `read` for a prompt. What the upstream refuses, or fails with, is `response.error` of an answer with the status 200, as Weave's SDKs read it.",
  request: completionsBody,
  answer: () =>
    z.object({
      response: field(jsonObject, "The upstream's answer, or `error`: why there is none."),
      weave_call_id: field(z.nullable(z.string()), 'The call that it became; null if it became none.'),
      span_id: field(z.nullable(z.string()), 'The same.'),
      trace_id: field(z.nullable(z.string()), 'The trace of that call; null without it.'),
    }),
  errors: [404],
  examples: {},
});

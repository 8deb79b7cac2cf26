import * as z from 'zod/mini';
import { field, integer } from '../foundations/wire/schema.ts';
import { endpoint, oneAnswer } from './endpoint.ts';

const cost = (what: string) => field(z.optional(z.number()), `Dollars for one token ${what}.`);

const model = () =>
  z.looseObject({
    id: field(z.string(), 'The name that requests give.'),
    object: field(z.optional(z.literal('model')), "In OpenAI's shape."),
    owned_by: field(z.optional(z.string()), "The upstream that is asked first, in OpenAI's shape."),
    type: field(z.optional(z.literal('model')), "In Anthropic's shape."),
    context_window: field(z.optional(integer), 'The most tokens of a request, if the price table knows.'),
    prompt_token_cost: cost('of the prompt'),
    completion_token_cost: cost('of the answer'),
    cache_read_token_cost: cost('that was read from a cache'),
    cache_write_token_cost: cost('that was written to a cache'),
  });

const common = {
  method: 'GET',
  scheme: 'bearer',
  role: 'inference',
  handler: 'inference/models',
  shape: oneAnswer,
  stores: {},
  upstreams: 'list',
  tag: 'inference',
  // The key needs the role on any project.
  projects: () => [],
  errors: [404],
  headers: () => ({
    'anthropic-version': field(z.string(), "Asks for the shape of Anthropic's API."),
  }),
} as const;

export const inferenceModels = /* @__PURE__ */ endpoint({
  ...common,
  path: '/inference/v1/models',
  name: 'Models',
  summary: 'List models',
  description:
    "The models that the rules of upstreams name, with what the price table knows of them: in OpenAI's shape, or in Anthropic's if `anthropic-version` is sent. A rule with `*` stands for the models that the price table has of the upstream's provider.",
  answer: () =>
    z.looseObject({
      object: field(z.optional(z.literal('list')), "In OpenAI's shape."),
      data: field(z.array(model()), 'The models, in the order of the rules.'),
      has_more: field(z.optional(z.boolean()), "Always false, in Anthropic's shape."),
    }),
  examples: {
    none: {
      summary: 'The local service, whose echo model takes any name',
      body: undefined,
      answer: { object: 'list', data: [] },
    },
  },
});

const inferenceModel = /* @__PURE__ */ endpoint({
  ...common,
  // Names of models may have slashes.
  path: '/inference/v1/models/{id+}',
  request: () => z.object({ id: field(z.string(), 'The name that requests give.') }),
  answer: model,
  operations: [
    {
      operationPath: '/inference/v1/models/{id}',
      name: 'Model',
      summary: 'Read a model',
      description:
        'One model, also if it is not listed: a request that names it reaches an upstream. A model without a rule is a 404.',
      examples: {
        any: {
          summary: 'A model of the local service, which takes all names',
          body: undefined,
          answer: { id: '{id}', object: 'model', created: 0, owned_by: 'local' },
        },
      },
    },
  ],
});

/** The endpoints of this file. Their examples run in this order. */
export const modelRoutes = [inferenceModels, inferenceModel] as const;

import * as z from 'zod/mini';
import { isJsonObject, versionIndexes } from '../foundations/wire/index.ts';
import {
  documented,
  field,
  freeObject,
  integerWith,
  listSchema,
  nullish,
  problem,
  record,
  rule,
  withDefault,
} from '../foundations/wire/schema.ts';
import { endpoint, oneAnswer } from './endpoint.ts';
import { done, jsonObject, project, timestamp } from './fields.ts';
import { alias, digest, label, objectId } from './objects.ts';

/*
 * Prompts: objects of a class of Weave's, `MessagesPrompt` or `StringPrompt`, whose versions have labels
 * that can be moved. Weave's SDKs call these labels aliases.
 */

/** The most labels in a request. */
const maxLabels = 32;
const maxMessages = 1000;
const maxPrompts = 1000;

const name = field(objectId, "The prompt's name.");
const aLabel = field(alias, 'A name that can be moved; neither `latest`, nor `v<N>`, nor a digest.');

// What a prompt says.

const message = freeObject
  .check(
    z.refine(
      ({ role }) => typeof role === 'string' && role.length > 0 && role.length <= 64,
      rule('should have a role, such as system, user or assistant'),
    ),
  )
  .register(documented, {
    keywords: {
      type: 'object',
      properties: { role: { type: 'string', minLength: 1, maxLength: 64 } },
      required: ['role'],
      additionalProperties: {},
    },
  });

const configRules: readonly (readonly [name: string, isRight: (value: unknown) => boolean, what: string])[] =
  [
    ['model', (value) => typeof value === 'string', 'a text'],
    ['parameters', isJsonObject, 'an object'],
    ['tools', Array.isArray, 'a list'],
    ['response_schema', isJsonObject, 'an object'],
  ];

const config = () =>
  freeObject
    .check(
      z.check(({ value, issues }) => {
        for (const [name, isRight, what] of configRules) {
          const given = Object.hasOwn(value, name) ? (value[name] ?? null) : null;
          if (given !== null && !isRight(given)) issues.push(problem(`should be ${what}`, value, name));
        }
      }),
    )
    .register(documented, {
      keywords: {
        type: 'object',
        properties: {
          model: { type: ['string', 'null'] },
          parameters: { type: ['object', 'null'] },
          tools: { type: ['array', 'null'] },
          response_schema: { type: ['object', 'null'] },
        },
        additionalProperties: {},
      },
    });

const messagesText = 'Messages as chat models take them. Texts in them may have variables, `{name}`.';
const textText = 'One text, which may have variables, `{name}`.';
const configText =
  'What goes with it: `model`, `parameters`, `tools`, `response_schema`, and whatever else you like.';

const version = {
  ref: field(z.string(), 'Its ref.'),
  digest: field(z.string(), 'Its digest.'),
  version_index: field(z.int(), '0, 1, 2, … in the order in which the versions were made.'),
};

const exampleMessages = [
  { role: 'system', content: 'You help the customers of {shop}. Be brief.' },
  { role: 'user', content: '{question}' },
];
/** The digest of that prompt as it is stored. */
const exampleDigest = 'OUXgwBLrI0-r39uNlPoeUdfR9tKim8YyzpHTnWk9m9Q';
const exampleVersion = {
  ref: `svc:///acme/shop/object/support:${exampleDigest}`,
  digest: exampleDigest,
  version_index: 0,
};

/** What all endpoints of prompts share, and `/issues/update` with them: one function makes versions of objects. */
export const namedVersions = {
  handler: 'prompts',
  shape: oneAnswer,
  stores: { objects: 'serve', bookkeeping: 'note', audit: 'append' },
} as const;

const common = { ...namedVersions, tag: 'prompts' } as const;

/** The fields of what a prompt says, and of its labels. */
export const promptContent = () => ({
  messages: field(nullish(listSchema(message, maxMessages, { least: 1 })), messagesText),
  text: field(nullish(z.string()), textText),
  config: field(nullish(config()), configText),
  labels: field(withDefault(listSchema(aLabel, maxLabels), []), 'Labels to move to this version.'),
});

/** A prompt has either messages or a text. */
export const saysOneThing = z.check<{ readonly messages?: unknown; readonly text?: unknown }>(
  ({ value, issues }) => {
    const { messages = null, text = null } = value;
    if ((messages === null) === (text === null))
      issues.push(problem('should have exactly one of messages and text', value));
  },
);

const createBody = () =>
  record(
    { project_id: project, name, ...promptContent() },
    { name: 'objectId' },
    undefined,
    saysOneThing as never,
  );

/** A prompt as a client makes it. */
export type NewPrompt = z.output<ReturnType<typeof createBody>>;

export const promptCreate = /* @__PURE__ */ endpoint({
  ...common,
  path: '/prompt/create',
  role: 'write',
  name: 'PromptCreate',
  summary: 'Make a version of a prompt',
  description:
    "Stores messages or a text as a new version, unless the prompt has a version with the same content, and moves labels to it. Weave's SDKs read it as a `MessagesPrompt` or `StringPrompt`. A name that another kind of object has is a 409.",
  request: createBody,
  answer: () => z.object(version),
  errors: [409],
  examples: {
    support: {
      summary: 'A prompt of messages, in production at once',
      body: {
        project_id: 'acme/shop',
        name: 'support',
        messages: exampleMessages,
        config: { model: 'gpt-4o-mini' },
        labels: ['production'],
      },
      answer: exampleVersion,
    },
  },
});

const versionIndex = integerWith(z.minimum(0), z.maximum(versionIndexes - 1));

const readBody = () =>
  record(
    {
      project_id: project,
      name,
      label: field(nullish(label), 'The version with this label; `latest` is the newest version.'),
      version_index: field(nullish(versionIndex), 'The version with this index.'),
      digest: field(nullish(digest), 'The version with this digest.'),
    },
    { name: 'objectId' },
    undefined,
    z.check(({ value, issues }) => {
      const { label = null, version_index: index = null, digest = null } = value;
      if ([label, index, digest].filter((choice) => choice !== null).length > 1)
        issues.push(problem('should have at most one of label, version_index and digest', value));
    }),
  );

/** Which version of a prompt is wanted. */
export type PromptChoice = z.output<ReturnType<typeof readBody>>;

const promptVersion = () =>
  z
    .object({
      name: field(z.string(), "The prompt's name."),
      ...version,
      labels: field(z.array(z.string()), 'The labels of this version, sorted; `latest` is not among them.'),
      messages: field(z.optional(z.array(jsonObject)), messagesText),
      text: field(z.optional(z.string()), textText),
      variables: field(z.array(z.string()), 'The variables, in the order in which they come.'),
      config: field(jsonObject, configText),
      created_at: field(timestamp, 'When the version was made.'),
      svc_user_id: field(z.string(), 'The user whose key made it.'),
    })
    .register(documented, { name: 'PromptVersion' });

/** A version of a prompt, as it is answered. */
export type PromptVersion = z.output<ReturnType<typeof promptVersion>>;

export const promptRead = /* @__PURE__ */ endpoint({
  ...common,
  path: '/prompt/read',
  byGet: {
    name: 'PromptGet',
    summary: 'Read a version of a prompt, with a cache',
    description:
      'The same as the POST, for clients that keep what they read: the answer has an `ETag`, a request whose `If-None-Match` has it is answered with 304, and `Cache-Control` lets a client keep it for a minute, and use it for a day while it asks again. It may be a second behind a move that was answered.',
  },
  name: 'PromptRead',
  summary: 'Read a version of a prompt',
  description:
    'Without a label, an index or a digest, the version with the label `production`, or the newest if no version has it. Strongly consistent: it has every move that was answered before.',
  request: readBody,
  answer: promptVersion,
  errors: [404],
  examples: {
    production: {
      summary: 'The version that is in production',
      body: { project_id: 'acme/shop', name: 'support' },
      answer: {
        name: 'support',
        ...exampleVersion,
        labels: ['production'],
        messages: exampleMessages,
        variables: ['shop', 'question'],
        config: { model: 'gpt-4o-mini' },
        created_at: '2026-10-01T09:30:00.123456Z',
        svc_user_id: 'ada',
      },
    },
  },
});

export const promptLabelsSet = /* @__PURE__ */ endpoint({
  ...common,
  path: '/prompt/labels',
  role: 'write',
  name: 'PromptLabelsSet',
  summary: 'Move a label of a prompt',
  description:
    'Moves a label from whichever version has it to this one, at once and for everybody, or removes it. Who moved it and when is remembered. `latest` moves by itself. A label that the object `prompt-labels` of class `PromptLabels` protects takes the role `admin`.',
  request: () =>
    record(
      {
        project_id: project,
        name,
        label: aLabel,
        version_index: field(
          z.nullable(z.int().check(z.minimum(0), z.maximum(versionIndexes - 1))),
          'The version that gets the label; null to remove the label.',
        ),
      },
      { name: 'objectId' },
    ),
  answer: () => done,
  errors: [404],
  examples: {
    staging: {
      summary: 'A label more',
      body: { project_id: 'acme/shop', name: 'support', label: 'staging', version_index: 0 },
      answer: {},
    },
  },
});

const index = z.nullable(z.int());

const promptLabel = () =>
  z
    .object({
      label: field(z.string(), 'The label.'),
      version_index: field(index, 'The version that has it; null if that was deleted at this moment.'),
      digest: field(z.string(), 'Its digest.'),
      moved_at: field(z.nullable(timestamp), 'When it came there; null if that was not kept yet.'),
      svc_user_id: field(z.nullable(z.string()), 'Who moved it; null if that was not kept yet.'),
    })
    .register(documented, { name: 'PromptLabel' });

const promptRow = () =>
  z
    .object({
      name: field(z.string(), "The prompt's name."),
      ...version,
      labels: field(z.array(promptLabel()), 'Its labels, sorted; `latest` is not among them.'),
      versions: field(z.int(), 'How many versions there are.'),
      created_at: field(timestamp, 'When its oldest version was made.'),
      saved_at: field(timestamp, 'When its newest version was made.'),
      svc_user_id: field(z.string(), 'The user whose key made the newest version.'),
    })
    .register(documented, { name: 'PromptRow' });

/** A prompt of a project, as it is answered. */
export type PromptRow = z.output<ReturnType<typeof promptRow>>;

const labelMove = () =>
  z
    .object({
      id: field(z.string(), 'The id of the move.'),
      label: field(z.string(), 'The label.'),
      version_index: field(index, 'Where it came to; null if it was removed.'),
      previous_version_index: field(index, 'Where it came from; null if it was new.'),
      moved_at: field(timestamp, 'When.'),
      svc_user_id: field(z.string(), 'The user whose key moved it.'),
    })
    .register(documented, { name: 'PromptLabelMove' });

/** A move of a label, as it is answered. */
export type LabelMoveRow = z.output<ReturnType<typeof labelMove>>;

const queryBody = () =>
  record(
    {
      project_id: project,
      name: field(nullish(objectId), 'This prompt alone, with the history of its labels.'),
      limit: field(
        withDefault(integerWith(z.minimum(0), z.maximum(maxPrompts)), 100),
        'The most prompts, or the most moves of the history; 100 without it.',
      ),
      offset: field(withDefault(integerWith(z.minimum(0)), 0), 'How many prompts to skip first.'),
    },
    { name: 'objectId' },
  );

/** Which prompts are wanted. */
export type PromptsQuery = z.output<ReturnType<typeof queryBody>>;

export const promptsQuery = /* @__PURE__ */ endpoint({
  ...common,
  path: '/prompts/query',
  name: 'PromptsQuery',
  summary: 'List prompts with their labels',
  description:
    "The prompts of a project by their names, those that Weave's SDKs made too, strongly consistent. With a `name`, that one, and the moves of its labels, newest first.",
  request: queryBody,
  answer: () =>
    z.object({
      prompts: field(z.array(promptRow()), 'The prompts, by their names.'),
      history: field(z.optional(z.array(labelMove())), 'With a name: the moves of its labels, newest first.'),
    }),
  examples: {
    all: {
      summary: 'The prompts of a project',
      body: { project_id: 'acme/shop', limit: 1 },
      answer: {
        prompts: [
          {
            name: 'support',
            ...exampleVersion,
            labels: ['production', 'staging'].map((label) => ({
              label,
              version_index: 0,
              digest: exampleDigest,
              moved_at: '2026-10-01T09:30:00.123456Z',
              svc_user_id: 'ada',
            })),
            versions: 1,
            created_at: '2026-10-01T09:30:00.123456Z',
            saved_at: '2026-10-01T09:30:00.123456Z',
            svc_user_id: 'ada',
          },
        ],
      },
    },
  },
});

/** The endpoints of this file. Their examples run in this order. */
export const promptRoutes = [promptCreate, promptRead, promptLabelsSet, promptsQuery] as const;

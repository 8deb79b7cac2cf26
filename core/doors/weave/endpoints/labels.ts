import * as z from 'zod/mini';
import { endpoint, oneAnswer, oneRecord } from '../../../../api/endpoint.ts';
import { done, project } from '../../../../api/fields.ts';
import { alias, label, objectId, versionName } from '../../../../api/objects.ts';
import { field, listSchema, record } from '../../../../foundations/wire/schema.ts';

/*
 * The endpoints of tags and aliases, which Weave's door alone has.
 */

const maxLabels = 100;

const tagsText = 'Words on a version; of a filter: any of these.';
const aliasesText =
  'Names of a version; of a filter: any of these. None is set to `latest`, `v<N>` or a digest.';
const versionFields = { project_id: project, object_id: objectId, digest: versionName };

export const aliasesSet = /* @__PURE__ */ endpoint({
  path: '/objs/{object_id}/aliases',
  method: 'PUT',
  role: 'write',
  shape: oneRecord,
  stores: { objects: 'serve' },
  tag: 'weave',
  name: 'AliasesSet',
  summary: 'Name a version by aliases',
  description:
    'An alias that another version of the object has moves to this one. Where a digest is given, an alias may stand.',
  request: () => record({ ...versionFields, aliases: field(listSchema(alias, maxLabels), aliasesText) }),
  answer: () => done,
  errors: [404],
  examples: {},
});

export const aliasesRemove = /* @__PURE__ */ endpoint({
  path: '/objs/{object_id}/aliases/remove',
  role: 'write',
  shape: oneRecord,
  stores: { objects: 'serve' },
  tag: 'weave',
  name: 'AliasesRemove',
  summary: 'Take aliases from an object',
  description: 'Those that it has not are ignored.',
  request: () =>
    record({
      project_id: project,
      object_id: objectId,
      aliases: field(listSchema(label, maxLabels), aliasesText),
    }),
  answer: () => done,
  examples: {},
});

export const tagsAdd = /* @__PURE__ */ endpoint({
  path: '/objs/{object_id}/versions/{digest}/tags',
  method: 'PUT',
  role: 'write',
  shape: oneRecord,
  stores: { objects: 'serve' },
  tag: 'weave',
  name: 'TagsAdd',
  summary: 'Tag a version',
  description: 'Those that it has already stay.',
  request: () => record({ ...versionFields, tags: field(listSchema(label, maxLabels), tagsText) }),
  answer: () => done,
  errors: [404],
  examples: {},
});

export const tagsRemove = /* @__PURE__ */ endpoint({
  path: '/objs/{object_id}/versions/{digest}/tags/remove',
  role: 'write',
  shape: oneRecord,
  stores: { objects: 'serve' },
  tag: 'weave',
  name: 'TagsRemove',
  summary: 'Take tags from a version',
  description: 'Those that it has not are ignored.',
  request: () => record({ ...versionFields, tags: field(listSchema(label, maxLabels), tagsText) }),
  answer: () => done,
  errors: [404],
  examples: {},
});

export const aliasesList = /* @__PURE__ */ endpoint({
  path: '/aliases',
  method: 'GET',
  shape: oneAnswer,
  stores: { objects: 'serve' },
  tag: 'weave',
  name: 'AliasesList',
  summary: 'List aliases',
  description: 'The aliases of all objects of a project, each once.',
  request: () => record({ project_id: project }),
  answer: () => z.object({ aliases: field(z.array(z.string()), 'The aliases, sorted.') }),
  examples: {},
});

export const tagsList = /* @__PURE__ */ endpoint({
  path: '/tags',
  method: 'GET',
  shape: oneAnswer,
  stores: { objects: 'serve' },
  tag: 'weave',
  name: 'TagsList',
  summary: 'List tags',
  description: 'The tags of all versions in a project, each once.',
  request: () => record({ project_id: project }),
  answer: () => z.object({ tags: field(z.array(z.string()), 'The tags, sorted.') }),
  examples: {},
});

import * as z from 'zod/mini';
import * as requests from '../../api/requests.ts';
import { done, field } from '../answers/fields.ts';
import type { Operations } from '../operation.ts';

const project_id = 'acme/shop';

type Paths =
  | '/objs/{object_id}/aliases'
  | '/objs/{object_id}/aliases/remove'
  | '/objs/{object_id}/versions/{digest}/tags'
  | '/objs/{object_id}/versions/{digest}/tags/remove'
  | '/aliases'
  | '/tags';

/** What the document says of tags and aliases, which Weave's dialect alone has. */
export const labelOperations: Pick<Operations, Paths> = {
  '/objs/{object_id}/aliases': [
    {
      name: 'AliasesSet',
      tag: 'weave',
      summary: 'Name a version by aliases',
      description:
        'An alias that another version of the object has moves to this one. Where a digest is given, an alias may stand.',
      request: requests.aliasesSet,
      answer: done,
      errors: [404],
      examples: {
        production: {
          summary: 'The one in production',
          body: { project_id, digest: 'latest', aliases: ['production'] },
          answer: {},
        },
      },
    },
  ],
  '/objs/{object_id}/aliases/remove': [
    {
      name: 'AliasesRemove',
      tag: 'weave',
      summary: 'Take aliases from an object',
      description: 'Those that it has not are ignored.',
      request: requests.aliasesRemove,
      answer: done,
      examples: {
        production: { summary: 'One of them', body: { project_id, aliases: ['production'] }, answer: {} },
      },
    },
  ],
  '/objs/{object_id}/versions/{digest}/tags': [
    {
      name: 'TagsAdd',
      tag: 'weave',
      summary: 'Tag a version',
      description: 'Those that it has already stay.',
      request: requests.tagsAdd,
      answer: done,
      errors: [404],
      examples: {
        good: { summary: 'A good one', body: { project_id, tags: ['good'] }, answer: {} },
      },
    },
  ],
  '/objs/{object_id}/versions/{digest}/tags/remove': [
    {
      name: 'TagsRemove',
      tag: 'weave',
      summary: 'Take tags from a version',
      description: 'Those that it has not are ignored.',
      request: requests.tagsRemove,
      answer: done,
      errors: [404],
      examples: {
        good: { summary: 'One of them', body: { project_id, tags: ['good'] }, answer: {} },
      },
    },
  ],
  '/aliases': [
    {
      name: 'AliasesList',
      tag: 'weave',
      summary: 'List aliases',
      description: 'The aliases of all objects of a project, each once.',
      request: requests.aliasesList,
      answer: z.object({ aliases: field(z.array(z.string()), 'The aliases, sorted.') }),
      examples: { all: { summary: 'All', body: { project_id }, answer: { aliases: ['production'] } } },
    },
  ],
  '/tags': [
    {
      name: 'TagsList',
      tag: 'weave',
      summary: 'List tags',
      description: 'The tags of all versions in a project, each once.',
      request: requests.tagsList,
      answer: z.object({ tags: field(z.array(z.string()), 'The tags, sorted.') }),
      examples: { all: { summary: 'All', body: { project_id }, answer: { tags: ['good'] } } },
    },
  ],
};

import { describe, expect, it } from 'vitest';
import { answerGraphql } from '../../../../../core/doors/weave/graphql.ts';
import type { Caller, Grant } from '../../../../../foundations/auth/index.ts';

const caller = (...grants: Grant[]): Caller => ({ user: 'ada', keyId: 'k', grants }) as Caller;
const writer = caller({ scope: 'acme/*', role: 'write' } as Grant);
const reader = caller({ scope: 'acme/shop', role: 'read' } as Grant);

/* The queries as the SDKs send them: gql prints them without the line ends of their sources. */
const viewer =
  'query DefaultEntity {\n  viewer {\n    username\n    defaultEntity {\n      name\n    }\n  }\n}';
const project =
  'query Project($name: String!, $entityName: String!) {\n  project(name: $name, entityName: $entityName) {\n    name\n  }\n}';
const upsert =
  'mutation UpsertModel($name: String!, $id: String, $entity: String!) { upsertModel(input: {id: $id, name: $name, entityName: $entity}) { model { name description } } }';

describe('the viewer', () => {
  it.each([
    [writer, 'acme'],
    [reader, 'acme'],
    [caller({ scope: '*', role: 'write' } as Grant), 'ada'],
    [caller(), 'ada'],
  ])('is the user, whose projects belong to what a grant names first', (who, name) => {
    expect(answerGraphql(who, { query: viewer })).toEqual({
      data: { viewer: { username: 'ada', defaultEntity: { name } } },
    });
  });
});

describe('a project', () => {
  const ask = (who: Caller, query: string, entity: string, name: string) =>
    answerGraphql(who, { query, variables: { name, entity, entityName: entity } });

  it('is there for a key that may read it', () => {
    expect(ask(reader, project, 'acme', 'shop')).toMatchObject({ data: { project: { name: 'shop' } } });
    expect(ask(writer, project, 'acme', 'new')).toMatchObject({ data: { project: { name: 'new' } } });
    expect(ask(reader, project, 'acme', 'other')).toEqual({ data: { project: null } });
    expect(ask(writer, project, 'a/b', '..')).toEqual({ data: { project: null } });
  });

  it('is made for a key that may write it', () => {
    expect(ask(writer, upsert, 'acme', 'new')).toEqual({
      data: { upsertModel: { model: { name: 'new', description: null } } },
    });
    expect(ask(reader, upsert, 'acme', 'shop')).toMatchObject({
      data: null,
      errors: [{ extensions: { code: 'PERMISSION_ERROR' } }],
    });
    expect(ask(writer, upsert, 'acme', '')).toMatchObject({
      errors: [{ extensions: { code: 'BAD_USER_INPUT' } }],
    });
  });
});

it.each(['', '{', 'query { artifact }', '{ __schema { types { name } } }'])('%j is an error', (query) => {
  expect(answerGraphql(writer, { query })).toMatchObject({
    data: null,
    errors: [{ message: expect.any(String) }],
  });
});

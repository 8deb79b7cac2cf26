import { allows, type Caller, describeRefusal } from '../../../foundations/auth/index.ts';
import { type JsonObject, parseProjectId } from '../../../foundations/wire/index.ts';

/** A query of the SDKs: its text and its variables. */
export interface GraphqlQuery {
  readonly query: string;
  readonly variables?: JsonObject | null | undefined;
}

/** An answer as GraphQL has it: data, or errors and no data. */
export type GraphqlAnswer =
  | { readonly data: JsonObject }
  | {
      readonly data: null;
      readonly errors: readonly {
        readonly message: string;
        readonly extensions: { readonly code: string };
      }[];
    };

const refused = (code: string, message: string): GraphqlAnswer => ({
  data: null,
  errors: [{ message, extensions: { code } }],
});

const getText = (variables: GraphqlQuery['variables'], ...names: readonly string[]): string => {
  const given = names.map((name) => variables?.[name]).find((value) => typeof value === 'string');
  return typeof given === 'string' ? given : '';
};

/** The entity that projects without one belong to: the first that a grant names, or the user's. */
const getDefaultEntity = ({ grants, user }: Caller): string => {
  const [scope] = grants.map(({ scope }) => scope).filter((candidate) => candidate !== '*');
  return scope?.split('/', 1)[0] ?? user;
};

const toViewer = (caller: Caller): GraphqlAnswer => ({
  data: { viewer: { username: caller.user, defaultEntity: { name: getDefaultEntity(caller) } } },
});

/** The names of the variables are those that the SDKs choose. */
const toProject = (variables: GraphqlQuery['variables']) => {
  const entity = getText(variables, 'entityName', 'entity');
  const name = getText(variables, 'projectName', 'name');
  return { name, projectId: parseProjectId(`${entity}/${name}`) };
};

const answerProject = (caller: Caller, variables: GraphqlQuery['variables']): GraphqlAnswer => {
  const { name, projectId } = toProject(variables);
  const may = projectId !== undefined && allows(caller.grants, projectId, 'read');
  return { data: { project: may ? { name, artifact: null } : null } };
};

const answerUpsert = (caller: Caller, variables: GraphqlQuery['variables']): GraphqlAnswer => {
  const { name, projectId } = toProject(variables);
  if (projectId === undefined)
    return refused(
      'BAD_USER_INPUT',
      'a project and its entity have 1 to 128 letters, digits, `_`, `-` or `.` each',
    );
  if (!allows(caller.grants, projectId, 'write'))
    return refused('PERMISSION_ERROR', describeRefusal('write', projectId));
  return { data: { upsertModel: { model: { name, description: null } } } };
};

/** The first field of the query, which is all that the SDKs ask for at once. */
const rootField = /^[^{]*\{\s*(?:\w+\s*:\s*)?(\w+)/;

/**
 * Answers what the SDKs of Weave ask of Weights & Biases, without a parser of GraphQL. They ask for
 * three fields at the root of a query. The answers always have all that is ever asked for. A
 * project is there if the key may read it, since projects need no making.
 */
export const answerGraphql = (caller: Caller, { query, variables }: GraphqlQuery): GraphqlAnswer => {
  const [, field] = rootField.exec(query) ?? [];
  switch (field) {
    case 'viewer':
      return toViewer(caller);
    case 'project':
      return answerProject(caller, variables);
    case 'upsertModel':
      return answerUpsert(caller, variables);
    default:
      return refused('GRAPHQL_VALIDATION_FAILED', 'only viewer, project and upsertModel are known here');
  }
};

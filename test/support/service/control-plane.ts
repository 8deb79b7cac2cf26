import { once } from 'node:events';
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';

type Fields = Readonly<Record<string, unknown>>;

/** A table, as far as it is changed and deleted. */
export interface ControlledTable {
  readonly items: number;
  isProtected: boolean;
  isRecoverable: boolean;
  stream: string | undefined;
  expiry: string | undefined;
}

/** A resource of a stack. */
interface StackResource {
  readonly id: string;
  readonly type: string;
  readonly name: string;
}

/** A stack, as far as it is looked up and deleted. */
export interface ControlledStack {
  readonly name: string;
  status: string;
  readonly resources: readonly StackResource[];
  readonly outputs: Readonly<Record<string, string>>;
  readonly template: object;
  /** Deletes what the stack does not retain; true if that worked. @default - it retains everything */
  readonly deleteOthers?: () => Promise<boolean>;
}

/**
 * Answers as CloudFormation does, and as DynamoDB and Systems Manager do to who manages tables and parameters. DynamoDB
 * refuses what the documentation says: to delete a protected table, to switch off a stream that is not
 * there, or on one that is.
 */
export interface ControlPlane extends AsyncDisposable {
  readonly endpoint: string;
  readonly tables: Map<string, ControlledTable>;
  readonly stacks: ControlledStack[];
  readonly parameters: Set<string>;
  readonly userPools: Map<string, ControlledPool>;
  /** Every operation that changes something, in order. */
  readonly changes: readonly string[];
  /** What was inserted, with the statements. */
  readonly inserted: readonly Fields[];
}

/** A user pool of Cognito. */
interface ControlledPool {
  readonly users: number;
  isProtected: boolean;
}

class Refusal extends Error {}

const toStackId = (name: string): string => `arn:aws:cloudformation:us-east-1:000000000000:stack/${name}/1`;

const element = (name: string, content: string): string => `<${name}>${content}</${name}>`;
const escaped = (value: string): string => value.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
const toMembers = (list: readonly Readonly<Record<string, string>>[]): string =>
  list
    .map((fields) => Object.entries(fields).map(([field, value]) => element(field, value)))
    .map((fields) => element('member', fields.join('')))
    .join('');
const members = (name: string, list: readonly Readonly<Record<string, string>>[]): string =>
  element(name, toMembers(list));

/** Starts it on loopback. No package of npm's has one that runs in a process. */
export const startControlPlane = async (): Promise<ControlPlane> => {
  const tables = new Map<string, ControlledTable>();
  const stacks: ControlledStack[] = [];
  const parameters = new Set<string>();
  const userPools = new Map<string, ControlledPool>();
  const getPool = ({ UserPoolId }: Fields): ControlledPool => {
    const pool = userPools.get(String(UserPoolId));
    if (!pool) throw new Refusal('ResourceNotFoundException');
    return pool;
  };
  const changes: string[] = [];
  const inserted: Fields[] = [];

  const getTable = ({ TableName }: Fields): ControlledTable => {
    const table = tables.get(String(TableName));
    if (!table) throw new Refusal('ResourceNotFoundException');
    return table;
  };
  const describe = (request: Fields) => {
    const { isProtected, stream } = getTable(request);
    return {
      TableName: request.TableName,
      TableStatus: 'ACTIVE',
      DeletionProtectionEnabled: isProtected,
      ...(stream && { StreamSpecification: { StreamEnabled: true, StreamViewType: stream } }),
    };
  };
  const changeStream = (table: ControlledTable, { StreamEnabled, StreamViewType }: Fields): void => {
    // "You receive a ValidationException if you try to enable a stream on a table that already has a stream, or if you
    // try to disable a stream on a table that doesn't have a stream."
    if (StreamEnabled === (table.stream !== undefined)) throw new Refusal('ValidationException');
    table.stream = StreamEnabled ? String(StreamViewType) : undefined;
  };
  const json: Readonly<Record<string, (request: Fields) => object | undefined>> = {
    DescribeTable: (request) => ({ Table: describe(request) }),
    Scan: (request) => ({ Count: Math.min(1, getTable(request).items), ScannedCount: 1 }),
    DescribeTimeToLive: (request) => ({
      TimeToLiveDescription: { TimeToLiveStatus: getTable(request).expiry ? 'ENABLED' : 'DISABLED' },
    }),
    UpdateTimeToLive: (request) => {
      const table = getTable(request);
      if (table.expiry !== undefined) throw new Refusal('ValidationException');
      table.expiry = String((request.TimeToLiveSpecification as Fields).AttributeName);
      return {};
    },
    UpdateContinuousBackups: (request) => {
      getTable(request).isRecoverable = true;
      return {};
    },
    BatchExecuteStatement: ({ Statements }) => {
      inserted.push(...(Statements as Fields[]));
      return { Responses: (Statements as Fields[]).map(() => ({})) };
    },
    UpdateTable: (request) => {
      const table = getTable(request);
      const { DeletionProtectionEnabled: isProtected, StreamSpecification: stream } = request;
      if (typeof isProtected === 'boolean') table.isProtected = isProtected;
      if (stream) changeStream(table, stream as Fields);
      return { TableDescription: describe(request) };
    },
    DeleteTable: (request) => {
      if (getTable(request).isProtected) throw new Refusal('ValidationException');
      tables.delete(String(request.TableName));
      return {};
    },
    ListUsers: (request) => ({ Users: Array.from({ length: getPool(request).users }, () => ({})) }),
    UpdateUserPool: (request) => {
      getPool(request).isProtected = request.DeletionProtection === 'ACTIVE';
      return {};
    },
    DeleteUserPool: (request) => {
      if (getPool(request).isProtected) throw new Refusal('InvalidParameterException');
      userPools.delete(String(request.UserPoolId));
      // Cognito answers with nothing.
      return undefined;
    },
    DeleteParameter: ({ Name }) => {
      if (!parameters.delete(String(Name))) throw new Refusal('ParameterNotFound');
      return {};
    },
  };

  /** A stack by its name, if it is not deleted, or by its id. */
  const findStack = (name: string | null): ControlledStack => {
    const stack = stacks.find(
      (one) => toStackId(one.name) === name || (one.name === name && one.status !== 'DELETE_COMPLETE'),
    );
    if (!stack) throw new Refusal('ValidationError');
    return stack;
  };
  const summary = ({ name, status }: ControlledStack) => ({
    StackId: toStackId(name),
    StackName: name,
    StackStatus: status,
    CreationTime: '2026-11-01T00:00:00Z',
  });
  const xml: Readonly<Record<string, (request: URLSearchParams) => string | Promise<string>>> = {
    DescribeStacks: (request) => {
      const stack = findStack(request.get('StackName'));
      const outputs = Object.entries(stack.outputs).map(([OutputKey, OutputValue]) => ({
        OutputKey,
        OutputValue,
      }));
      return members('Stacks', [{ ...summary(stack), Outputs: toMembers(outputs) }]);
    },
    ListStacks: () =>
      members('StackSummaries', stacks.filter(({ status }) => status === 'DELETE_COMPLETE').map(summary)),
    ListStackResources: (request) =>
      members(
        'StackResourceSummaries',
        findStack(request.get('StackName')).resources.map(({ id, type, name }) => ({
          LogicalResourceId: id,
          PhysicalResourceId: name,
          ResourceType: type,
          ResourceStatus: 'DELETE_SKIPPED',
        })),
      ),
    GetTemplate: (request) =>
      element('TemplateBody', escaped(JSON.stringify(findStack(request.get('StackName')).template))),
    DeleteStack: async (request) => {
      const stack = findStack(request.get('StackName'));
      stack.status = (await stack.deleteOthers?.()) === false ? 'DELETE_FAILED' : 'DELETE_COMPLETE';
      return '';
    },
  };

  const server = createServer(async (request, response) => {
    const body = await text(request);
    const target = String(request.headers['x-amz-target'] ?? '').split('.')[1];
    const form = new URLSearchParams(body);
    const operation = target ?? form.get('Action') ?? '';
    if (/^(Update|Delete|Batch)/.test(operation)) changes.push(operation);
    try {
      if (target) {
        const answer = JSON.stringify(json[operation]?.(JSON.parse(body)));
        response.setHeader('content-type', 'application/x-amz-json-1.0').end(answer);
      } else {
        const content = element(`${operation}Result`, (await xml[operation]?.(form)) ?? '');
        response.setHeader('content-type', 'text/xml').end(element(`${operation}Response`, content));
      }
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      response.statusCode = 400;
      const code = error.message;
      if (target) response.end(JSON.stringify({ __type: code, message: code }));
      else
        response.end(
          element(
            'ErrorResponse',
            element('Error', element('Code', code) + element('Message', 'does not exist')),
          ),
        );
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('it listens on no port');
  return {
    endpoint: `http://127.0.0.1:${address.port}`,
    tables,
    stacks,
    parameters,
    userPools,
    changes,
    inserted,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
};

import type { Context } from 'aws-lambda';
import { describe, expect, it } from 'vitest';
import { routes } from '../../../api/routes.ts';
import { safeLagMs } from '../../../core/records/rollups.ts';
import { dynamodbClient, s3Client } from '../../../foundations/storage/index.ts';
import { createBudget } from '../../../lambdas/common/http/request.ts';
import { findResource, findResources, type Resource, synthesize } from '../../support/stack/template.ts';

/*
 * From the inside out: connecting < one request to a store < what is spent on storage < the
 * function < API Gateway. Each has to end before the one around it, or the client gets a worse
 * answer than the one that could have been given.
 */

const template = synthesize();

/**
 * API Gateway's bound on a buffered integration and on an authorizer, and on a streamed answer, in
 * milliseconds.
 */
const bufferedMs = 29_000;
const streamedMs = 15 * 60_000;

/**
 * The time of one step on storage with all its tries, in milliseconds; `maxStepMs` in
 * foundations/storage/requests.ts.
 */
const maxStepMs = 25_000;

interface HandlerConfig {
  readonly connectionTimeout: number;
  readonly requestTimeout: number;
  readonly throwOnRequestTimeout: boolean;
}

/** The time-outs that a client was made with, in milliseconds. */
const getTimeouts = async (client: { config: { requestHandler: unknown } }): Promise<HandlerConfig> => {
  const handler = client.config.requestHandler as { configProvider: Promise<HandlerConfig> };
  return handler.configProvider;
};

const clients = { DynamoDB: dynamodbClient(), S3: await s3Client() };

/** What a function that has all its time left may spend on storage, in milliseconds. */
const storageMs = (functionMs: number): number => {
  const context = { getRemainingTimeInMillis: () => functionMs } as Context;
  return createBudget(context).deadline - Date.now();
};

describe.each(Object.entries(clients))('a request to %s', (_, client) => {
  it('gives up on connecting before it gives up on an answer, and really gives up', async () => {
    const { connectionTimeout, requestTimeout, throwOnRequestTimeout } = await getTimeouts(client);
    expect(connectionTimeout).toBeGreaterThan(0);
    expect(connectionTimeout).toBeLessThan(requestTimeout);
    expect(throwOnRequestTimeout).toBe(true);
  });
});

describe.each(routes)('$path', ({ timeoutSeconds, streaming, stores }) => {
  const functionMs = timeoutSeconds * 1000;

  it.runIf(Object.keys(stores).length > 0)(
    'may call storage three times within its request budget, which ends before the function',
    async () => {
      const spentMs = storageMs(functionMs);
      for (const client of Object.values(clients)) {
        const { requestTimeout } = await getTimeouts(client);
        expect(3 * requestTimeout).toBeLessThanOrEqual(Math.min(spentMs, maxStepMs));
      }
      expect(spentMs).toBeLessThanOrEqual(functionMs - 1000);
    },
  );

  it('ends before API Gateway stops waiting', () => {
    expect(functionMs).toBeLessThanOrEqual(streaming ? streamedMs : bufferedMs - 1000);
  });
});

describe('the settings', () => {
  const other = synthesize({ queryTimeoutSeconds: 60, inferenceTimeoutSeconds: 120 });
  const timeoutsOfFunctions = (from: typeof template): Map<string, unknown> =>
    new Map(
      [...findResources(from, 'AWS::Lambda::Function').values()].map(({ Properties }) => [
        String(Properties.Description),
        Properties.Timeout,
      ]),
    );
  const getSeconds = (path: string, from = other) => timeoutsOfFunctions(from).get(`POST ${path}`);

  it('give queries five minutes and models fifteen, or what they say', () => {
    expect(getSeconds('/calls/stream_query', template)).toBe(300);
    expect(getSeconds('/calls/stream_query')).toBe(60);
    expect(getSeconds('/calls/query_stats')).toBe(60);
    expect(getSeconds('/inference/v1/{path+}', template)).toBe(900);
    expect(getSeconds('/inference/v1/{path+}')).toBe(120);
    expect(getSeconds('/calls/delete')).toBe(300);
  });

  it('give API Gateway the same', () => {
    const waits = [...findResources(other, 'AWS::ApiGateway::Method').values()].map(
      ({ Properties }) => (Properties.Integration as { TimeoutInMillis?: number }).TimeoutInMillis,
    );
    expect(new Set(waits)).toEqual(new Set([undefined, 29_000, 60_000, 120_000, 300_000]));
  });
});

describe('the authorizer', () => {
  it('calls its table as often as the SDK does within its own time', async () => {
    const { requestTimeout } = await getTimeouts(clients.DynamoDB);
    const attempts = await clients.DynamoDB.config.maxAttempts();
    // The SDK waits at most a tenth of a second before its second try, and twice that before its
    // third.
    expect(attempts * requestTimeout + 300).toBeLessThan(10_000);
    expect(10_000).toBeLessThan(bufferedMs);
  });
});

interface Statement {
  readonly Action: string | readonly string[];
  readonly Resource: unknown;
}

const [callsId] = findResource(template, 'AWS::DynamoDB::Table', 'StorageCalls');
const writing =
  /^dynamodb:(?:BatchWriteItem|DeleteItem|PartiQL(?:Delete|Insert|Update)|PutItem|UpdateItem|\*)$/;

/** Whether a function's role lets it change the items of calls. */
const writesCalls = ({ Properties }: Resource): boolean => {
  const { 'Fn::GetAtt': role } = Properties.Role as { 'Fn::GetAtt': [string, string] };
  const { Policies = [] } = findResource(template, 'AWS::IAM::Role', role[0])[1].Properties as {
    Policies?: { PolicyDocument: { Statement: Statement[] } }[];
  };
  return Policies.flatMap(({ PolicyDocument }) => PolicyDocument.Statement).some(
    ({ Action, Resource: on }) =>
      [Action].flat().some((action) => writing.test(action)) && JSON.stringify(on).includes(`"${callsId}"`),
  );
};

/** Its calls come with their ends, so each knows its hour and marks it: decision 0161. */
const recordsWholeCalls = ({ Properties }: Resource): boolean =>
  String(Properties.Description).includes('/inference/');

/** What indexes and clocks may lag behind the last write of such a function, in milliseconds. */
const indexLagMs = 30_000;

describe('the functions that change calls', () => {
  const functions = [...findResources(template, 'AWS::Lambda::Function').values()]
    .filter((resource) => writesCalls(resource) && !recordsWholeCalls(resource))
    .map(({ Properties }) => [String(Properties.Description), Number(Properties.Timeout) * 1000] as const);

  it('are those that report, change and delete them', () => {
    expect(functions.length).toBeGreaterThanOrEqual(6);
    const described = functions.map(([description]) => description).join();
    for (const path of ['/call/end', '/call/upsert_batch', '/calls/delete', '/otel/v1/traces'])
      expect(described).toContain(path);
  });

  it.each(functions)('%s ends before marks of hours may be over', (_, functionMs) => {
    expect(functionMs + indexLagMs).toBeLessThanOrEqual(safeLagMs);
  });
});

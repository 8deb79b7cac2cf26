/** Stores in memory behind the real DynamoDB client, so that only this process's CPU time is measured. */

import { Readable } from 'node:stream';
import { HttpResponse } from '@smithy/core/protocols';
import { localCredentials } from 'cdk-local-runner';
import { localRegion } from 'cdk-local-runner/template';
import { dynamodbClient, type Store } from '../../foundations/storage/index.ts';

/**
 * The table's successful answers to the requests of a batch with starts and ends. Nothing is stored
 * before.
 */
const storeAnswers: Readonly<Record<string, (body: string) => string>> = {
  BatchWriteItem: () => '{"UnprocessedItems":{}}',
  BatchGetItem: () => '{"Responses":{},"UnprocessedKeys":{}}',
  BatchExecuteStatement: (body) => {
    const { Statements } = JSON.parse(body) as { Statements: readonly object[] };
    return JSON.stringify({ Responses: Statements.map(() => ({ TableName: 'calls' })) });
  },
  PutItem: () => '{}',
  UpdateItem: () => '{}',
  Query: () => '{"Items":[],"Count":0}',
};

/**
 * The configuration of an AWS client that does everything but send: requests are made, signed and
 * answered at once.
 *
 * @param answerTo the body of the answer to an operation and the body of its request
 */
export const answeringAtOnce = (answerTo: (operation: string, body: Buffer) => string, type: string) => ({
  region: localRegion,
  credentials: localCredentials,
  requestHandler: {
    handle: async (request: { headers: Record<string, string>; body?: string | Uint8Array }) => {
      const operation = request.headers['x-amz-target']?.split('.').at(-1) ?? '';
      const answer = answerTo(operation, Buffer.from(request.body ?? ''));
      const headers = { 'content-type': type, etag: '"0"' };
      return {
        response: new HttpResponse({ statusCode: 200, headers, body: Readable.from([Buffer.from(answer)]) }),
      };
    },
    metadata: { handlerProtocol: 'http/1.1' },
  } as never,
});

/** A store that takes all writes at once and holds nothing. */
export const instantStore = (): Store => {
  const answerTo = (operation: string, body: Buffer): string => {
    const answerTo = storeAnswers[operation];
    if (answerTo === undefined) throw new Error(`no answer is known to ${operation}`);
    return answerTo(body.toString());
  };
  const client = dynamodbClient(answeringAtOnce(answerTo, 'application/x-amz-json-1.0'));
  const bucket = { name: 'none', client: Promise.reject(new Error('nothing here is too big for an item')) };
  bucket.client.catch(() => {});
  return { table: { client, name: 'calls' }, bucket, shards: [4] };
};

/** CPU time of this process with all threads, in ms a call. */
export const cpuEach = async (task: () => Promise<unknown>, calls: number): Promise<number> => {
  const before = process.cpuUsage();
  await task();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000 / calls;
};

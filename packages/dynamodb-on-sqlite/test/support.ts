import { Agent, request } from 'node:http';
import { buffer } from 'node:stream/consumers';
import type { Fields } from '../src/values.ts';

/** An answer of a store: its status, and the JSON of its body. */
export interface Answer {
  readonly status: number;
  readonly body: Fields;
}

/** Sends requests to a store as they are on the wire. */
export interface Wire {
  readonly send: (operation: string, body: object) => Promise<Answer>;
  readonly close: () => void;
}

const streams = new Set(['DescribeStream', 'GetShardIterator', 'GetRecords']);

/** A client without the SDK's own checks and repeats. */
export const wireTo = (endpoint: string): Wire => {
  const agent = new Agent({ keepAlive: true });
  const send: Wire['send'] = async (operation, body) => {
    const service = streams.has(operation) ? 'DynamoDBStreams_20120810' : 'DynamoDB_20120810';
    const scope = 'local/20260101/us-east-1/dynamodb/aws4_request';
    const sent = request(endpoint, {
      method: 'POST',
      agent,
      headers: {
        'content-type': 'application/x-amz-json-1.0',
        'x-amz-target': `${service}.${operation}`,
        authorization: `AWS4-HMAC-SHA256 Credential=${scope}, SignedHeaders=host, Signature=0`,
      },
    });
    const { promise, resolve, reject } = Promise.withResolvers<Answer>();
    sent.once('error', reject);
    sent.once('response', (response) => {
      buffer(response).then(
        (bytes) => resolve({ status: response.statusCode ?? 0, body: JSON.parse(bytes.toString()) }),
        reject,
      );
    });
    sent.end(JSON.stringify(body));
    return promise;
  };
  return { send, close: () => agent.destroy() };
};

/** Bytes on the wire, of text. */
export const bytes = (text: string) => ({ B: Buffer.from(text).toString('base64') });

/** So many bytes on the wire. */
export const filled = (length: number) => ({ B: Buffer.alloc(length, 1).toString('base64') });

const key = (AttributeName: string, KeyType: string) => ({ AttributeName, KeyType });

const index = (IndexName: string, partition: string, sort: string, NonKeyAttributes?: readonly string[]) => ({
  IndexName,
  KeySchema: [key(partition, 'HASH'), key(sort, 'RANGE')],
  Projection: NonKeyAttributes
    ? { ProjectionType: 'INCLUDE', NonKeyAttributes }
    : { ProjectionType: 'KEYS_ONLY' },
});

/** A table with keys as the service's have them: bytes, and text to sort by. */
export const makeTable = (TableName: string) => ({
  TableName,
  BillingMode: 'PAY_PER_REQUEST',
  AttributeDefinitions: ['k', 'p', 't', 's', 'r'].map((AttributeName) => ({
    AttributeName,
    AttributeType: AttributeName === 'p' ? 'S' : 'B',
  })),
  KeySchema: [key('k', 'HASH'), key('p', 'RANGE')],
  GlobalSecondaryIndexes: [index('by_time', 't', 's', ['h', 'c']), index('by_trace', 'r', 's')],
  StreamSpecification: { StreamEnabled: true, StreamViewType: 'NEW_AND_OLD_IMAGES' },
});

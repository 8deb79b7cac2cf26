import { Agent as HttpAgent } from 'node:http';
import { Agent } from 'node:https';
import { DynamoDBClient, type DynamoDBClientConfig } from '@aws-sdk/client-dynamodb';
import type { S3Client } from '@aws-sdk/client-s3';
import { NodeHttpHandler } from '@smithy/node-http-handler';

/**
 * The connections that a container keeps to each store. It serves one request at a time, which
 * seldom has more batches, pages and writes under way.
 */
const maxSockets = 64;

/** Keep-alive connections with time-outs: one second to connect, so many ms to answer. */
export const httpHandler = (requestTimeoutMs: number) =>
  new NodeHttpHandler({
    connectionTimeout: 1000,
    requestTimeout: requestTimeoutMs,
    // Without it a time-out is only logged.
    throwOnRequestTimeout: true,
    httpAgent: new HttpAgent({ keepAlive: true, maxSockets }),
    httpsAgent: new Agent({ keepAlive: true, maxSockets }),
  });

/**
 * Makes a DynamoDB client for the life of a container: keep-alive, one second to connect, three to
 * answer.
 *
 * @param config what differs, e.g. the endpoint; functions need none
 */
export const dynamodbClient = (config: DynamoDBClientConfig = {}): DynamoDBClient => {
  const client = new DynamoDBClient({ maxAttempts: 3, requestHandler: httpHandler(3000), ...config });
  // It copies every row of every answer, even without a logger.
  client.middlewareStack.removeByTag('LOGGER');
  return client;
};

/**
 * Loads and makes an S3 client for the life of a container. It has keep-alive, one second to
 * connect, and six to answer (objects have up to 6 MB).
 */
export const s3Client = async (): Promise<S3Client> => {
  const { S3Client } = await import('@aws-sdk/client-s3');
  return new S3Client({
    maxAttempts: 3,
    requestHandler: httpHandler(6000),
    // Bodies are zstd frames with a checksum of their own. A trailing CRC would need a chunked
    // upload.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
  });
};

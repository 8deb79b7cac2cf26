import { Agent as HttpAgent } from 'node:http';
import { Agent } from 'node:https';
import { DynamoDBClient, type DynamoDBClientConfig } from '@aws-sdk/client-dynamodb';
import type { S3Client } from '@aws-sdk/client-s3';
import { NodeHttpHandler } from '@smithy/node-http-handler';

/**
 * How many connections a container keeps to each store. It serves one request at a time, whose
 * batches, pages and single writes together seldom are more.
 */
const maxSockets = 64;

const httpHandler = (requestTimeoutMs: number) =>
  new NodeHttpHandler({
    connectionTimeout: 1000,
    requestTimeout: requestTimeoutMs,
    // Without it a time-out is only logged.
    throwOnRequestTimeout: true,
    httpAgent: new HttpAgent({ keepAlive: true, maxSockets }),
    httpsAgent: new Agent({ keepAlive: true, maxSockets }),
  });

/**
 * A DynamoDB client for the life of a container: keep-alive, one second to connect, three to
 * answer.
 *
 * @param config where it differs, e.g. in the endpoint; a function's environment says all that is
 * needed
 */
export const dynamodbClient = (config: DynamoDBClientConfig = {}): DynamoDBClient => {
  const client = new DynamoDBClient({ maxAttempts: 3, requestHandler: httpHandler(3000), ...config });
  // It copies every row of every answer for a logger, be there none.
  client.middlewareStack.removeByTag('LOGGER');
  return client;
};

/**
 * An S3 client for the life of a container: keep-alive, one second to connect, six to answer
 * (objects have up to 6 MB). Its code is loaded with it.
 */
export const s3Client = async (): Promise<S3Client> => {
  const { S3Client } = await import('@aws-sdk/client-s3');
  return new S3Client({
    maxAttempts: 3,
    requestHandler: httpHandler(6000),
    // The bodies are zstd frames with a checksum of their own; a trailing CRC would cost a chunked
    // upload.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
  });
};

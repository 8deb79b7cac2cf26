import { EventBridgeClient } from '@aws-sdk/client-eventbridge';
import { S3Client } from '@aws-sdk/client-s3';
import { HttpResponse } from '@smithy/core/protocols';
import type { Bucket } from '../../core/foundations/storage/index.ts';
import type { EventBus } from '../../core/workers/events/index.ts';
import { localCredentials, localRegion } from '../../local/stores/store.ts';

/** A request as the SDK hands it over. */
interface Sent {
  readonly body?: string | Uint8Array;
}

/** Takes requests in the place of a network, and answers at once. */
const answering = (answerTo: (body: Buffer) => string, type: string) => ({
  region: localRegion,
  credentials: localCredentials,
  requestHandler: {
    handle: async ({ body = '' }: Sent) => ({
      response: new HttpResponse({
        statusCode: 200,
        headers: { 'content-type': type, etag: '"0"' },
        body: Buffer.from(answerTo(Buffer.from(body))),
      }),
    }),
    metadata: { handlerProtocol: 'http/1.1' },
  } as never,
});

/** What was sent to a target so far. */
export interface Tally {
  requests: number;
  /** Events of the bus. */
  events: number;
  /** Bytes of files. */
  bytes: number;
}

/** A bus that takes every event at once. */
export const instantBus = (tally: Tally): EventBus => {
  const client = new EventBridgeClient(
    answering((body) => {
      const { Entries } = JSON.parse(body.toString()) as { Entries: readonly object[] };
      tally.requests++;
      tally.events += Entries.length;
      return JSON.stringify({ FailedEntryCount: 0, Entries: Entries.map(() => ({ EventId: 'e' })) });
    }, 'application/x-amz-json-1.1'),
  );
  return { client, name: 'default' };
};

/** A bucket that takes every file at once. */
export const instantBucket = (tally: Tally): Bucket => {
  const client = new S3Client(
    answering((body) => {
      tally.requests++;
      tally.bytes += body.length;
      return '';
    }, 'application/xml'),
  );
  return { client, name: 'files' };
};

import type { _Record as StreamsRecord } from '@aws-sdk/client-dynamodb-streams';
import type { AttributeValue, DynamoDBRecord } from 'aws-lambda';
import { localRegion } from '../stores/store.ts';

/** Bytes become base64, as in JSON; all else stays. */
const toJson = (value: unknown): unknown => {
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64');
  if (Array.isArray(value)) return value.map(toJson);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, toJson(inner)]));
};

type Image = Record<string, AttributeValue>;

/** A record of DynamoDB Streams as Lambda brings it to a function. */
export const lambdaRecord = (
  { eventID, eventName, userIdentity, dynamodb = {} }: StreamsRecord,
  streamArn: string,
): DynamoDBRecord => {
  const { ApproximateCreationDateTime: at, SequenceNumber, Keys, NewImage, OldImage } = dynamodb;
  return {
    ...(eventID !== undefined && { eventID }),
    ...(eventName !== undefined && { eventName }),
    eventSource: 'aws:dynamodb',
    eventSourceARN: streamArn,
    awsRegion: localRegion,
    ...(userIdentity && { userIdentity: toJson(userIdentity) }),
    dynamodb: {
      ...(at && { ApproximateCreationDateTime: Math.floor(at.getTime() / 1000) }),
      ...(SequenceNumber !== undefined && { SequenceNumber }),
      ...(Keys && { Keys: toJson(Keys) as Image }),
      ...(NewImage && { NewImage: toJson(NewImage) as Image }),
      ...(OldImage && { OldImage: toJson(OldImage) as Image }),
    },
  };
};

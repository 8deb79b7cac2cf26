import { z } from 'zod';
import type { TemplateReader } from './reader.ts';

const keys = z.array(z.object({ AttributeName: z.string(), KeyType: z.enum(['HASH', 'RANGE']) }));

const tableProperties = z.object({
  KeySchema: keys,
  AttributeDefinitions: z.array(
    z.object({ AttributeName: z.string(), AttributeType: z.enum(['B', 'N', 'S']) }),
  ),
  GlobalSecondaryIndexes: z
    .array(
      z.object({
        IndexName: z.string(),
        KeySchema: keys,
        Projection: z.object({
          ProjectionType: z.enum(['ALL', 'INCLUDE', 'KEYS_ONLY']),
          NonKeyAttributes: z.array(z.string()).optional(),
        }),
      }),
    )
    .optional(),
  StreamSpecification: z
    .object({
      StreamViewType: z.enum(['KEYS_ONLY', 'NEW_IMAGE', 'OLD_IMAGE', 'NEW_AND_OLD_IMAGES']),
    })
    .optional(),
  TimeToLiveSpecification: z.object({ AttributeName: z.string(), Enabled: z.boolean() }).optional(),
});

/** The name of a table, and its schema as the template declares it. */
export interface TableSpec {
  readonly name: string;
  readonly properties: z.output<typeof tableProperties>;
}

export const readTables = (reader: TemplateReader): TableSpec[] =>
  reader
    .resources('AWS::DynamoDB::Table', tableProperties)
    .map(({ id, properties }) => ({ name: reader.ref(id), properties }));

/** The names of a stack's buckets. */
export const readBuckets = (reader: TemplateReader): string[] =>
  reader.resources('AWS::S3::Bucket', z.object({})).map(({ id }) => reader.ref(id));

import { z } from 'zod';
import type { FunctionSpec } from './functions.ts';
import type { TemplateReader } from './reader.ts';

/** A pattern of records, as EventBridge writes patterns. */
export type Pattern = Readonly<Record<string, unknown>>;

/** An event source mapping: what Lambda brings of a table's stream to a function, and how. */
export interface SubscriptionSpec {
  /** The name of the table. */
  readonly table: string;
  readonly function: FunctionSpec;
  /** Of which one has to fit a record; empty for all records. */
  readonly filters: readonly Pattern[];
  /** The most records of a batch. */
  readonly batchSize: number;
  /** How long a batch gathers, in ms. */
  readonly windowMs: number;
  /** After how long a record is given up, in ms. */
  readonly maxAgeMs: number;
}

/** The defaults are Lambda's. Only mappings as this stack makes them are understood. */
const properties = z.object({
  EventSourceArn: z.string(),
  FunctionName: z.string(),
  BatchSize: z.number().default(100),
  MaximumBatchingWindowInSeconds: z.number().default(0),
  MaximumRecordAgeInSeconds: z.number().default(86_400),
  BisectBatchOnFunctionError: z.literal(true),
  FunctionResponseTypes: z.tuple([z.literal('ReportBatchItemFailures')]),
  FilterCriteria: z.object({ Filters: z.array(z.object({ Pattern: z.string() })) }).default({ Filters: [] }),
});

/**
 * The event source mappings of a stack.
 *
 * @throws Error if one has a form that is not supported locally
 */
export const readSubscriptions = (
  reader: TemplateReader,
  functions: ReadonlyMap<string, FunctionSpec>,
): SubscriptionSpec[] =>
  reader.resources('AWS::Lambda::EventSourceMapping', properties).map(({ id, properties: mapping }) => {
    const target = [...functions.values()].find(({ name }) => name === mapping.FunctionName);
    const [, table] = /:table\/([^/]+)\/stream\//.exec(mapping.EventSourceArn) ?? [];
    if (!target || table === undefined)
      throw new Error(`event source mapping ${id} is not supported locally`);
    return {
      table,
      function: target,
      filters: mapping.FilterCriteria.Filters.map(({ Pattern: text }) => JSON.parse(text) as Pattern),
      batchSize: mapping.BatchSize,
      windowMs: mapping.MaximumBatchingWindowInSeconds * 1000,
      maxAgeMs: mapping.MaximumRecordAgeInSeconds * 1000,
    };
  });

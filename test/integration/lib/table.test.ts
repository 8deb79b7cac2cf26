import { App, Stack } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { describe, expect, it } from 'vitest';
import {
  type KeyAttribute,
  type TableDeclaration,
  tables,
} from '../../../core/foundations/storage/tables.ts';
import { readConfig } from '../../../lib/config.ts';
import { makeTable } from '../../../lib/table.ts';
import { cdkContext, temporaryFolder } from '../../support/project.ts';
import { resourcesOf, synthesize } from '../../support/synth.ts';

const type = 'AWS::DynamoDB::Table';

/** What a template says of a table's keys, indexes, expiry and stream. */
const schemaOf = ({ partition, sort, expiry, indexes, stream }: TableDeclaration) => {
  const keySchema = (keys: { readonly partition: KeyAttribute; readonly sort?: KeyAttribute }) => [
    { AttributeName: keys.partition.name, KeyType: 'HASH' },
    ...(keys.sort ? [{ AttributeName: keys.sort.name, KeyType: 'RANGE' }] : []),
  ];
  const keys = [partition, sort, ...Object.values(indexes).flatMap((index) => [index.partition, index.sort])];
  const types = new Map(keys.flatMap((key) => (key ? [[key.name, key.type] as const] : [])));
  const made = Object.entries(indexes).map(([IndexName, index]) => ({
    IndexName,
    KeySchema: keySchema(index),
    Projection: { ProjectionType: 'INCLUDE', NonKeyAttributes: index.projects },
  }));
  return {
    KeySchema: keySchema({ partition, ...(sort && { sort }) }),
    AttributeDefinitions: [...types].map(([AttributeName, AttributeType]) => ({
      AttributeName,
      AttributeType,
    })),
    ...(made.length > 0 && { GlobalSecondaryIndexes: made }),
    ...(expiry !== undefined && { TimeToLiveSpecification: { AttributeName: expiry, Enabled: true } }),
    ...(stream && { StreamSpecification: { StreamViewType: stream } }),
  };
};

const schemaProperties = [
  ...['KeySchema', 'AttributeDefinitions', 'GlobalSecondaryIndexes', 'LocalSecondaryIndexes'],
  ...['TimeToLiveSpecification', 'StreamSpecification'],
];

/** The schemas of a template's tables, by the declared tables' constructs. */
const schemasIn = (template: Template): [string, unknown][] =>
  [...resourcesOf(template, type)].map(([id, { Properties }]) => {
    const construct = /(?<name>[A-Z][a-z]+)[0-9A-F]{8}$/.exec(id)?.groups?.name ?? id;
    const own = Object.entries(Properties).filter(([name]) => schemaProperties.includes(name));
    return [construct, Object.fromEntries(own)];
  });

const withoutStream = ({ stream: _, ...declaration }: TableDeclaration): TableDeclaration => declaration;

const declared = (without: readonly string[] = [], streams = false): [string, unknown][] =>
  Object.entries(tables)
    .filter(([name]) => !without.includes(name))
    .map(([, declaration]) => [
      declaration.construct,
      schemaOf(streams ? declaration : withoutStream(declaration)),
    ]);

const sorted = (schemas: [string, unknown][]) => schemas.toSorted(([a], [b]) => a.localeCompare(b));

describe('the tables of the template', () => {
  it('are the declared ones, but for the counts of a limit that is not set', () => {
    expect(sorted(schemasIn(synthesize()))).toEqual(sorted(declared(['rates'])));
  });

  it('have the streams that are declared with events, and only then', () => {
    expect(sorted(schemasIn(synthesize({ analytics: true })))).toEqual(sorted(declared(['rates'], true)));
    expect(JSON.stringify(schemasIn(synthesize()))).not.toContain('Stream');
  });

  it('are all the declared ones with a limit on inference', () => {
    expect(sorted(schemasIn(synthesize({ inferenceRatePerMinute: 60 })))).toEqual(sorted(declared()));
  });
});

describe('a declared table', () => {
  it.each(Object.entries(tables))(
    'gives the attributes of %s one type each',
    (_, table: TableDeclaration) => {
      const keys = Object.values(table.indexes).flatMap((index) => [index.partition, index.sort]);
      for (const key of [table.partition, table.sort, ...keys])
        for (const other of [table.partition, table.sort, ...keys])
          if (key?.name === other?.name) expect(key?.type).toBe(other?.type);
    },
  );

  it('has the stream that it is declared with', () => {
    const stack = new Stack(new App({ outdir: temporaryFolder(), analyticsReporting: false }));
    const declaration: TableDeclaration = { ...tables.calls, stream: 'KEYS_ONLY' };
    makeTable(stack, declaration, readConfig({ ...cdkContext, events: true }));
    expect(schemasIn(Template.fromStack(stack))).toEqual([['Calls', schemaOf(declaration)]]);
  });
});

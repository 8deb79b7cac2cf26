import { describe, expect, it } from 'vitest';
import { type Dataset, datasets } from '../../../core/workers/analytics/index.ts';
import { viewQuery } from '../../../lib/analytics-catalog.ts';
import { findResource, findResources, synthesize } from '../../support/stack/template.ts';

const template = synthesize({ analytics: { scanLimitGb: 3 }, retentionDays: 30 });

interface TableInput {
  readonly Name: string;
  readonly TableType: string;
  readonly Parameters: Record<string, unknown>;
  readonly ViewOriginalText?: string;
  readonly StorageDescriptor: { readonly Columns: readonly { Name: string; Type: string }[] };
}

const tables = new Map(
  [...findResources(template, 'AWS::Glue::Table').values()].map(({ Properties }) => {
    const input = Properties.TableInput as TableInput;
    return [input.Name, input];
  }),
);

describe('the catalog', () => {
  it.each(Object.keys(datasets) as Dataset[])(
    'has a table of %s with the columns of the files',
    (dataset) => {
      const table = tables.get(`${dataset}_states`);
      expect(table?.StorageDescriptor.Columns.map(({ Name }) => Name)).toEqual(
        datasets[dataset].map(({ name }) => name),
      );
      expect(table?.Parameters).toMatchObject({
        'projection.enabled': 'true',
        'projection.project.type': 'injected',
        'projection.day.type': 'date',
      });
      expect(JSON.stringify(table?.Parameters['storage.location.template'])).toContain(
        `/${dataset}/project=\${project}/day=\${day}/`,
      );
    },
  );

  it.each(Object.keys(datasets) as Dataset[])('has a view of %s as Athena stores views', (dataset) => {
    const view = tables.get(dataset);
    const [, encoded = ''] = /^\/\* Presto View: (\S+) \*\/$/.exec(view?.ViewOriginalText ?? '') ?? [];
    const definition = JSON.parse(Buffer.from(encoded, 'base64').toString()) as {
      originalSql: string;
      schema: string;
      columns: { name: string; type: string }[];
    };
    expect(view?.TableType).toBe('VIRTUAL_VIEW');
    expect(definition.originalSql).toBe(viewQuery(dataset));
    const [, { Properties: database }] = findResource(template, 'AWS::Glue::Database');
    expect((database.DatabaseInput as { Name: string }).Name).toBe(definition.schema);
    expect(definition.columns.map(({ name }) => name)).toEqual(
      view?.StorageDescriptor.Columns.map(({ Name }) => Name),
    );
  });

  it('types money as decimals, and usage by model as a map', () => {
    const columns = tables.get('calls')?.StorageDescriptor.Columns ?? [];
    const typesByColumn = Object.fromEntries(columns.map(({ Name, Type }) => [Name, Type]));
    expect(typesByColumn).toMatchObject({
      started_at: 'timestamp',
      total_cost: 'decimal(18,9)',
      costs: 'map<string,decimal(18,9)>',
      usage: expect.stringMatching(/^map<string,struct<prompt_tokens:bigint,/),
    });
  });
});

describe('the bucket and the workgroup', () => {
  it('end queries that read too much, and delete files and results', () => {
    const [, { Properties: group }] = findResource(template, 'AWS::Athena::WorkGroup');
    expect(group.WorkGroupConfiguration).toMatchObject({
      BytesScannedCutoffPerQuery: 3_000_000_000,
      EnforceWorkGroupConfiguration: true,
    });
    const [, { Properties: bucket }] = findResource(template, 'AWS::S3::Bucket', 'AnalyticsFiles');
    const { Rules } = bucket.LifecycleConfiguration as { Rules: { Id: string; ExpirationInDays?: number }[] };
    expect(Object.fromEntries(Rules.map(({ Id, ExpirationInDays }) => [Id, ExpirationInDays]))).toEqual({
      uploads: undefined,
      results: 7,
      calls: 33,
      feedback: 33,
    });
  });
});

describe('the functions of streams', () => {
  const withBoth = synthesize({ analytics: true, events: true });
  const getPolicies = (idStart: string): string =>
    JSON.stringify(findResource(withBoth, 'AWS::IAM::Role', idStart)[1].Properties.Policies);

  it('may read what they need, and put what they make', () => {
    expect(getPolicies('Analytics')).toContain('s3:PutObject');
    expect(getPolicies('Events')).toContain('events:PutEvents');
    for (const policy of [getPolicies('Analytics'), getPolicies('Events')]) {
      for (const action of ['dynamodb:GetRecords', 'dynamodb:BatchGetItem', 'sqs:SendMessage'])
        expect(policy).toContain(action);
      for (const action of ['DeleteItem', 'UpdateItem', 'BatchWriteItem', 's3:DeleteObject'])
        expect(policy).not.toContain(action);
    }
    // Events keep the places of starts that come after their ends.
    expect(
      [getPolicies('Analytics'), getPolicies('Events')].map((policy) => policy.includes('PutItem')),
    ).toEqual([false, true]);
  });
});

import { CfnOutput, Stack } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import { tables } from '../foundations/storage/tables.ts';
import type { Config } from './config.ts';
import { withOwnCommands } from './packaged.ts';
import { defaultId, Pennytrace, type Prebuilt } from './pennytrace.ts';

interface PennytraceStackProps extends Prebuilt {
  readonly config: Config;
}

/** The service alone in a stack for any account and region, with outputs that name its stores. */
export class PennytraceStack extends Stack {
  readonly service: Pennytrace;

  constructor(scope: Construct, { config, ...prebuilt }: PennytraceStackProps) {
    const { stackName, ...settings } = config;
    super(scope, stackName, {
      description: 'Tracing, feedback and inference for LLM applications, paid per request',
    });

    // The id keeps the logical ids of before there was the construct: another one would be another
    // table for what is stored.
    const service = new Pennytrace(this, defaultId, settings, prebuilt);
    this.service = service;

    this.#output('ApiUrl', service.apiUrl, 'The base URL of the service');
    if (service.domainTarget !== undefined)
      this.#output('DomainTarget', service.domainTarget, 'What the DNS record of the domain points to');
    this.#output(tables.keys.output, service.keysTable.tableName, 'Where `npm run keys` keeps the keys');
    this.#output(tables.calls.output, service.callsTable.tableName, 'Where calls are kept');
    this.#output(tables.objects.output, service.objectsTable.tableName, 'Where objects are kept');
    this.#output('PayloadsBucket', service.payloadsBucket.bucketName, 'Where big payloads are kept');
    this.#output(tables.costs.output, service.costsTable.tableName, 'Where prices of models are kept');
    this.#output(tables.feedback.output, service.feedbackTable.tableName, 'Where feedback is kept');
    this.#output(
      tables.bookkeeping.output,
      service.rollupsTable.tableName,
      'Where rollups of calls are kept',
    );
    this.#output(tables.audit.output, service.auditTable.tableName, 'Where the audit trail is kept');
    this.#analyticsOutputs(service);
    this.#alertsOutputs(service);
    if (service.userPool)
      this.#output('UserPool', service.userPool.userPoolId, 'Where people are invited: docs/people.md');
  }

  /** What there is with the setting `analytics` alone. */
  #analyticsOutputs({ analyticsBucket, analyticsDatabase }: Pennytrace): void {
    if (!analyticsBucket || analyticsDatabase === undefined) return;
    this.#output('AnalyticsBucket', analyticsBucket.bucketName, 'Where the files of analytics are');
    this.#output('AnalyticsDatabase', analyticsDatabase, 'The database and the workgroup of Athena');
  }

  /** What there is with the setting `alerts` alone. */
  #alertsOutputs({ alertsTopic, webhooksPrefix }: Pennytrace): void {
    if (!alertsTopic || webhooksPrefix === undefined) return;
    this.#output('AlertsTopic', alertsTopic.topicArn, 'The topic that alerts tell');
    this.#output('WebhooksPrefix', webhooksPrefix, 'Where `npm run webhooks` keeps webhooks');
  }

  #output(name: string, value: string, description: string): void {
    new CfnOutput(this, name, { value, description: withOwnCommands(description) });
  }
}

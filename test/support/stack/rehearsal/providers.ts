import { randomUUID } from 'node:crypto';
import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { S3Client } from '@aws-sdk/client-s3';
import { createBuckets, createTables } from 'cdk-local-runner';
import { LambdaFunction } from 'cdk-local-runner/runtime';
import {
  type Assembly,
  type FunctionSpec,
  policySchema,
  readFunctions,
  readTables,
  templateReader,
} from 'cdk-local-runner/template';
import { z } from 'zod';
import type { SecretsManager } from '../../service/secrets-manager.ts';
import type { TestUpstream } from '../../service/upstream.ts';
import type { Provider } from './deploy.ts';

/** What resources are made on. */
export interface Places {
  readonly dynamodb: DynamoDBClient;
  readonly s3: S3Client;
  /** The endpoint that has topics and queues. */
  readonly messages: string;
  readonly secrets: SecretsManager;
  /** Where custom resources send their answers. */
  readonly cloudFormation: TestUpstream;
  readonly assets: Assembly['assets'];
  /** Variables for functions that run. */
  readonly environment: Readonly<Record<string, string>>;
  readonly stackName: string;
}

/** What a custom resource answers. */
const answer = z.object({
  Status: z.literal('SUCCESS'),
  PhysicalResourceId: z.string(),
  Data: z.record(z.string(), z.string()).optional(),
});

export type CustomAnswer = z.output<typeof answer>;

/** Invokes a function once and waits for its end. */
const invoke = async (spec: FunctionSpec, event: object, environment: Places['environment']) => {
  const lambda = new LambdaFunction({ spec, environment, log: () => {} });
  try {
    const output = await lambda.invoke(JSON.stringify(event), new AbortController().signal);
    for await (const _chunk of output);
  } finally {
    await lambda.kill();
  }
};

/**
 * Sends a custom resource's function a request, as CloudFormation does.
 *
 * @returns what the function answered
 * @throws ZodError if that was no success
 */
export const requestCustom = async (
  spec: FunctionSpec,
  request: Readonly<Record<string, unknown>>,
  { cloudFormation, environment }: Pick<Places, 'cloudFormation' | 'environment'>,
): Promise<CustomAnswer> => {
  const event = {
    RequestId: randomUUID(),
    StackId: 'stack',
    ResponseURL: `${cloudFormation.baseUrl}/answer`,
    ...request,
  };
  await invoke(spec, event, environment);
  return answer.parse(cloudFormation.last().body);
};

const queue = z.object({ QueueUrl: z.url() });

const role = z.object({
  AssumeRolePolicyDocument: z.object({
    Statement: z.tuple([z.object({ Principal: z.object({ Service: z.string() }) })]),
  }),
  Policies: z.array(z.object({ PolicyDocument: policySchema })).default([]),
});

/** Makes resources where there is something that takes them. */
export const createProviders = (places: Places): Readonly<Record<string, Provider>> => {
  const { dynamodb, s3, messages, secrets, assets, stackName } = places;
  return {
    'AWS::DynamoDB::Table': async ({ id, resource, template }) => {
      const reader = templateReader({ template: { ...template, Resources: { [id]: resource } } }, stackName);
      await createTables({ tables: readTables(reader) }, dynamodb);
      return undefined;
    },
    'AWS::S3::Bucket': async ({ ref }) => {
      await createBuckets({ buckets: [ref] }, s3);
      return undefined;
    },
    'AWS::SNS::Topic': async ({ ref }) => {
      const body = new URLSearchParams({ Action: 'CreateTopic', Version: '2010-03-31', Name: ref });
      const made = await fetch(messages, { method: 'POST', body });
      const [, arn] = /<TopicArn>(.*?)<\/TopicArn>/.exec(await made.text()) ?? [];
      if (!made.ok || arn === undefined) throw new Error(`no topic ${ref} was made: ${made.status}`);
      return { ref: arn };
    },
    'AWS::SQS::Queue': async ({ ref }) => {
      const made = await fetch(messages, {
        method: 'POST',
        headers: { 'content-type': 'application/x-amz-json-1.0', 'x-amz-target': 'AmazonSQS.CreateQueue' },
        body: JSON.stringify({ QueueName: ref }),
      });
      return { ref: queue.parse(await made.json()).QueueUrl };
    },
    'AWS::SecretsManager::Secret': async ({ ref, resource: { Properties = {} } }) => ({
      ref: secrets.create(ref, Properties.GenerateSecretString ? randomUUID() : undefined),
    }),
    'AWS::IAM::Role': async ({ resource }) => {
      role.parse(resource.Properties);
      return undefined;
    },
    'Custom::PennytraceKey': async ({ id, resource: { Properties }, template }) => {
      const functions = readFunctions(templateReader({ template }, stackName), assets);
      const spec = functions.get(String(Properties.ServiceToken));
      if (!spec) throw new Error(`${id} has no function`);
      const request = { RequestType: 'Create', LogicalResourceId: id, ResourceProperties: Properties };
      const { PhysicalResourceId: ref, Data: attributes = {} } = await requestCustom(spec, request, places);
      return { ref, attributes };
    },
  };
};

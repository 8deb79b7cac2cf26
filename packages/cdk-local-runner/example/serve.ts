/**
 * Serves a CDK app that was synthesized to a folder, with all its data in memory: `node serve.ts cdk.out 8080`.
 */

import { once } from 'node:events';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { S3Client } from '@aws-sdk/client-s3';
import { listen, newCredentials } from 'aws-stand-in';
import { createBuckets, createTables, runStack, startS3, storeEnvironment } from 'cdk-local-runner';
import { localRegion, readStack } from 'cdk-local-runner/template';
import { startStore } from 'dynamodb-on-sqlite';

const [folder = 'cdk.out', port = '0'] = process.argv.slice(2);
const stack = readStack(folder);

// Stores that take only what is signed with a secret of this run
const credentials = newCredentials();
const signing = { secret: credentials.secretAccessKey };
const [dynamodb, s3] = await Promise.all([startStore({ signing }), startS3({ signing })]);
const client = { region: localRegion, credentials };
await createTables(stack, new DynamoDBClient({ ...client, endpoint: dynamodb.endpoint }));
await createBuckets(stack, new S3Client({ ...client, endpoint: s3.endpoint }));

const running = await runStack({
  stack,
  environment: storeEnvironment(dynamodb.endpoint, s3.endpoint, credentials),
  dynamodb: dynamodb.endpoint,
  credentials,
  signing,
  log: (source, line) => console.error(`${source}: ${line}`),
});
const server = await listen(Number(port), Promise.resolve(running.listener), { pages: true });
console.log(`http://127.0.0.1:${server.port}`);

await Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')]);
await server.stop();
await running.stop();
await Promise.all([dynamodb.stop(), s3.stop()]);
process.exit(0);

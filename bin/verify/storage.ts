import { randomBytes } from 'node:crypto';
import { DescribeTimeToLiveCommand } from '@aws-sdk/client-dynamodb';
import {
  deleteObject,
  deleteReadObject,
  dynamodbClient,
  putObject,
  readObject,
  replaceObject,
  requestBudget,
  s3Client,
} from '../../foundations/storage/index.ts';
import { tables } from '../../foundations/storage/tables.ts';
import { ask, must, readJson, readText, requireStack, type Target, theLog } from './check.ts';

export const bucket = async (target: Target): Promise<void> => {
  const { project, run } = target;
  // Too long for an item: it goes to the bucket, with conditions on what is there.
  const val = { text: randomBytes(600_000).toString('base64') };
  const create = () =>
    ask(target, '/obj/create', { body: { obj: { project_id: project, object_id: run, val } } });
  const { digest } = (await readJson(await create())) as { digest: string };
  await readText(await create());
  const body = { project_id: project, object_id: run, digest };
  const { obj } = (await readJson(await ask(target, '/obj/read', { body }))) as {
    obj: { val: { text: string } };
  };
  must(obj.val.text === val.text, 'the value came back as another', theLog);
};

export const feedback = async (target: Target): Promise<void> => {
  const { project, run } = target;
  const record = { project_id: project, feedback_type: 'verify', payload: { run } };
  const ref = { svc_ref: `svc:///${project}/call/${run}-0` };
  await readText(await ask(target, '/feedback/create', { body: { ...record, ...ref } }));
};

const conditionsAdvice = 'docs/decisions/0070: deletions need S3’s If-Match';
const budget = () => requestBudget(20_000);

/** S3 replaces and deletes an object only if it is still as it was read. */
export const conditions = async (target: Target): Promise<void> => {
  const name = requireStack(target).outputs.PayloadsBucket ?? '';
  const client = await s3Client();
  const bucket = { client, name };
  const key = `verify/${target.run}`;
  try {
    await putObject(bucket, key, Buffer.from('first'), budget());
    const etag = async () => (await readObject(bucket, key, budget()))?.etag ?? '';
    const first = await etag();
    must(
      await replaceObject(bucket, key, Buffer.from('second'), first, budget()),
      'If-Match refuses the ETag that an object has',
      conditionsAdvice,
    );
    must(
      !(await replaceObject(bucket, key, Buffer.from('third'), first, budget())),
      'If-Match replaces an object that has changed',
      conditionsAdvice,
    );
    must(
      !(await deleteReadObject(bucket, key, first, budget())),
      'If-Match deletes an object that has changed',
      conditionsAdvice,
    );
    must(
      await deleteReadObject(bucket, key, await etag(), budget()),
      'If-Match does not delete an object that has not changed',
      conditionsAdvice,
    );
  } finally {
    await deleteObject(bucket, key, budget());
    client.destroy();
  }
};

/** Items of each table expire by the attribute that the service writes. */
export const expiry = async (target: Target): Promise<void> => {
  const { outputs } = requireStack(target);
  const client = dynamodbClient();
  try {
    for (const declared of Object.values(tables)) {
      // The table of rates has no output.
      if (!('expiry' in declared && 'output' in declared)) continue;
      const name = outputs[declared.output];
      const { TimeToLiveDescription: found } = await client.send(
        new DescribeTimeToLiveCommand({ TableName: name }),
      );
      const { TimeToLiveStatus: status = 'DISABLED', AttributeName: attribute } = found ?? {};
      must(
        /^ENABL/.test(status) && attribute === declared.expiry,
        `time to live of ${name} is ${status}, by ${attribute ?? 'nothing'}, not by ${declared.expiry}`,
        `npm run restore -- --complete ${name}`,
      );
    }
  } finally {
    client.destroy();
  }
};

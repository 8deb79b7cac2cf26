import type { CloudFormationCustomResourceEvent, Context } from 'aws-lambda';
import { isKeyId, makeReporterKey, revokeKey } from '../core/foundations/auth/index.ts';
import { KeySecret } from '../core/foundations/auth/reporter-key.ts';
import { keysFromEnvironment } from './http/key-store.ts';
import { wantedBy } from './report-key/properties.ts';
import { type CustomResourceAnswer, respond } from './report-key/respond.ts';

/** Made once per container, while it starts. */
const keys = keysFromEnvironment(process.env);

const nowMicros = (): number => Date.now() * 1000;

/** The physical id of a resource that was never made. */
const noKey = 'none';

/** What is done, and the attributes of the resource. */
type Done = Pick<CustomResourceAnswer, 'PhysicalResourceId' | 'Data'>;

/**
 * Makes a new key for each change: CloudFormation has the old one revoked once everybody has the
 * new one, because its physical id is another.
 */
const make = async ({ RequestId, ResourceProperties }: CloudFormationCustomResourceEvent): Promise<Done> => {
  const wanted = wantedBy(ResourceProperties);
  const secret = new KeySecret(wanted.secret);
  const id = await makeReporterKey(keys, secret, RequestId, wanted, nowMicros());
  return { PhysicalResourceId: id, Data: { KeyId: id, VersionId: RequestId } };
};

const revoke = async (id: string): Promise<Done> => {
  if (!isKeyId(id)) return { PhysicalResourceId: id };
  await revokeKey(keys.table, id, nowMicros()).catch((error: unknown) => {
    // Without the table there are no keys, and nothing that should keep the stack from going.
    if (!(error instanceof Error && error.name === 'ResourceNotFoundException')) throw error;
  });
  return { PhysicalResourceId: id };
};

const done = (event: CloudFormationCustomResourceEvent): Promise<Done> =>
  event.RequestType === 'Delete' ? revoke(event.PhysicalResourceId) : make(event);

const reasonOf = (error: unknown): string =>
  error instanceof Error ? `${error.name}: ${error.message}` : String(error);

/**
 * The custom resource behind `Pennytrace.grantReport`: makes a key when it is created or changed,
 * and revokes it when it is deleted. CloudFormation never sees the key.
 */
export const handler = async (
  event: CloudFormationCustomResourceEvent,
  { awsRequestId }: Pick<Context, 'awsRequestId'>,
): Promise<void> => {
  const { RequestType, RequestId, StackId, LogicalResourceId, ResponseURL } = event;
  const former = 'PhysicalResourceId' in event ? event.PhysicalResourceId : noKey;
  const result = await done(event).then(
    (made) => ({ Status: 'SUCCESS', ...made }) as const,
    (error: unknown) => ({ Status: 'FAILED', Reason: reasonOf(error), PhysicalResourceId: former }) as const,
  );
  const { Status, PhysicalResourceId: keyId } = result;
  const level = Status === 'SUCCESS' ? 'info' : 'error';
  const reason = 'Reason' in result ? { reason: result.Reason } : {};
  const line = { level, message: 'report key', lambdaRequestId: awsRequestId, RequestType, keyId, ...reason };
  process.stdout.write(`${JSON.stringify(line)}\n`);
  await respond(ResponseURL, { ...result, RequestId, StackId, LogicalResourceId });
};

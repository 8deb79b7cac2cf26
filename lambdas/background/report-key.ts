import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { setTimeout as sleep } from 'node:timers/promises';
import type { CloudFormationCustomResourceEvent, Context } from 'aws-lambda';
import * as z from 'zod/mini';
import {
  addRoleGrant,
  isKeyId,
  isUser,
  makeReporterKey,
  parseRoleArn,
  type Reporter,
  type RoleArn,
  removeRoleGrant,
  revokeKey,
  roleArnRule,
  toRoleId,
} from '../../foundations/auth/index.ts';
import { KeySecret } from '../../foundations/auth/reporter-key.ts';
import { type ProjectId, parseProjectId } from '../../foundations/wire/index.ts';
import { keysFromEnvironment } from '../common/http/key-store.ts';

/** What the custom resource says of a key. `Rotation` only makes one request unlike another. */
const schema = z.object({
  Secret: z.string(),
  User: z.string().check(z.refine(isUser, 'should be 1 to 128 printable characters, without : " and \\')),
  Project: z.string(),
});

/** The same of a role that is granted to report. */
const roleSchema = z.object({ Role: z.string(), Project: z.string() });

/** The key to make, and the secret that it goes into. */
interface Wanted extends Reporter {
  readonly secret: string;
}

/**
 * Reads the properties of the custom resource.
 *
 * @throws Error which names what is wrong with them
 */
const readProperties = <T extends { readonly Project: string }>(
  form: z.ZodMiniType<T>,
  properties: unknown,
): T & { readonly project: ProjectId } => {
  const { success, data, error } = form.safeParse(properties);
  if (!success)
    throw new Error(
      error.issues.map(({ path, message }) => `the property ${path.join('.')}: ${message}`).join('; '),
    );
  const project = parseProjectId(data.Project);
  if (project === undefined)
    throw new Error(`the property Project is ${data.Project}: should be <entity>/<project>`);
  return { ...data, project };
};

/** @throws Error which names what is wrong with the properties */
const wantedBy = (properties: unknown): Wanted => {
  const { Secret: secret, User: user, project } = readProperties(schema, properties);
  return { secret, user, project };
};

/** @throws Error which names what is wrong with the properties */
const reportingRole = (properties: unknown): { readonly arn: RoleArn; readonly project: ProjectId } => {
  const { Role, project } = readProperties(roleSchema, properties);
  const arn = parseRoleArn(Role);
  if (arn === undefined) throw new Error(`the property Role is ${Role}: ${roleArnRule}`);
  return { arn, project };
};

/**
 * What CloudFormation is told of a request
 * (https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/crpg-ref-responses.html).
 */
interface CustomResourceAnswer {
  readonly Status: 'SUCCESS' | 'FAILED';
  readonly Reason?: string;
  readonly PhysicalResourceId: string;
  readonly StackId: string;
  readonly RequestId: string;
  readonly LogicalResourceId: string;
  readonly Data?: Readonly<Record<string, string>>;
}

const tries = 4;
const pauseMs = 1000;
const timeoutMs = 5000;

const put = (url: URL, body: string): Promise<void> => {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const send = url.protocol === 'http:' ? httpRequest : httpsRequest;
  // The URL is signed for an empty content type.
  const headers = { 'content-type': '', 'content-length': Buffer.byteLength(body) };
  const sent = send(url, { method: 'PUT', headers, timeout: timeoutMs }, (answer) => {
    answer.resume();
    const { statusCode = 0 } = answer;
    if (statusCode < 300) resolve();
    else reject(new Error(`CloudFormation's answer to the answer is ${statusCode}`));
  });
  sent.on('timeout', () => sent.destroy(new Error('CloudFormation took no answer in time')));
  sent.on('error', reject);
  sent.end(body);
  return promise;
};

/**
 * Answers CloudFormation, which otherwise waits for as long as the resource's time-out.
 *
 * @param url the signed URL of the request
 * @throws Error after four tries: Lambda then repeats the whole request
 */
const respond = async (url: string, answer: CustomResourceAnswer): Promise<void> => {
  const body = JSON.stringify(answer);
  for (let left = tries - 1; ; left--) {
    try {
      return await put(new URL(url), body);
    } catch (error) {
      if (left === 0) throw error;
      await sleep(pauseMs);
    }
  }
};

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

/** Each change is another grant, as {@link make} says of keys. */
const grant = async ({ RequestId, ResourceProperties }: CloudFormationCustomResourceEvent): Promise<Done> => {
  const { arn, project } = reportingRole(ResourceProperties);
  await addRoleGrant(keys.table, arn, RequestId, { scope: project, role: 'write' }, nowMicros());
  return { PhysicalResourceId: `${toRoleId(arn)}:${RequestId}` };
};

/** Takes away what a resource has made: a key, or one grant of a role. */
const takeAway = async (id: string): Promise<void> => {
  const [keyId = '', granted] = id.split(':');
  if (!isKeyId(keyId)) return;
  if (granted === undefined) await revokeKey(keys.table, keyId, nowMicros());
  else await removeRoleGrant(keys.table, keyId, granted);
};

const revoke = async (id: string): Promise<Done> => {
  await takeAway(id).catch((error: unknown) => {
    // Without the table there are no keys, and nothing that should keep the stack from going.
    if (!(error instanceof Error && error.name === 'ResourceNotFoundException')) throw error;
  });
  return { PhysicalResourceId: id };
};

const done = (event: CloudFormationCustomResourceEvent): Promise<Done> =>
  event.RequestType === 'Delete'
    ? revoke(event.PhysicalResourceId)
    : event.ResourceType === 'Custom::PennytraceRole'
      ? grant(event)
      : make(event);

const toReason = (error: unknown): string =>
  error instanceof Error ? `${error.name}: ${error.message}` : String(error);

/**
 * The custom resources behind `Pennytrace.grantReport`: make a key or grant a role something when they are
 * created or changed, and take it away when they are deleted. CloudFormation never sees the key.
 */
export const handler = async (
  event: CloudFormationCustomResourceEvent,
  { awsRequestId }: Pick<Context, 'awsRequestId'>,
): Promise<void> => {
  const { RequestType, RequestId, StackId, LogicalResourceId, ResponseURL } = event;
  const former = 'PhysicalResourceId' in event ? event.PhysicalResourceId : noKey;
  const result = await done(event).then(
    (made) => ({ Status: 'SUCCESS', ...made }) as const,
    (error: unknown) => ({ Status: 'FAILED', Reason: toReason(error), PhysicalResourceId: former }) as const,
  );
  const { Status, PhysicalResourceId: keyId } = result;
  const level = Status === 'SUCCESS' ? 'info' : 'error';
  const reason = 'Reason' in result ? { reason: result.Reason } : {};
  const line = { level, message: 'report key', lambdaRequestId: awsRequestId, RequestType, keyId, ...reason };
  process.stdout.write(`${JSON.stringify(line)}\n`);
  await respond(ResponseURL, { ...result, RequestId, StackId, LogicalResourceId });
};

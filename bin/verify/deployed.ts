import {
  CloudFormationClient,
  DescribeStacksCommand,
  paginateListStackResources,
  type StackResourceSummary,
} from '@aws-sdk/client-cloudformation';
import { Sha256 } from '@smithy/core/checksum';
import { SignatureV4 } from '@smithy/signature-v4';
import { NotTried, Red } from './outcomes.ts';

/** A service of AWS: as signatures and host names name it, and as `AWS_ENDPOINT_URL_…` does. */
interface Service {
  readonly signedAs: string;
  readonly variable: string;
}

/** The services that are asked without an SDK's client. */
const services = {
  athena: { signedAs: 'athena', variable: 'ATHENA' },
  lambda: { signedAs: 'lambda', variable: 'LAMBDA' },
  logs: { signedAs: 'logs', variable: 'CLOUDWATCH_LOGS' },
  monitoring: { signedAs: 'monitoring', variable: 'CLOUDWATCH' },
  secrets: { signedAs: 'secretsmanager', variable: 'SECRETS_MANAGER' },
} as const satisfies Readonly<Record<string, Service>>;

export type ServiceName = keyof typeof services;

/** A request to a service of AWS. */
export interface AwsRequest {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'DELETE';
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** A deployed stack, as CloudFormation tells of it. */
export interface Deployed {
  readonly status: string;
  readonly outputs: Readonly<Record<string, string>>;
  readonly resources: readonly StackResourceSummary[];
  /** Asks a service of AWS, with the credentials of whoever runs this. */
  readonly ask: (service: ServiceName, request: AwsRequest) => Promise<string>;
}

/**
 * Where SDKs send requests to a service instead of its own place.
 *
 * @see https://docs.aws.amazon.com/sdkref/latest/guide/feature-ss-endpoints.html
 */
const configuredEndpoint = ({ variable }: Service): string | undefined =>
  process.env.AWS_IGNORE_CONFIGURED_ENDPOINT_URLS === 'true'
    ? undefined
    : process.env[`AWS_ENDPOINT_URL_${variable}`] || process.env.AWS_ENDPOINT_URL || undefined;

/** The end of host names in a region's partition. */
const domain = (region: string): string => (region.startsWith('cn-') ? 'amazonaws.com.cn' : 'amazonaws.com');

/** What an emulator answers about an operation that it lacks. AWS has all operations that are asked for here. */
const lacksOperation = (status: number, text: string): boolean =>
  status === 404 ||
  status === 405 ||
  status === 501 ||
  /UnknownOperation|NotImplemented|InvalidAction|not supported|not (yet )?implemented/i.test(text);

/** `askAws` of foundations/aws only POSTs, as functions do. Lambda tells of a function by GET. */
const requester =
  ({ config }: CloudFormationClient): Deployed['ask'] =>
  async (name, { method = 'POST', path = '/', headers = {}, body = '' }) => {
    const service = services[name];
    const region = await config.region();
    const emulator = configuredEndpoint(service);
    const url = new URL(path, emulator ?? `https://${service.signedAs}.${region}.${domain(region)}`);
    const signer = new SignatureV4({
      service: service.signedAs,
      region,
      credentials: config.credentials,
      sha256: Sha256,
    });
    const signed = await signer.sign({
      method,
      protocol: url.protocol,
      hostname: url.hostname,
      path: url.pathname,
      query: Object.fromEntries(url.searchParams),
      headers: { ...headers, host: url.host },
      body,
    });
    const answer = await fetch(url, {
      method,
      headers: signed.headers,
      ...(body !== '' && { body }),
    });
    const text = await answer.text();
    if (answer.ok) return text;
    const found = `${service.signedAs} answers ${answer.status}: ${text.slice(0, 200)}`;
    if (emulator !== undefined && lacksOperation(answer.status, text))
      throw new NotTried(`the emulator at ${url.origin} does not have it: ${found}`);
    throw new Red(found, 'check the permissions of your AWS credentials');
  };

/**
 * Asks for an operation of a service that speaks JSON 1.1.
 *
 * @param target the operation with its service's name: `AmazonAthena.GetQueryResults`
 */
export const askJson = async (
  { ask }: Deployed,
  service: ServiceName,
  target: string,
  body: object,
): Promise<unknown> => {
  const headers = { 'content-type': 'application/x-amz-json-1.1', 'x-amz-target': target };
  return JSON.parse(await ask(service, { headers, body: JSON.stringify(body) }));
};

/**
 * Reads what there is to know of a deployed stack.
 *
 * @throws the SDK's error if AWS refuses
 */
export const readDeployed = async (stack: string): Promise<Deployed> => {
  const client = new CloudFormationClient();
  const { Stacks = [] } = await client.send(new DescribeStacksCommand({ StackName: stack }));
  const resources: StackResourceSummary[] = [];
  for await (const page of paginateListStackResources({ client }, { StackName: stack }))
    resources.push(...(page.StackResourceSummaries ?? []));
  const outputs = (Stacks[0]?.Outputs ?? []).map(({ OutputKey = '', OutputValue = '' }) => [
    OutputKey,
    OutputValue,
  ]);
  return {
    status: Stacks[0]?.StackStatus ?? '',
    outputs: Object.fromEntries(outputs),
    resources,
    ask: requester(client),
  };
};

/** The physical ids of a stack's resources of a type, by the beginning of their logical ids. */
export const findResources = ({ resources }: Deployed, type: string, beginning = ''): string[] =>
  resources
    .filter(
      ({ ResourceType, LogicalResourceId = '' }) =>
        ResourceType === type && LogicalResourceId.startsWith(beginning),
    )
    .map(({ PhysicalResourceId = '' }) => PhysicalResourceId);

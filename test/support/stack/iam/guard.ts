import { Agent, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { Agent as SecureAgent, request as secureRequest } from 'node:https';
import { buffer } from 'node:stream/consumers';
import type { StandIn } from 'aws-stand-in';
import { listen } from 'aws-stand-in';
import { type Access, allowsAccess, type FunctionSpec, type Policy } from 'cdk-local-runner/template';
import { dynamodbAccesses, s3Accesses } from './accesses.ts';

/** What the functions of a stack may do, and who is told. */
export interface GuardOptions {
  readonly specs: readonly FunctionSpec[];
  /** The policies of each function, by its ARN. */
  readonly policies: ReadonlyMap<string, readonly Policy[]>;
  /** Takes each access that is allowed and done. */
  readonly used: (spec: FunctionSpec, access: Access) => void;
  /** Takes a line for each request that is refused. */
  readonly log: (line: string) => void;
}

/** No policy allows a request, so the store refuses it. */
class AccessDenied extends Error {}

/** DynamoDB Local accepts only letters and digits. */
const toAccessKey = (at: number): string => `function${at}`;

/** Gives each function an access key, by which the guard knows whose request it is. */
export const withAccessKeys = (specs: readonly FunctionSpec[]): FunctionSpec[] =>
  specs.map((spec, at) => ({
    ...spec,
    environment: { ...spec.environment, AWS_ACCESS_KEY_ID: toAccessKey(at) },
  }));

/** The function of a request, by the access key of its signature, which is not checked. */
const findCaller = ({ headers }: IncomingMessage, { specs }: GuardOptions): FunctionSpec => {
  const [, key] = /Credential=([^/]+)\//.exec(headers.authorization ?? '') ?? [];
  const spec = specs.find((_, at) => toAccessKey(at) === key);
  if (!spec) throw new AccessDenied(`no function has the access key ${key}`);
  return spec;
};

/** What a store's guard does with requests: which may pass, and how others are refused. */
interface Gate {
  /** @throws AccessDenied; Error if the request is not known */
  readonly check: (req: IncomingMessage, body: Buffer) => { readonly hidesAbsence: boolean };
  readonly refuse: (res: ServerResponse, message: string) => void;
}

const checker = (req: IncomingMessage, options: GuardOptions) => {
  const spec = findCaller(req, options);
  const policies = options.policies.get(spec.arn) ?? [];
  const allows = (access: Access): boolean => {
    const allowed = allowsAccess(policies, access);
    if (allowed) options.used(spec, access);
    return allowed;
  };
  const require = (access: Access): void => {
    if (allows(access)) return;
    throw new AccessDenied(`${spec.name} may not ${access.action} on ${access.resource}`);
  };
  return { allows, require };
};

const dynamodbGate = (options: GuardOptions): Gate => ({
  check: (req, body) => {
    const { require } = checker(req, options);
    const operation = String(req.headers['x-amz-target'] ?? '').replace(/^.*\./, '');
    for (const access of dynamodbAccesses(operation, body.toString('utf8'))) require(access);
    return { hidesAbsence: false };
  },
  refuse: (res, message) => {
    const type = 'com.amazon.coral.service#AccessDeniedException';
    res
      .writeHead(400, { 'content-type': 'application/x-amz-json-1.0' })
      .end(JSON.stringify({ __type: type, Message: message }));
  },
});

const s3Gate = (options: GuardOptions): Gate => ({
  check: (req) => {
    const { allows, require } = checker(req, options);
    const { needed, toSeeAbsence } = s3Accesses(req.method ?? '', req.url ?? '', req.headers);
    for (const access of needed) require(access);
    return { hidesAbsence: toSeeAbsence !== undefined && !allows(toSeeAbsence) };
  },
  refuse: (res, message) => {
    const xml = `<?xml version="1.0" encoding="UTF-8"?><Error><Code>AccessDenied</Code><Message>${message}</Message></Error>`;
    res.writeHead(403, { 'content-type': 'application/xml' }).end(xml);
  },
});

/** Sends requests on to a store. */
const forwarder = (target: string) => {
  const secure = target.startsWith('https:');
  const agent = secure ? new SecureAgent({ keepAlive: true }) : new Agent({ keepAlive: true });
  const ask = secure ? secureRequest : request;
  const forward = (req: IncomingMessage, body: Buffer, res: ServerResponse): Promise<IncomingMessage> => {
    const { expect: _between, ...headers } = req.headers;
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
    const onward = ask(new URL(req.url ?? '/', target), { method: req.method, headers, agent }, resolve);
    onward.once('error', reject).end(body);
    // Nobody waits for the answer any more.
    res.once('close', () => onward.destroy());
    return promise;
  };
  return { forward, end: () => agent.destroy() };
};

/** A proxy before a store. It passes what the functions' policies allow. */
const guard = async (target: string, gate: Gate, log: GuardOptions['log']): Promise<StandIn> => {
  const { forward, end } = forwarder(target);
  const serve = async (req: IncomingMessage, res: ServerResponse): Promise<void> => {
    if (req.headers.expect !== undefined) res.writeContinue();
    const body = await buffer(req);
    const { hidesAbsence } = gate.check(req, body);
    const answer = await forward(req, body, res);
    if (hidesAbsence && answer.statusCode === 404) {
      answer.resume();
      throw new AccessDenied(
        `${req.url} is not there, which is for those alone to know who may list the bucket`,
      );
    }
    const bytes = await buffer(answer);
    res.writeHead(answer.statusCode ?? 502, answer.headers).end(bytes);
  };
  const server = await listen(
    0,
    Promise.resolve((req, res) => {
      serve(req, res).catch((error: unknown) => {
        // A store broke off or the caller went away. Anything else is for the developer to see.
        if (!(error instanceof AccessDenied) && error instanceof Error && 'code' in error)
          return res.destroy();
        const message = error instanceof Error ? error.message : String(error);
        log(`refused: ${message}`);
        gate.refuse(res, message);
      });
    }),
  );
  const stop = async () => {
    await server.stop();
    end();
  };
  return { endpoint: `http://127.0.0.1:${server.port}`, stop };
};

/**
 * Puts guards before the stores. They refuse what a function's role does not allow, as AWS does.
 * The functions need the keys of {@link withAccessKeys}. Only inline policies of roles count, not
 * those of sessions, buckets or keys.
 *
 * @param cleanup ends the guards
 */
export const guardStores = async (
  { dynamodb, s3 }: { readonly dynamodb: string; readonly s3: string },
  options: GuardOptions,
  cleanup: AsyncDisposableStack,
): Promise<{ dynamodb: string; s3: string }> => {
  const inFront = async (target: string, gate: Gate): Promise<string> => {
    const { endpoint, stop } = await guard(target, gate, options.log);
    cleanup.defer(stop);
    return endpoint;
  };
  return {
    dynamodb: await inFront(dynamodb, dynamodbGate(options)),
    s3: await inFront(s3, s3Gate(options)),
  };
};

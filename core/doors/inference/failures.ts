import { ServiceError } from '../../foundations/wire/index.ts';

const upstreamFailure = (status: number, type: string, msg: string, cause?: unknown): ServiceError =>
  new ServiceError(status, [{ loc: ['upstream'], msg, type }], { cause });

/** 404, as OpenAI answers: no rule matches the model. */
export const unknownModel = (model: string): ServiceError =>
  new ServiceError(404, [
    {
      loc: ['body', 'model'],
      msg: `no upstream is configured for the model ${model}`,
      type: 'model_not_found',
    },
  ]);

/** 502: the service is deployed without upstreams. */
export const noUpstream = (): ServiceError =>
  upstreamFailure(
    502,
    'no_upstream',
    'no upstream is configured: list upstreams in the setting inferenceUpstreams (docs/inference.md)',
  );

/** 502: the upstream cannot be reached, or closed the connection before its answer. */
export const upstreamUnreachable = (upstream: string, cause: unknown): ServiceError =>
  upstreamFailure(
    502,
    'upstream_unreachable',
    `the upstream ${upstream} cannot be reached or closed the connection`,
    cause,
  );

/** 502: the service cannot read its key for the upstream. */
export const upstreamKeyUnreadable = (upstream: string, cause: unknown): ServiceError =>
  upstreamFailure(502, 'upstream_key', `the key of the upstream ${upstream} cannot be read`, cause);

/** 502: the upstream answered with a redirect, which the service does not follow. */
export const upstreamRedirected = (upstream: string): ServiceError =>
  upstreamFailure(
    502,
    'upstream_redirect',
    `the upstream ${upstream} answered with a redirect: correct its baseUrl`,
  );

/** 504: no answer within the time that the caller, or else the service, gives the request. */
export const upstreamTimedOut = (
  upstream: string,
  seconds: number,
  isCallersTimeout: boolean,
): ServiceError =>
  new ServiceError(
    504,
    [
      {
        loc: ['upstream'],
        msg: `the upstream ${upstream} gave no answer within ${seconds} s`,
        type: 'timeout',
      },
    ],
    { isCallersTimeout },
  );

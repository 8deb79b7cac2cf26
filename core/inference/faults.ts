import { ServiceError } from '../wire/index.ts';

const upstreamFault = (status: number, type: string, msg: string, cause?: unknown): ServiceError =>
  new ServiceError(status, [{ loc: ['upstream'], msg, type }], { cause });

/** 404, as OpenAI has it: no rule sends the model anywhere. */
export const unknownModel = (model: string): ServiceError =>
  new ServiceError(404, [
    {
      loc: ['body', 'model'],
      msg: `no upstream is configured for the model ${model}`,
      type: 'model_not_found',
    },
  ]);

/** 502: the service was deployed without any upstream. */
export const noUpstream = (): ServiceError =>
  upstreamFault(
    502,
    'no_upstream',
    'no upstream is configured: the setting inferenceUpstreams says where models are (docs/inference.md)',
  );

/** 502: the upstream could not be reached, or broke the connection off before its answer. */
export const unreachable = (upstream: string, cause: unknown): ServiceError =>
  upstreamFault(
    502,
    'upstream_unreachable',
    `the upstream ${upstream} cannot be reached or broke off`,
    cause,
  );

/** 502: the service has no key for the upstream. */
export const noKey = (upstream: string, cause: unknown): ServiceError =>
  upstreamFault(502, 'upstream_key', `the key of the upstream ${upstream} cannot be read`, cause);

/** 502: the upstream would have the request sent elsewhere, which the service does not do. */
export const redirected = (upstream: string): ServiceError =>
  upstreamFault(
    502,
    'upstream_redirect',
    `the upstream ${upstream} answered with a redirect: mend its baseUrl`,
  );

/** 504: no answer within the time of the request. */
export const tooLate = (upstream: string, seconds: number): ServiceError =>
  upstreamFault(504, 'timeout', `the upstream ${upstream} gave no answer within ${seconds} s`);

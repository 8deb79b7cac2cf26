import {
  asString,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  plainNumber,
} from '../../../../foundations/wire/index.ts';
import { anthropicErrorType, openAiErrorType } from '../error.ts';
import type { UpstreamError } from './answer.ts';
import type { ClientApi } from './translation.ts';

/**
 * The statuses of errors that come inside a stream, which has a 200: by Anthropic's types, OpenAI's types
 * and codes, and Bedrock's exceptions without `Exception`, all in lower case and letters alone.
 */
const statuses: ReadonlyMap<string, number> = new Map(
  Object.entries({
    invalidrequesterror: 400,
    validation: 400,
    authenticationerror: 401,
    billingerror: 402,
    permissionerror: 403,
    accessdenied: 403,
    notfounderror: 404,
    resourcenotfound: 404,
    requesttoolarge: 413,
    modelerror: 424,
    modelstreamerror: 424,
    ratelimiterror: 429,
    ratelimitexceeded: 429,
    insufficientquota: 429,
    modelnotready: 429,
    throttling: 429,
    servicequotaexceeded: 429,
    serviceunavailable: 503,
    modeltimeout: 504,
    timeouterror: 504,
    overloadederror: 529,
  }),
);

const findStatus = (code: string | undefined): number | undefined =>
  statuses.get(
    (code ?? '')
      .toLowerCase()
      .replace(/[^a-z]/g, '')
      .replace(/exception$/, ''),
  );

/** Providers have numbers of their own, too. */
const isErrorStatus = (code: number): boolean => Number.isInteger(code) && code >= 400 && code < 600;

/** The longest message of an error that is no JSON, such as a proxy's page. */
const maxText = 1000;

/**
 * Reads an error of any upstream: OpenAI's and Anthropic's `{"error": {…}}`, Bedrock's `{"message": …}`,
 * or a text.
 *
 * @param status of the answer; undefined inside a stream
 * @param name the event's name, if it is one
 */
export const readError = (value: JsonValue, status?: number, name?: string): UpstreamError => {
  if (!isJsonObject(value)) {
    const text = typeof value === 'string' ? value.trim().slice(0, maxText) : JSON.stringify(value);
    const message = text === '' ? 'the upstream gave no reason' : text;
    return { status: status ?? findStatus(name) ?? 500, message, code: name };
  }
  const { error = value } = value;
  if (!isJsonObject(error)) return readError(error, status, name);
  // Bedrock writes it in either case.
  const message = asString(error.message) ?? asString(error.Message) ?? JSON.stringify(error);
  const codes = [
    asString(error.code),
    asString(error.type),
    asString(error.__type)?.replace(/^.*#/, ''),
    name,
  ];
  const numeric = plainNumber(error.code ?? null);
  const known = codes.map(findStatus).find((each) => each !== undefined);
  return {
    status: status ?? known ?? (typeof numeric === 'number' && isErrorStatus(numeric) ? numeric : 500),
    message,
    code: codes.find((code) => code !== undefined && code !== 'error'),
  };
};

/** An error's body in a client's API. */
export const writeError = (api: ClientApi, { status, message, code }: UpstreamError): JsonObject =>
  api === 'messages'
    ? { type: 'error', error: { type: anthropicErrorType(status), message } }
    : { error: { message, type: openAiErrorType(status), param: null, code: code ?? null } };

/** The error of an answer that stopped in its middle. */
export const incomplete: UpstreamError = {
  status: 502,
  message: 'the upstream closed its answer before it was complete',
  code: 'upstream_incomplete',
};

/** The error of an event that cannot be read. */
export const unreadable: UpstreamError = {
  status: 502,
  message: 'the upstream sent an event that is not JSON',
  code: 'upstream_unreadable',
};

/** The error of an answer that is none of its API. */
export const unreadableAnswer: UpstreamError = {
  status: 502,
  message: 'the upstream answered with what is no answer of its API',
  code: 'upstream_unreadable',
};

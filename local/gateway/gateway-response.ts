import type { GatewayResponseSpec } from '../template/gateway-responses.ts';
import { type RefusalType, refusals } from './refusal.ts';

/** What a gateway response can show of its request. */
export interface ResponseContext {
  readonly requestId: string;
  /** The media type of the request's body; empty if it says none. */
  readonly mediaType: string;
  /** The authorizer's context; empty before it was asked. */
  readonly authorizer: Readonly<Record<string, string>>;
}

/** An answer with its complete body. */
export interface CompleteAnswer {
  readonly status: number;
  /** Names and values in order. A name may occur several times. */
  readonly headers: readonly (readonly [string, string])[];
  readonly body: Buffer;
}

const contextVariable = /\$?context\.((?:\w+\.)*\w+)/;

/** Matches every `$context` variable of a body template. */
const contextVariables = /\$context\.((?:\w+\.)*\w+)|\$\{context\.((?:\w+\.)*\w+)\}/g;

const contextValue = (
  name: string,
  type: RefusalType,
  { requestId, authorizer }: ResponseContext,
): string => {
  const { message } = refusals[type];
  switch (name) {
    case 'requestId':
    case 'extendedRequestId':
      return requestId;
    case 'error.message':
      return message;
    case 'error.messageString':
      return JSON.stringify(message);
    case 'error.responseType':
      return type;
  }
  if (name.startsWith('authorizer.')) return authorizer[name.slice('authorizer.'.length)] ?? '';
  throw new Error(`$context.${name} is not supported locally in a gateway response`);
};

/** A header's value from its expression: a text in single quotes, or a context variable. */
const headerValue = (expression: string, type: RefusalType, context: ResponseContext): string => {
  const [, text] = /^'(.*)'$/s.exec(expression) ?? [];
  if (text !== undefined) return text;
  const [whole, name] = contextVariable.exec(expression) ?? [];
  if (whole !== expression || name === undefined)
    throw new Error(`the header expression ${expression} is not supported locally in a gateway response`);
  return contextValue(name, type, context);
};

const json = 'application/json';
const awsTemplate = '{"message":$context.error.messageString}';

/**
 * Renders the gateway's own answer. The template's response of this type goes first, then its
 * default for the status class, then API Gateway's. Of several media types the request's own
 * counts; AWS does not document how it chooses.
 *
 * @throws Error if the template has an expression that is not supported locally
 */
export const renderGatewayResponse = (
  responses: ReadonlyMap<string, GatewayResponseSpec>,
  type: RefusalType,
  context: ResponseContext,
): CompleteAnswer => {
  const { status } = refusals[type];
  const spec = responses.get(type) ?? responses.get(status < 500 ? 'DEFAULT_4XX' : 'DEFAULT_5XX');
  const templates = spec?.templates ?? {};
  const mediaType = Object.hasOwn(templates, context.mediaType) ? context.mediaType : json;
  const template = templates[mediaType] ?? awsTemplate;
  const body = template.replace(contextVariables, (_whole, plain?: string, braced?: string) =>
    contextValue(plain ?? braced ?? '', type, context),
  );
  const headers = Object.entries(spec?.headers ?? {}).map(
    ([name, expression]) => [name, headerValue(expression, type, context)] as const,
  );
  return {
    status: spec?.status ?? status,
    headers: [['content-type', mediaType], ...headers],
    body: Buffer.from(body),
  };
};

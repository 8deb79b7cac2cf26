import type { JsonObject } from '../../../../foundations/wire/index.ts';
import type { Api, ClientApi, Translation, TranslationOptions } from './translation.ts';

export type { Api, ClientApi, EventTranslator, Translation, TranslationOptions } from './translation.ts';

/**
 * Translates a request into the API of its upstream.
 *
 * @param from the API that the client speaks
 * @param to the API that the upstream speaks
 * @param body the client's body without the service's own fields, its numbers as `parseJson` reads them
 * @param model the model's name at the upstream
 * @returns undefined if both are the same: then the request is passed on
 * @throws ServiceError 422 with each place in the body that cannot be said in the other API
 */
export const translate = (
  from: ClientApi,
  to: Api,
  _body: JsonObject,
  _model: string,
  _options: TranslationOptions = {},
): Translation | undefined => {
  if (from === to) return undefined;
  throw new Error(`${from} is not translated to ${to} yet`);
};

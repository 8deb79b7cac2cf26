import { answerGraphql } from '../core/doors/weave/graphql.ts';
import { graphql } from '../weave/api/service.ts';
import { endpoint } from './http/endpoint.ts';

/** `POST /graphql`: what Weave's SDKs ask of Weights & Biases. Any valid key may ask. */
export const handler = endpoint(graphql, ({ caller, body }) => answerGraphql(caller, body));

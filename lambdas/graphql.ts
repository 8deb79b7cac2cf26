import { graphql } from '../weave/api/service.ts';
import { answerGraphql } from '../weave/graphql.ts';
import { endpoint } from './http/endpoint.ts';

/** `POST /graphql`: what Weave's SDKs ask of Weights & Biases. Any valid key may ask. */
export const handler = endpoint(graphql, ({ caller, body }) => answerGraphql(caller, body));

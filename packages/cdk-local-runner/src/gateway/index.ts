export { collect, parseMetadata } from './answer.ts';
export { gateway } from './gateway.ts';
export { matcher, proxyEvent } from './request.ts';

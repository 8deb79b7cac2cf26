export { type UsageAnswer, type UsageRequest, usageOf } from './usage.ts';

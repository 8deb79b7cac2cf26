export { type Authentication, authenticate, type KeyStore, type Refusal } from './authenticate.ts';
export * from './caller.ts';
export type { AcceptedScheme, Scheme } from './credentials.ts';
export * from './grant.ts';
export { formatKey, isKeyId, type Key, makeKey, parseKey } from './key.ts';
export { type Grantee, isUser, type KeyRecord, type KeyState, keyState, newRecord } from './record.ts';
export { makeReporterKey, type Reporter } from './reporter-key.ts';
export * from './table.ts';

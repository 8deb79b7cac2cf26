export {
  type AcceptedScheme,
  type Authentication,
  authenticate,
  type KeyStore,
  type Refusal,
  type Scheme,
} from './authenticate.ts';
export * from './grants.ts';
export {
  formatKey,
  type Grantee,
  getKey,
  isKeyId,
  isUser,
  type Key,
  type KeyRecord,
  type KeyState,
  keyState,
  listKeys,
  makeKey,
  newRecord,
  parseKey,
  putKey,
  revokeKey,
} from './keys.ts';
export { makeReporterKey, type Reporter } from './reporter-key.ts';
export { describeRefusal, includesRole, type Role, roles } from './roles.ts';

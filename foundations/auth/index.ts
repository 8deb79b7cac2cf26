export {
  type AcceptedScheme,
  type Authentication,
  authenticate,
  type KeyStore,
  type Refusal,
  type Scheme,
} from './authenticate.ts';
export * from './grants.ts';
export { parseRoleArn, type RoleArn, roleArnRule, toRoleId } from './iam-role.ts';
export { Issuer, type IssuerDocument, IssuerError, isIssuerUrl } from './issuer.ts';
export {
  addRoleGrant,
  formatKey,
  type Grantee,
  type GrantRecord,
  getKey,
  grantRole,
  isKeyId,
  isUser,
  type Key,
  type KeyRecord,
  type KeyState,
  keyState,
  listKeys,
  makeKey,
  newRecord,
  noteUse,
  parseKey,
  putKey,
  readRecord,
  readRecords,
  removeRoleGrant,
  revokeKey,
} from './keys.ts';
export {
  isMember,
  listMembers,
  type Member,
  type MemberChange,
  type MemberId,
  type Membership,
  memberRule,
  parseGroup,
  parseMember,
  parsePerson,
  setMember,
  toMemberId,
} from './members.ts';
export { type FindPerson, makeFindPerson, type Person, type PersonSession } from './person.ts';
export { makeReporterKey, type Reporter } from './reporter-key.ts';
export { describeRefusal, includesRole, type Role, roles } from './roles.ts';
export { type SignInSettings, signInFromEnvironment, type TokenKind } from './sign-in.ts';
export { iamFromEnvironment, makeFindRole } from './sts.ts';

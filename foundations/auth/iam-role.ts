import { createHash } from 'node:crypto';

/** The ARN of an IAM role without its path: `arn:aws:iam::123456789012:role/reporter`. */
export type RoleArn = `arn:${string}:iam::${string}:role/${string}`;

/** The longest path and name that IAM takes, and what is before them. */
const maxArnLength = 640;

const roleArn = /^arn:(aws[a-z-]*):iam::(\d{12}):role\/(?:[\x21-\x7e]+\/)?([\w+=,.@-]{1,64})$/;
const sessionArn = /^arn:(aws[a-z-]*):sts::(\d{12}):assumed-role\/([\w+=,.@-]{1,64})\/[\w+=,.@-]{2,64}$/;

const readArn = (form: RegExp, text: string): RoleArn | undefined => {
  if (text.length > maxArnLength) return undefined;
  const [, partition, account, name] = form.exec(text) ?? [];
  return name === undefined ? undefined : `arn:${partition}:iam::${account}:role/${name}`;
};

/** The rule for ARNs of roles, for error messages. */
export const roleArnRule = 'should be the ARN of an IAM role: arn:aws:iam::123456789012:role/reporter';

/**
 * Parses the ARN of a role. Its path is dropped: STS does not say it, and no two roles of an account have
 * the same name.
 *
 * @returns undefined if the text is no ARN of a role
 */
export const parseRoleArn = (text: string): RoleArn | undefined => readArn(roleArn, text);

/**
 * The role behind an ARN of `GetCallerIdentity`: `arn:aws:sts::123456789012:assumed-role/reporter/session`.
 *
 * @returns undefined if it is not the session of a role: a user, a root user or a federated one
 */
export const toRoleArn = (callerArn: string): RoleArn | undefined => readArn(sessionArn, callerArn);

/** The partition of a role: `aws`, `aws-cn`, … */
export const getPartition = (arn: RoleArn): string => arn.split(':')[1] ?? '';

const idLength = 16;

/** The id of what a role is granted. It looks like that of a key, and is always the same for a role. */
export const toRoleId = (arn: RoleArn): string =>
  BigInt(`0x${createHash('sha256').update(arn).digest('hex')}`)
    .toString(36)
    .padStart(idLength, '0')
    .slice(-idLength);

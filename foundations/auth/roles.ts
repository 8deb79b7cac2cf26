/*
 * What a grant allows. Nothing is imported here, since browsers load this as it is: the page knows
 * beforehand what a key may do.
 */

/**
 * What a grant can allow, and what each role includes beside itself. `report` adds calls and feedback, and
 * neither reads nor changes anything: docs/decisions/0281. `inference` stands by itself. `admin` is what it
 * takes to make something that spends money or speaks to others.
 */
const included = {
  read: [],
  report: [],
  write: ['read', 'report'],
  inference: [],
  admin: ['read', 'report', 'write', 'inference'],
} as const satisfies Readonly<Record<string, readonly string[]>>;
export type Role = keyof typeof included;

/** All roles, in the order in which they are listed. */
export const roles = Object.keys(included) as readonly Role[] as readonly [Role, ...Role[]];

/** Whether a role includes another. */
export const includesRole = (granted: Role, asked: Role): boolean =>
  granted === asked || included[granted].some((role) => role === asked);

const doing: Readonly<Record<Role, string>> = {
  read: 'read',
  report: 'report to',
  write: 'write',
  inference: 'use inference in',
  admin: 'administer',
};

/** What a key is refused that lacks a role on a project, in words. */
export const describeRefusal = (role: Role, project: string): string =>
  `this key may not ${doing[role]} the project ${project}`;

/**
 * Whether a scope has a project: `*`, `<entity>/*` or the project's id. Scopes are compared whole, never
 * by prefix.
 */
export const hasProject = (scope: string, project: string): boolean =>
  scope === '*' || scope === project || scope === `${project.slice(0, project.indexOf('/'))}/*`;

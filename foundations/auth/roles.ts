/*
 * What a grant allows. Nothing is imported here, since browsers load this as it is: the page knows
 * beforehand what a key may do.
 */

/**
 * What a grant can allow. `write` includes `read`. `inference` stands by itself. `admin` includes all
 * others, and is what it takes to make something that spends money or speaks to others.
 */
export const roles = ['read', 'write', 'inference', 'admin'] as const;
export type Role = (typeof roles)[number];

/** Whether a role includes another. */
export const includesRole = (granted: Role, asked: Role): boolean =>
  granted === asked || granted === 'admin' || (granted === 'write' && asked === 'read');

/**
 * Whether a scope has a project: `*`, `<entity>/*` or the project's id. Scopes are compared whole, never
 * by prefix.
 */
export const hasProject = (scope: string, project: string): boolean =>
  scope === '*' || scope === project || scope === `${project.slice(0, project.indexOf('/'))}/*`;

import type { MiddlewareObj } from '@middy/core';
import { allows, fromContext, hasExpired, type Role } from '../../core/foundations/auth/index.ts';
import { keyRequired } from '../../core/foundations/wire/errors.ts';
import { forbidden, type ProjectId, ServiceError } from '../../core/foundations/wire/index.ts';
import { budgetOf, type ServiceEvent } from './event.ts';

const expired = new ServiceError(401, [keyRequired]);

/**
 * Reads the caller from the authorizer's context. The context may be cached, so this looks at the
 * key's expiry again.
 */
export const readCaller = (): MiddlewareObj<ServiceEvent<unknown>> => ({
  before: ({ event, context }) => {
    const caller = fromContext(event.requestContext.authorizer);
    event.log.calledBy(caller);
    if (hasExpired(caller, Date.now() * 1000)) throw expired;
    const { requestId: id } = event.requestContext;
    event.service = { id, caller, body: undefined, budget: budgetOf(context) };
    event.log.spends(event.service.budget.meter);
  },
});

/** A project in a request's body, and its place. */
export interface NamedProject {
  readonly projectId: ProjectId;
  /** The place in the body, e.g. `['start', 'project_id']`. */
  readonly loc: readonly string[];
  /** Where else than in the body it stands. @default - in the body */
  readonly within?: 'path' | 'query';
}

/**
 * Refuses a request if the caller's key does not give the role on each project that it names. It
 * makes no difference whether a project exists.
 */
export const authorize = <Body>(
  role: Role,
  projectsOf: (body: Body) => readonly NamedProject[],
): MiddlewareObj<ServiceEvent<Body>> => ({
  before: ({ event }) => {
    const { body, caller } = event.service;
    const projects = projectsOf(body);
    event.log.names(projects.map(({ projectId }) => projectId));
    const refused = projects.find(({ projectId }) => !allows(caller.grants, projectId, role));
    if (refused) {
      throw forbidden(
        [refused.within ?? 'body', ...refused.loc],
        `this key may not ${role} the project ${refused.projectId}`,
      );
    }
  },
});

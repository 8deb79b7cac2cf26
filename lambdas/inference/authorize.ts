import type { MiddlewareObj } from '@middy/core';
import { endpoints, isInferencePath } from '../../core/doors/inference/index.ts';
import { allows, type Caller } from '../../core/foundations/auth/index.ts';
import {
  forbidden,
  type ProjectId,
  parseProjectId,
  projectIdRule,
  ServiceError,
} from '../../core/foundations/wire/index.ts';
import { headerOf, type ServiceEvent } from '../http/request.ts';

type Event = Pick<ServiceEvent<unknown>, 'headers' | 'multiValueHeaders' | 'pathParameters'>;

/**
 * The path of a request below `/inference/v1`.
 *
 * @throws ServiceError 404 if it is not one that is passed on
 */
export const pathOf = ({ pathParameters }: Event) => {
  const path = `/${pathParameters?.path ?? ''}`;
  if (isInferencePath(path)) return path;
  const msg = `there is no such path below /inference/v1: it passes on ${Object.keys(endpoints).join(', ')}`;
  throw new ServiceError(404, [{ loc: ['path'], msg, type: 'not_found' }]);
};

const projectHeader = 'openai-project';
const loc = ['header', projectHeader];

/**
 * The project to record a request in, from its `OpenAI-Project` header.
 *
 * @returns undefined without the header
 * @throws ServiceError 422 if the header is no project id, or comes more than once: nothing says
 * which of them would count
 */
export const projectOf = (event: Event): ProjectId | undefined => {
  const text = headerOf(event, projectHeader);
  if (text === undefined) return undefined;
  const values = Object.entries(event.multiValueHeaders ?? {}).filter(
    ([name]) => name.toLowerCase() === projectHeader,
  );
  if (values.flatMap(([, each]) => each ?? []).length > 1)
    throw new ServiceError(422, [{ loc, msg: 'this header should stand there once', type: 'value_error' }]);
  const project = parseProjectId(text);
  if (project !== undefined) return project;
  throw new ServiceError(422, [
    { loc, msg: `${projectIdRule}; without the header nothing is recorded`, type: 'value_error' },
  ]);
};

/**
 * Refuses a caller who may not make the request. Without a project the key needs `inference` on
 * any; with one it needs `inference` and `write` on that.
 *
 * @throws ServiceError 403
 */
export const requireInference = (
  { grants }: Pick<Caller, 'grants'>,
  project: ProjectId | undefined,
): void => {
  if (project === undefined) {
    if (grants.some(({ role }) => role === 'inference')) return;
    throw forbidden(['header', 'authorization'], 'this key may not use inference');
  }
  const missing = (['inference', 'write'] as const).find((role) => !allows(grants, project, role));
  if (missing === undefined) return;
  const may = missing === 'write' ? 'write, so not record in,' : 'use inference in';
  throw forbidden(loc, `this key may not ${may} the project ${project}`);
};

/** Checks path, project and grants before the body is read. */
export const authorizeInference = (): MiddlewareObj<ServiceEvent<unknown>> => ({
  before: ({ event }) => {
    pathOf(event);
    const project = projectOf(event);
    if (project !== undefined) event.log.names([project]);
    requireInference(event.service.caller, project);
  },
});

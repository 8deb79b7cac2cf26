import type { MiddlewareObj } from '@middy/core';
import { allowsAnywhere, type Caller } from '../../../foundations/auth/index.ts';
import { forbidden } from '../../../foundations/wire/index.ts';
import type { ServiceEvent } from '../http/request.ts';

/**
 * Refuses a caller who may use inference in no project.
 *
 * @throws ServiceError 403
 */
export const requireAnyInference = ({ grants }: Pick<Caller, 'grants'>): void => {
  if (allowsAnywhere(grants, 'inference')) return;
  throw forbidden(['header', 'authorization'], 'this key may not use inference');
};

/** Checks that the caller may use inference in some project. */
export const mayInfer = (): MiddlewareObj<ServiceEvent<unknown>> => ({
  before: ({ event }) => requireAnyInference(event.service.caller),
});

import { Construct } from 'constructs';
import { preflightHandler } from './handlers.ts';
import type { Service } from './service.ts';
import { ServiceFunction } from './service-function.ts';

/**
 * What answers browsers that ask whether a page of another origin may send a request. One function
 * does, so that an answer can name the one origin that asks. It reads nothing and may do nothing.
 */
export class Cors extends Construct {
  readonly preflight: ServiceFunction;

  constructor(scope: Construct, id: string, service: Service, origins: readonly string[]) {
    super(scope, id);
    this.preflight = new ServiceFunction(this, 'Preflight', {
      service,
      handler: preflightHandler,
      description: 'Says which origins may send requests',
      memoryMb: 256,
      timeoutSeconds: 5,
      logGroup: service.logGroup,
      needs: [{ environment: { CORS_ORIGINS: origins.join() } }],
    });
  }
}

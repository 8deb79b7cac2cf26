import type { LimitsAccess } from '../api/endpoint.ts';
import { busNeeds, combine, type Needs, shardsNeeds, tableNeeds } from './permissions.ts';
import type { Service } from './service.ts';

/** The setting `limits`: what functions need that keep to spending limits. It makes no resource. */
export class Limits {
  readonly #service: Pick<Service, 'config' | 'storage'>;
  readonly #unpriced: Needs;

  constructor(service: Pick<Service, 'config' | 'storage'>, unpriced: string) {
    this.#service = service;
    this.#unpriced = { environment: { LIMITS: unpriced } };
  }

  /** What the function of a route needs besides its stores to keep to limits, or to show what is left. */
  needs(access: LimitsAccess): Needs {
    if (access === 'know') return this.#unpriced;
    const { config, storage } = this.#service;
    const holds = access === 'hold';
    return combine([
      this.#unpriced,
      shardsNeeds(config),
      tableNeeds('objects', storage.objects, { table: ['BatchGetItem', 'Query'] }),
      // A route that notes projects may add to counters already.
      tableNeeds('bookkeeping', storage.bookkeeping, { table: ['BatchGetItem'] }),
      holds ? tableNeeds('costs', storage.costs, { table: ['Query'] }) : undefined,
      holds ? this.#nearlyReached : undefined,
    ]);
  }

  /** What the function of judges needs besides its stores, which hold money of theirs already. */
  get judgeNeeds(): Needs {
    const { objects } = this.#service.storage;
    return combine([
      this.#unpriced,
      tableNeeds('objects', objects, { table: ['Query'] }),
      this.#nearlyReached,
    ]);
  }

  /** What a function needs to tell when a limit is nearly reached: nothing without events. */
  get #nearlyReached(): Needs | undefined {
    const { events } = this.#service.config;
    return events && busNeeds(events.bus);
  }
}

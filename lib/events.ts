import { EventBus, type IEventBus } from 'aws-cdk-lib/aws-events';
import { Construct } from 'constructs';
import type { Config } from './config.ts';
import type { Evaluations } from './evaluators.ts';
import { watcherHandler } from './handlers.ts';
import { busNeeds, type Needs, storeNeeds } from './permissions.ts';
import type { Service } from './service.ts';
import { ServiceFunction } from './service-function.ts';
import { batchesOfChanges, type Streams } from './streams.ts';

interface EventsProps {
  readonly service: Service & { readonly streams: Streams };
  readonly settings: NonNullable<Config['events']>;
  /** What evaluators are to judge, if there are any: the function then decides that, too. */
  readonly evaluations: Evaluations | undefined;
}

/**
 * The function that puts what happens to calls and feedback on an event bus. docs/events.md has the
 * events.
 */
export class Events extends Construct {
  readonly function: ServiceFunction;
  /** Where the events go: the account's bus, or the one that the settings name. */
  readonly bus: IEventBus;
  /** What a function needs that tells of what it puts on the audit trail. */
  readonly auditNeeds: Needs;

  constructor(scope: Construct, id: string, { service, settings, evaluations }: EventsProps) {
    super(scope, id);
    const { config, storage, streams, logGroup } = service;
    const { calls, feedback } = storage;
    this.bus = EventBus.fromEventBusName(this, 'Bus', settings.bus);
    this.auditNeeds = busNeeds(settings.bus);
    this.function = new ServiceFunction(this, 'Events', {
      service,
      handler: evaluations ? watcherHandler(config) : 'events',
      description: 'Puts what happens to calls and feedback on the event bus',
      memoryMb: 512,
      timeoutSeconds: 60,
      logGroup,
      needs: [
        // Records have all of feedback that is read.
        storeNeeds({ calls: 'publish', payloads: 'read', costs: 'read' }, service),
        evaluations?.watcherNeeds,
        streams.needs({ calls, feedback }),
        busNeeds(settings.bus),
        settings.payloads ? { environment: { EVENT_PAYLOADS: 'true' } } : undefined,
      ],
    });
    // What analytics or evaluators left in the stream is old news: it would go into people's mail.
    const batches = { ...batchesOfChanges, from: 'LATEST' } as const;
    streams.subscribe(this.function, { calls, feedback }, batches);
  }
}

import { EventBus, type IEventBus } from 'aws-cdk-lib/aws-events';
import type { ILogGroup } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import type { Config } from './config.ts';
import type { Evaluations } from './evaluators.ts';
import { bundleOf, watcherHandler } from './handlers.ts';
import { readerEnvironment, readerPermissions } from './permissions.ts';
import { ServiceFunction } from './service-function.ts';
import type { Storage } from './storage.ts';
import { batchesOfChanges, type Streams } from './streams.ts';

interface EventsProps {
  readonly config: Config;
  readonly settings: NonNullable<Config['events']>;
  readonly storage: Storage;
  readonly streams: Streams;
  /** What evaluators are to judge, if there are any: the function then decides that, too. */
  readonly evaluations: Evaluations | undefined;
  /** Where the function logs. */
  readonly logGroup: ILogGroup;
  readonly bundles: ReadonlyMap<string, string>;
}

/**
 * The function that puts what happens to calls and feedback on an event bus. docs/events.md has the
 * events.
 */
export class Events extends Construct {
  readonly function: ServiceFunction;
  /** Where the events go: the account's bus, or the one that the settings name. */
  readonly bus: IEventBus;

  constructor(scope: Construct, id: string, props: EventsProps) {
    super(scope, id);
    const { config, settings, storage, streams, evaluations, logGroup, bundles } = props;
    const { calls, feedback } = storage;
    const watcher = evaluations?.watcher(storage, true);
    this.bus = EventBus.fromEventBusName(this, 'Bus', settings.bus);
    this.function = new ServiceFunction(this, 'Events', {
      config,
      code: bundleOf(bundles, evaluations ? watcherHandler(config) : 'events'),
      description: 'Puts what happens to calls and feedback on the event bus',
      memoryMb: 512,
      timeoutSeconds: 60,
      logGroup,
      environment: {
        ...readerEnvironment(config, storage),
        EVENT_BUS: settings.bus,
        ...(settings.payloads && { EVENT_PAYLOADS: 'true' }),
        ...watcher?.environment,
        DEAD_LETTERS: streams.deadLetters.queueUrl,
      },
      permissions: [
        ...readerPermissions('publish', storage),
        ...(watcher?.permissions ?? []),
        ...streams.permissions([calls, feedback]),
        { actions: ['events:PutEvents'], resource: this.bus.eventBusArn },
      ],
    });
    streams.subscribe(this.function, { calls, feedback }, batchesOfChanges);
  }
}

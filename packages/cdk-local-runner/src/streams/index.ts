export {
  type BusEvent,
  busEnvironment,
  type EntryFate,
  type EventBus,
  fitsPattern,
  startEventBus,
} from './event-bus.ts';
export { runQueues } from './queues.ts';
export { runSchedules } from './schedules.ts';
export { lambdaRecord, runStreams } from './streams.ts';

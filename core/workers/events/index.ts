export { type Delivered, type Delivery, deliver, type EventBus } from './deliver.ts';
export type { EventKind, ServiceEvent } from './events.ts';

export { type Delivered, type Delivery, deliver, type EventBus } from './deliver.ts';
export type { ServiceEvent } from './events.ts';

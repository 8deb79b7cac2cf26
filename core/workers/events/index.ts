export { type Delivered, type Delivery, deliver } from './deliver.ts';
export type { EventKind, ServiceEvent } from './model.ts';
export type { EventBus } from './send.ts';

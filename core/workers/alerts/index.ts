export type { LoadedAlert, ParseAlert } from './alert.ts';
export { KnownAlerts, type Looked, lookAtAlerts, type Watch } from './look.ts';
export type { Message, Tell } from './message.ts';

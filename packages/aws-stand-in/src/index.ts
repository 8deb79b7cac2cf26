export { DiskReport, describeFailure, isDiskFull } from './disk.ts';
export { type Doorkeeping, findRefusal, guarded, loopback } from './loopback.ts';
export { freePort, type LocalServer, listen, PortTaken } from './server.ts';
export {
  type Credentials,
  isSignedWith,
  newCredentials,
  type ReceivedRequest,
  type SignatureRefusal,
  type Signing,
  signatureRefusal,
} from './signature.ts';
export type { StandIn, StandInOptions } from './stand-in.ts';

export { type ServerOptions, type StoreServer, startServer } from './server.ts';
export { startStore, storeFile } from './start.ts';

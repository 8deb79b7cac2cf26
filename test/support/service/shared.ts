import type { TestService } from './service.ts';

/** The services that the files of this worker share, by their settings. */
type Services = Map<string, Promise<TestService>>;

/** Modules may be loaded anew while a worker runs: what lives as long hangs on the process. */
export const sharedServices = (): Services => {
  const holder = globalThis as { pennytraceServices?: Services };
  holder.pennytraceServices ??= new Map();
  return holder.pennytraceServices;
};

/** Ends the shared services. Whoever asks for one then has a new one. */
export const stopSharedServices = async (): Promise<void> => {
  const services = [...sharedServices().values()];
  sharedServices().clear();
  // One that could not start has nothing to end.
  await Promise.allSettled(services.map(async (service) => (await service).stop()));
};

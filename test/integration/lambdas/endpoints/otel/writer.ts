import { beforeAll } from 'vitest';
import { type SharedService, sharedService } from '../../../../support/service/service.ts';
import { keyMaker } from '../../../security/credentials.ts';

/** A service whose projects of one entity a key may write. */
export interface Writer {
  readonly service: SharedService;
  readonly key: string;
  /** The name of a project that nobody has. */
  readonly newProject: () => string;
}

/**
 * Has the service ready before the tests of a file, with a key that may write to the projects of `acme`.
 *
 * @param name how the projects of the file begin
 */
export const writerFor = (name: string): Writer => {
  let ready: Pick<Writer, 'service' | 'key'> | undefined;
  beforeAll(async () => {
    const service = await sharedService();
    using keys = keyMaker(service);
    ready = { service, key: await keys.granted('acme/*:write') };
  });
  const given = (): Pick<Writer, 'service' | 'key'> => {
    if (!ready) throw new Error('the service is ready once tests begin');
    return ready;
  };
  let projects = 0;
  return {
    get service() {
      return given().service;
    },
    get key() {
      return given().key;
    },
    newProject: () => `acme/${name}-${projects++}`,
  };
};

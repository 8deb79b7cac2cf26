import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type SharedService, sharedService } from '../../../support/service/service.ts';

const done: string[] = [];
let service: SharedService;

beforeAll(async () => {
  done.push('file begins');
  service = await sharedService();
});
afterAll(() => void done.push('file ends'));

describe('a test', () => {
  beforeAll(() => void done.push('group begins'));
  afterAll(() => void done.push('group ends'));
  const services = new Set<string>();

  it('that is run again begins anew, with all that its file and its groups have', { repeats: 1 }, () => {
    services.add(service.url);
    const began = ['file begins', 'group begins'];
    expect(done).toEqual(services.size === 1 ? began : [...began, 'group ends', 'file ends', ...began]);
    if (services.size === 2) done.length = 0;
  });

  it('that is run once goes on with what there is', () => {
    expect(done).toEqual([]);
    expect(services).toContain(service.url);
  });
});

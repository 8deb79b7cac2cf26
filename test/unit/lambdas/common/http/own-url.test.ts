import { describe, expect, it } from 'vitest';
import { ownUrl } from '../../../../../lambdas/common/http/own-url.ts';

describe('the URL of the service', () => {
  it.each([
    ['abc.execute-api.eu-west-1.amazonaws.com', '/api/agents.md', '/api'],
    ['abc-vpce-01234567.execute-api.eu-west-1.amazonaws.com', '/api/agents.md', '/api'],
    ['tracing.example.com', '/agents.md', ''],
    ['tools.example.com', '/tracing/agents.md', '/tracing'],
  ])('at %s%s ends where the API begins', (host, path, base) => {
    const event = { path: '/agents.md', headers: { Host: host }, requestContext: { path, domainName: host } };
    expect(ownUrl(event)).toBe(`https://${host}${base}`);
  });
});

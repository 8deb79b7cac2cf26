import type { KeyedRoute } from '../../../api/endpoint.ts';
import type { Names } from '../../support/endpoints/fixture.ts';
import { getFixture, requestTo } from '../../support/endpoints/index.ts';

/*
 * What tests of isolation ask of every route, and what they see of an answer.
 */

/** What of an answer's headers has nothing to do with what is asked. */
const incidental = new Set(['date', 'x-request-id', 'x-amzn-requestid', 'connection', 'keep-alive']);

/** All of an answer that a caller sees, but for when it was and what was asked. */
export const seen = async (answer: Response, asked: readonly string[]) => {
  const text = (await answer.text())
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '<time>')
    .replace(/[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}/g, '<id>')
    .replace(/end-of-data-[\da-f]{16}/g, '<fence>')
    // Which of our own projects has a similar name depends on those that were asked about before.
    .replace(/; did you mean `acme\/\d{4}`\?/g, '');
  return {
    status: answer.status,
    headers: [...answer.headers].filter(([name]) => !incidental.has(name)),
    body: asked
      .flatMap((name) => [name, encodeURIComponent(name)])
      .reduce((rest, name) => rest.replaceAll(name, '<asked>'), text),
  };
};

/** What is asked of a route: its good request, and its probes. */
export const asking = (route: KeyedRoute) => {
  const fixture = getFixture(route.path);
  const makeRequest = (what: string, body = fixture.body) => ({
    path: route.path,
    what,
    request: (project: string, names: Names) => requestTo(route, fixture, project, names, body),
  });
  const all = [
    makeRequest('its request'),
    ...Object.entries(fixture.probes ?? {}).map(([what, body]) => makeRequest(what, body)),
  ];
  return all.map((request) => ({ ...request, scheme: route.scheme }));
};

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { getHandlers } from '../../../api/endpoint.ts';
import { routes } from '../../../api/routes.ts';
import { readConfig } from '../../../lib/config.ts';
import { everyHandler, handlersFor } from '../../../lib/features.ts';
import { makeStack, type Resource } from '../../support/stack/template.ts';

/** The settings that bring handlers, each switched on. */
const switches = {
  redact: [{ name: 'email', builtin: 'email', action: 'label' }],
  limits: true,
  evaluators: true,
  alerts: true,
  events: true,
  analytics: true,
  corsOrigins: ['https://app.example.com'],
};

type Switches = Partial<typeof switches>;

const names = Object.keys(switches) as (keyof Switches)[];

const switchedOn = (chosen: readonly (keyof Switches)[]): Switches =>
  Object.fromEntries(chosen.map((name) => [name, switches[name]]));

/** The handlers that the functions of a stack run. A bundle of `makeStack` holds its handler's name alone. */
const handlersRun = (settings: Switches): string[] => {
  const { app, stack } = makeStack(settings);
  const assembly = app.synth();
  const { template } = assembly.getStackByName(stack.stackName);
  const run = Object.values((template as { Resources: Record<string, Resource> }).Resources)
    .filter(({ Type }) => Type === 'AWS::Lambda::Function')
    .map(({ Properties }) => (Properties.Code as { S3Key: string }).S3Key.replace('.zip', ''))
    .map((hash) => readFileSync(join(assembly.directory, `asset.${hash}`, 'index.cjs'), 'utf8'));
  return [...new Set(run.map((text) => text.replace('//', '').trim()))].toSorted();
};

/** What a setting adds that is no function of its own, and what it replaces. */
const loaded = 'redaction';

const choices: readonly (readonly (keyof Switches)[])[] = [
  [],
  ...names.map((name) => [name]),
  ['evaluators', 'events'],
  names,
];

it.each(choices.map((chosen) => ({ chosen })))(
  'a service with the settings $chosen bundles the handlers that its functions run',
  ({ chosen }) => {
    const settings = switchedOn(chosen);
    const brought = handlersFor(readConfig(settings), routes).filter((handler) => handler !== loaded);
    // With limits, `me-limits` answers for `me`, whose handler is bundled in vain.
    const idle = settings.limits ? ['me'] : [];
    expect(handlersRun(settings)).toEqual(brought.filter((handler) => !idle.includes(handler)).toSorted());
  },
);

it('bundles every handler for the package that some combination of settings brings', () => {
  const brought = new Set(
    Array.from({ length: 2 ** names.length }, (_, bits) =>
      names.filter((_name, i) => bits & (1 << i)),
    ).flatMap((chosen) => handlersFor(readConfig(switchedOn(chosen)), routes)),
  );
  const others = everyHandler.filter((handler) => !brought.has(handler));
  // Weave's endpoints are none of these routes, and `grantReport` brings the maker of keys.
  expect(others.filter((handler) => !handler.startsWith('weave'))).toEqual(['report-key']);
  expect([...brought].filter((handler) => !everyHandler.includes(handler))).toEqual([]);
  expect(getHandlers(routes).filter((handler) => !brought.has(handler))).toEqual([]);
});

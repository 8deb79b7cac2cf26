import { callViews, noise, type Scenario } from './scenario.ts';

const path = '/inference/v1/chat/completions';
const messages = [{ role: 'user', content: noise(5000) }];

/** The route that passes requests on, recorded and not. */
export const inferenceScenarios: Readonly<Record<string, readonly Scenario[]>> = {
  '/inference/v1/{path+}': [
    {
      name: 'a request that is recorded',
      request: (p) => ({ path, body: { model: 'any', messages }, headers: { 'openai-project': p } }),
      views: callViews,
      atomic: true,
      unharmed: true,
    },
    {
      name: 'a streamed request that is recorded',
      request: (p) => ({
        path,
        body: { model: 'any', messages, stream: true },
        headers: { 'openai-project': p },
      }),
      views: callViews,
      atomic: true,
      unharmed: true,
    },
  ],
};

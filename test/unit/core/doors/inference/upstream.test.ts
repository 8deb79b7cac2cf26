import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  candidatesFor,
  parseUpstreams,
  toTargetUrl,
  waysTo,
} from '../../../../../core/doors/inference/upstream.ts';
import { anyCharacter } from '../../../../support/values/arbitraries/character.ts';

const upstreams = parseUpstreams(
  JSON.stringify([
    { name: 'openai', baseUrl: 'https://api.openai.com/v1/', keySecret: 'openai', models: ['gpt-*', 'o4'] },
    {
      name: 'bedrock',
      bedrock: true,
      models: ['gpt-oss', { match: 'oss/*', send: 'openai.gpt-oss-20b-1:0' }],
    },
    {
      name: 'vllm',
      baseUrl: 'http://127.0.0.1:8000/v1',
      models: [{ match: 'own/*', send: 'team-*-v2' }, '*-instruct'],
    },
  ]),
  'eu-west-1',
);

const chosen = (model: string) => {
  const [found] = candidatesFor(upstreams, model);
  return found && [found.upstream.name, found.model];
};

describe('the upstream of a model', () => {
  it.each([
    ['gpt-4o', ['openai', 'gpt-4o']],
    ['gpt-oss', ['openai', 'gpt-oss']],
    ['o4', ['openai', 'o4']],
    ['o4-mini', undefined],
    ['oss/x', ['bedrock', 'openai.gpt-oss-20b-1:0']],
    ['own/llama', ['vllm', 'team-llama-v2']],
    ['own/$&', ['vllm', 'team-$&-v2']],
    ['own/', ['vllm', 'team--v2']],
    ['qwen-instruct', ['vllm', 'qwen-instruct']],
    ['-instruct', ['vllm', '-instruct']],
    ['instruct', undefined],
    ['GPT-4o', undefined],
    ['', undefined],
  ])('of %j is the first with a matching rule: %j', (model, expected) => {
    expect(chosen(model)).toEqual(expected);
  });
});

describe('where a request goes', () => {
  const wayTo = (model: string) => {
    const [candidate] = candidatesFor(upstreams, model);
    const [way] = candidate ? waysTo(candidate) : [];
    if (!way) throw new Error(`there is no way to ${model}`);
    return way;
  };
  const openai = wayTo('gpt-4o');

  it('is the base URL and the path', () => {
    expect(toTargetUrl(openai, '/embeddings', null).href).toBe('https://api.openai.com/v1/embeddings');
    expect(toTargetUrl(wayTo('oss/x'), '/chat/completions', undefined).href).toBe(
      'https://bedrock-runtime.eu-west-1.amazonaws.com/openai/v1/chat/completions',
    );
  });

  it('is the same host and path, whatever the client sends', () => {
    fc.assert(
      fc.property(fc.string({ unit: anyCharacter }), (version) => {
        const { origin, pathname } = toTargetUrl(openai, '/responses', version);
        expect([origin, pathname]).toEqual(['https://api.openai.com', '/v1/responses']);
      }),
    );
  });
});

describe('the description of upstreams', () => {
  it('says how requests are authorized', () => {
    const credentials = upstreams.map((upstream) => upstream.credentials);
    expect(credentials).toEqual([
      { kind: 'secret', secret: 'openai' },
      { kind: 'role', region: 'eu-west-1' },
      { kind: 'none' },
    ]);
    const json =
      '[{"name":"a","models":["*"],"bedrock":{"region":"us-west-2"}},{"name":"b","models":["*"],"baseUrl":"http://b","key":"k"}]';
    expect(parseUpstreams(json, 'eu-west-1')).toMatchObject([
      { credentials: { kind: 'role', region: 'us-west-2' } },
      { credentials: { kind: 'key', key: 'k' } },
    ]);
  });

  it('is refused without a URL', () => {
    expect(() => parseUpstreams('[{"name":"a","models":["*"]}]', 'eu-west-1')).toThrow('a has no baseUrl');
  });
});

import { describe, expect, it } from 'vitest';
import { toCalls } from '../../../../../../core/doors/otel/calls.ts';
import type { AttributeValue } from '../../../../../../core/doors/otel/span.ts';
import type { JsonObject, ProjectId } from '../../../../../../foundations/wire/index.ts';
import { makeSpan } from '../../../../../support/otel/spans.ts';

type Values = Readonly<Record<string, AttributeValue>>;

/** The attributes of the call that a span becomes. */
const toAttributes = (attributes: Values, resource: Values = {}): JsonObject => {
  const span = { ...makeSpan({ attributes }), resource: new Map(Object.entries(resource)) };
  const [start] = toCalls([{ span, hasRemoteParent: false, projectId: 'acme/shop' as ProjectId }]);
  if (start?.kind !== 'start') throw new Error('no start was made');
  return start.start.attributes;
};

describe('the end user of a span', () => {
  it.each<[string, Values]>([
    ['OpenTelemetry', { 'user.id': 'u' }],
    ['OpenTelemetry, formerly', { 'enduser.id': 'u' }],
    ['OpenInference', { 'openinference.span.kind': 'LLM', 'user.id': 'u' }],
    ['frameworks under OpenInference', { 'openinference.span.kind': 'CHAIN', metadata: '{"user_id":"u"}' }],
    ['Langfuse', { 'langfuse.observation.type': 'span', 'user.id': 'u' }],
    ['Langfuse by hand', { 'langfuse.user.id': 'u' }],
    ['LangChain under Langfuse', { 'langfuse.trace.metadata.langfuse_user_id': 'u' }],
    ['Weave', { 'wandb.user_id': 'u' }],
    ['LangSmith', { 'langsmith.metadata.user_id': 'u' }],
    ['OpenLLMetry', { 'traceloop.association.properties.user_id': 'u' }],
    ['the AI SDK', { 'ai.operationId': 'ai.generateText', 'ai.telemetry.metadata.userId': 'u' }],
    ['Mastra', { 'mastra.metadata.userId': 'u' }],
    ['MLflow', { 'mlflow.spanType': '"LLM"', 'mlflow.trace.user': '"u"' }],
    ['litellm', { 'litellm.call_id': 'c', 'metadata.user_api_key_end_user_id': 'u' }],
    ['GenAI', { 'gen_ai.user.id': 'u' }],
  ])('is found as %s says it', (_, attributes) => {
    expect(toAttributes(attributes)).toHaveProperty('user.id', 'u');
  });
});

describe('environment, release, source and tags of a span', () => {
  it.each<[string, Values, Values]>([
    [
      'a resource',
      {},
      {
        'deployment.environment.name': 'production',
        'deployment.environment': 'old',
        'service.version': '1.4',
      },
    ],
    ['an older resource', {}, { 'deployment.environment': 'production', 'service.version': '1.4' }],
    ['Langfuse', { 'langfuse.environment': 'production', 'langfuse.release': '1.4' }, {}],
    ['a resource of Langfuse', {}, { 'langfuse.environment': 'production', 'langfuse.release': '1.4' }],
    [
      'a span, before its resource',
      { 'langfuse.environment': 'production', 'service.version': '1.4' },
      { 'deployment.environment.name': 'staging', 'service.version': '1.3' },
    ],
    [
      'the AI SDK',
      { 'ai.telemetry.metadata.environment': 'production', 'ai.telemetry.metadata.release': '1.4' },
      {},
    ],
    ['a span itself', { environment: 'production', release: '1.4' }, { environment: 'a', release: 'b' }],
  ])('are taken from %s', (_, attributes, resource) => {
    expect(toAttributes(attributes, resource)).toMatchObject({ environment: 'production', release: '1.4' });
  });

  it.each<[string, Values]>([
    ['Langfuse', { 'langfuse.trace.tags': ['a', 'b'] }],
    ['LangChain under Langfuse', { 'langfuse.trace.metadata.langfuse_tags': '["a","b"]' }],
    ['OpenInference', { 'tag.tags': ['a', 'b'] }],
    ['LangSmith', { 'langsmith.span.tags': 'a, b' }],
    ['Logfire', { 'logfire.tags': ['a', 'b'] }],
    ['the AI SDK', { 'ai.telemetry.metadata.tags': ['a', 'b', '', 3] }],
    ['Mastra', { 'mastra.tags': '["a","b"]' }],
  ])('are a list of texts, as %s has tags', (_, attributes) => {
    expect(toAttributes(attributes).tags).toEqual(['a', 'b']);
  });

  it.each<[string, unknown, Values, Values]>([
    ['a test case', 'test', { 'test.case.name': 'answers' }, {}],
    ['a test suite', 'test', { 'test.suite.name': 'shop' }, {}],
    ['a plugin of pytest', 'test', { 'pytest.nodeid': 'test_shop.py::test_answers' }, {}],
    ['another one', 'test', { 'tests.name': 'test_answers' }, {}],
    ['the resource', 'evaluation', {}, { source: 'evaluation' }],
    ['the resource of a test', 'evaluation', { 'test.case.name': 'answers' }, { source: 'evaluation' }],
    ['the span', 'judge', { source: 'judge', 'test.case.name': 'answers' }, { source: 'test' }],
    ['nobody', undefined, { 'test.id': 1, 'my.pytest.id': 1 }, { source: 'web' }],
  ])('say the source: that of %s is %s', (_, source, attributes, resource) => {
    expect(toAttributes(attributes, resource).source).toBe(source);
  });

  it('leave alone what the span has under their names', () => {
    const own = { 'environment.name': 'x', release: true, tags: 'plain', 'tag.tags': ['a'] };
    expect(
      toAttributes(own, { 'deployment.environment': 'production', 'service.version': '1' }),
    ).toMatchObject({
      environment: { name: 'x' },
      release: true,
      tags: 'plain',
    });
  });

  it('are not there if nobody says them', () => {
    const found = toAttributes({ 'tag.tags': [] }, { 'service.name': 'shop', 'service.version': '' });
    expect(Object.keys(found)).toEqual(['tag', 'kind', 'otel']);
  });
});

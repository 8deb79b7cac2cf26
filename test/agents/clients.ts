import type { Expected } from './judge.ts';
import type { Script } from './model.ts';

/** What a program is run against. */
export interface Place {
  /** The service, without a trailing slash. */
  readonly url: string;
  readonly key: string;
  readonly project: string;
}

type Environment = Readonly<Record<string, string>>;

/** A client whose telemetry is tried. */
export interface Client {
  /** The name of it in commands: the same for all ways of one client that differ by their end. */
  readonly name: string;
  /** How the table calls it. */
  readonly title: string;
  /** The packages to install. The versions of the first ones are shown, as many as `shown`. */
  readonly packages: readonly string[];
  readonly shown: number;
  /** A program that a package brings, and where Python finds its version. */
  readonly brings?: { readonly name: string; readonly module: string; readonly variable: string };
  /** A file in `programs/`; `.py` is Python, `.mjs` is Node. */
  readonly program: string;
  readonly arguments?: readonly string[];
  /** Which signals it sends. */
  readonly signal: 'spans' | 'logs' | 'spans and logs';
  /** How its telemetry is switched on. @default - the lines of environment that all exporters read */
  readonly environment?: (place: Place) => Environment;
  readonly script: Script;
  readonly expected: Expected;
}

/** The lines of environment of docs/opentelemetry.md. */
export const exporterEnvironment = ({ url, key, project }: Place): Environment => ({
  OTEL_EXPORTER_OTLP_ENDPOINT: `${url}/otel`,
  OTEL_EXPORTER_OTLP_PROTOCOL: 'http/protobuf',
  OTEL_EXPORTER_OTLP_HEADERS: `authorization=Bearer%20${key},project_id=${project}`,
});

const question = 'Where is order NB-4471?';
const answer = 'Order NB-4471 was shipped on Monday.';

/** A question, a tool, and an answer. */
const script: Script = {
  steps: [{ tool: /^lookup_order$/, arguments: { order_id: 'NB-4471' } }],
  sayings: [{ text: answer }],
};

const expected: Expected = {
  question,
  answer,
  tools: ['lookup_order'],
  failing: [],
  agents: ['order_agent'],
  thread: 'chat-1',
  user: 'ada',
  turns: 1,
  cannot: {},
};

const noTokensOfStreams = { tokens: 'it reports no tokens of streams' };

const withoutAgent = { ...expected, agents: [] };

const python = (...packages: string[]) => [
  ...packages,
  'opentelemetry-sdk',
  'opentelemetry-exporter-otlp-proto-http',
];

const node = (...packages: string[]) => [
  ...packages,
  '@opentelemetry/api',
  '@opentelemetry/sdk-trace-node',
  '@opentelemetry/exporter-trace-otlp-proto',
];

const claudeCode = {
  title: 'Claude Code',
  packages: ['claude-agent-sdk'],
  shown: 1,
  brings: { name: 'CLI', module: 'claude_agent_sdk._cli_version', variable: '__cli_version__' },
  program: 'claude-code.py',
  script: {
    steps: [
      // Tools of MCP servers are not offered until the model has searched for them.
      { tool: /^ToolSearch$/, arguments: { query: 'select:mcp__orders__lookup_order', max_results: 1 } },
      { tool: /^mcp__orders__lookup_order$/, arguments: { order_id: 'NB-4471' } },
      { tool: /^Bash$/, arguments: { command: 'cat missing.txt', description: 'Read a file' } },
      {
        tool: /^(Agent|Task)$/,
        arguments: {
          description: 'Read the policy',
          prompt: 'How long may books be returned?',
          subagent_type: 'policy-reader',
          run_in_background: false,
        },
      },
    ],
    sayings: [
      { system: 'You read the policies', text: 'Books may be returned within 30 days.' },
      { text: answer },
    ],
  },
  expected: {
    ...expected,
    tools: ['ToolSearch', 'orders.lookup_order', 'Bash', 'Agent'],
    failing: ['Bash'],
    agents: ['claude-code', 'policy-reader'],
  },
};

/** Claude Code names its user by an id of its own, and its thread, too. */
const { thread: _, ...ownThread } = claudeCode.expected;
const claudeExpected = { ...ownThread, user: null };

const claudeEnvironment = (place: Place): Environment => ({
  ...exporterEnvironment(place),
  CLAUDE_CODE_ENABLE_TELEMETRY: '1',
  OTEL_LOGS_EXPORTER: 'otlp',
  OTEL_LOG_USER_PROMPTS: '1',
  OTEL_LOG_TOOL_DETAILS: '1',
  OTEL_LOG_TOOL_CONTENT: '1',
});

const codex = {
  title: 'Codex',
  packages: ['@openai/codex'],
  shown: 1,
  program: 'codex.mjs',
  environment: ({ url, key, project }: Place): Environment => ({
    SERVICE_URL: url,
    SERVICE_KEY: key,
    SERVICE_PROJECT: project,
  }),
  script: {
    steps: [
      {
        tool: /^(exec_command|shell_command|shell)$/,
        arguments: { cmd: 'cat orders.txt', command: 'cat orders.txt' },
      },
      {
        tool: /^(exec_command|shell_command|shell)$/,
        arguments: { cmd: 'cat missing.txt', command: 'cat missing.txt' },
      },
    ],
    sayings: [{ text: answer }],
  },
  expected: {
    question,
    answer,
    tools: ['exec_command', 'exec_command'],
    failing: ['exec_command'],
    agents: ['codex'],
    user: null,
    turns: 1,
    cannot: { answer: 'it does not report the last answer', question: 'its requests have no prompts' },
  },
};

/** Its newest version does not start with the newest of what it builds upon, nor without httpx. */
const semanticConventions = python(
  'opentelemetry-instrumentation-openai-v2',
  'openai',
  'httpx',
  'opentelemetry-util-genai>=0.4b0,<0.5',
);

const adkEnvironment = (place: Place): Environment => ({
  ...exporterEnvironment(place),
  OTEL_SEMCONV_STABILITY_OPT_IN: 'gen_ai_latest_experimental',
  OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: 'SPAN_ONLY',
});

/** What shows that a run goes on is known only if all of it comes in one request. */
const adkInOneRequest = (place: Place): Environment => ({
  ...adkEnvironment(place),
  OTEL_BSP_SCHEDULE_DELAY: '60000',
});

const mastraPackages = [
  '@mastra/core',
  '@mastra/otel-exporter',
  '@mastra/observability',
  '@opentelemetry/exporter-trace-otlp-proto',
  '@ai-sdk/openai-compatible',
  'zod',
];

/** A tool that waits for a person has a span that asks, and another one when it runs. */
const askedExpected = { ...expected, tools: ['lookup_order', 'lookup_order'] };

const plain = { script, expected, shown: 1, signal: 'spans' as const };

/** The clients that documents name, the coding agents first. */
export const clients: readonly Client[] = [
  {
    ...claudeCode,
    name: 'claude-code-logs',
    signal: 'logs',
    environment: claudeEnvironment,
    expected: claudeExpected,
  },
  {
    ...claudeCode,
    name: 'claude-code-spans',
    signal: 'spans and logs',
    environment: (place) => ({
      ...claudeEnvironment(place),
      CLAUDE_CODE_ENHANCED_TELEMETRY_BETA: '1',
      OTEL_TRACES_EXPORTER: 'otlp',
    }),
    expected: claudeExpected,
  },
  { ...codex, name: 'codex-logs', signal: 'logs' },
  { ...codex, name: 'codex-spans', arguments: ['spans'], signal: 'spans and logs' },
  {
    ...plain,
    name: 'openai-v2',
    title: 'OpenAI SDK by opentelemetry-instrumentation-openai-v2',
    packages: semanticConventions,
    shown: 2,
    program: 'openai_sdk.py',
    arguments: ['openai-v2'],
    environment: (place) => ({
      ...exporterEnvironment(place),
      OTEL_SEMCONV_STABILITY_OPT_IN: 'gen_ai_latest_experimental',
      OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: 'span_only',
    }),
    expected: withoutAgent,
  },
  {
    ...plain,
    name: 'openai-v2-logs',
    title: 'OpenAI SDK by opentelemetry-instrumentation-openai-v2',
    packages: semanticConventions,
    shown: 2,
    program: 'openai_sdk.py',
    arguments: ['openai-v2'],
    signal: 'spans and logs',
    environment: (place) => ({
      ...exporterEnvironment(place),
      OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: 'true',
    }),
    expected: withoutAgent,
  },
  {
    ...plain,
    name: 'openinference-openai',
    title: 'OpenAI SDK by OpenInference',
    packages: python('openinference-instrumentation-openai', 'openai'),
    shown: 2,
    program: 'openai_sdk.py',
    arguments: ['openinference'],
    expected: withoutAgent,
  },
  {
    ...plain,
    name: 'openinference-langgraph',
    title: 'LangChain and LangGraph by OpenInference',
    packages: python('openinference-instrumentation-langchain', 'langchain', 'langgraph', 'langchain-openai'),
    shown: 3,
    program: 'langgraph_agent.py',
    expected,
  },
  {
    ...plain,
    name: 'openinference-openai-agents',
    title: 'OpenAI Agents by OpenInference',
    packages: python('openinference-instrumentation-openai-agents', 'openai-agents'),
    shown: 2,
    program: 'openai_agents.py',
  },
  {
    ...plain,
    name: 'openllmetry',
    title: 'OpenAI SDK by OpenLLMetry (traceloop-sdk)',
    packages: ['traceloop-sdk', 'openai', 'httpx'],
    shown: 2,
    program: 'traceloop_agent.py',
    environment: (place) => ({
      ...exporterEnvironment(place),
      TRACELOOP_BASE_URL: `${place.url}/otel`,
      TRACELOOP_HEADERS: `authorization=Bearer%20${place.key},project_id=${place.project}`,
      TRACELOOP_TELEMETRY: 'false',
    }),
  },
  {
    ...plain,
    name: 'pydantic-ai',
    title: 'Pydantic AI',
    packages: python('pydantic-ai-slim[openai]'),
    program: 'pydantic_ai_agent.py',
    // The user is no part of its spans.
    expected: { ...expected, user: null },
  },
  {
    ...plain,
    name: 'logfire',
    title: 'Pydantic AI by Logfire',
    packages: ['logfire', 'pydantic-ai-slim[openai]', 'opentelemetry-exporter-otlp-proto-http'],
    shown: 2,
    program: 'pydantic_ai_agent.py',
    arguments: ['logfire'],
    expected: { ...expected, user: null },
  },
  {
    ...plain,
    name: 'google-adk',
    title: 'Google ADK',
    packages: python('google-adk', 'litellm', 'mcp'),
    program: 'google_adk.py',
    environment: adkEnvironment,
    expected: { ...expected, user: null },
  },
  {
    ...plain,
    name: 'strands',
    title: 'Strands',
    packages: ['strands-agents[otel,openai]'],
    program: 'strands_agent.py',
  },
  {
    ...plain,
    name: 'litellm',
    title: 'LiteLLM',
    packages: python('litellm', 'mcp'),
    program: 'litellm_sdk.py',
    environment: ({ url, key, project }) => ({
      OTEL_EXPORTER: 'otlp_http',
      OTEL_ENDPOINT: `${url}/otel/v1/traces`,
      OTEL_HEADERS: `authorization=Bearer%20${key},project_id=${project}`,
    }),
    // It reports requests alone.
    expected: { ...withoutAgent, tools: [], thread: null },
  },
  {
    ...plain,
    name: 'mlflow',
    title: 'MLflow',
    packages: ['mlflow', 'openai', 'opentelemetry-exporter-otlp-proto-http'],
    program: 'mlflow_agent.py',
    // Session and user are in what it keeps of a trace, not in its spans.
    expected: { ...expected, thread: null, user: null },
  },
  {
    ...plain,
    name: 'langfuse',
    title: 'Langfuse SDK',
    packages: ['langfuse', 'openai'],
    program: 'langfuse_agent.py',
    environment: ({ url, key, project }) => ({
      LANGFUSE_HOST: url,
      LANGFUSE_OTEL_TRACES_EXPORT_PATH: 'otel/v1/traces',
      LANGFUSE_PUBLIC_KEY: 'api',
      LANGFUSE_SECRET_KEY: key,
      OTEL_RESOURCE_ATTRIBUTES: `svc.project_id=${project}`,
    }),
  },
  {
    ...plain,
    name: 'ms-agent-framework',
    title: 'Microsoft Agent Framework',
    packages: python('agent-framework-core', 'agent-framework-openai'),
    program: 'ms_agent_framework.py',
    environment: (place) => ({
      ...exporterEnvironment(place),
      ENABLE_INSTRUMENTATION: 'true',
      ENABLE_SENSITIVE_DATA: 'true',
    }),
    // The id of a session of the program is no part of its spans.
    expected: { ...expected, thread: null, user: null },
  },
  {
    ...plain,
    name: 'weave',
    title: "Weave's conversation API",
    packages: ['weave', 'openai'],
    program: 'weave_conversation.py',
    environment: ({ url, key, project }) => ({
      WF_TRACE_SERVER_URL: `${url}/weave`,
      WANDB_BASE_URL: `${url}/weave`,
      WANDB_API_KEY: key,
      // The requests are reported by the conversation alone.
      WEAVE_IMPLICITLY_PATCH_INTEGRATIONS: 'false',
      WEAVE_PROJECT: project,
    }),
    expected: { ...expected, user: null },
  },
  {
    ...plain,
    name: 'ai-sdk',
    title: 'Vercel AI SDK',
    packages: node('ai', '@ai-sdk/otel', '@ai-sdk/openai-compatible', 'zod'),
    program: 'ai-sdk.mjs',
  },
  {
    ...plain,
    name: 'mastra',
    title: 'Mastra',
    packages: mastraPackages,
    shown: 2,
    program: 'mastra.mjs',
  },
  {
    ...plain,
    name: 'langchain-js',
    title: 'LangChain.js by OpenInference',
    packages: node(
      '@arizeai/openinference-instrumentation-langchain',
      'langchain',
      '@langchain/core',
      '@langchain/langgraph',
      '@langchain/openai',
      'zod',
    ),
    shown: 2,
    program: 'langchain.mjs',
    expected: { ...expected, user: null },
  },
  {
    ...plain,
    name: 'openinference-openai-js',
    title: 'OpenAI SDK (TypeScript) by OpenInference',
    packages: node('@arizeai/openinference-instrumentation-openai', 'openai', '@arizeai/openinference-core'),
    shown: 2,
    program: 'openai-sdk.mjs',
    arguments: ['openinference'],
    expected: { ...withoutAgent, cannot: noTokensOfStreams },
  },
  {
    ...plain,
    name: 'openllmetry-js',
    title: 'OpenAI SDK (TypeScript) by OpenLLMetry',
    packages: node('@traceloop/instrumentation-openai', 'openai'),
    shown: 2,
    program: 'openai-sdk.mjs',
    arguments: ['openllmetry'],
    expected: { ...withoutAgent, cannot: noTokensOfStreams },
  },
  {
    ...plain,
    name: 'genkit',
    title: 'Genkit',
    // It builds upon version 1 of OpenTelemetry's SDK.
    packages: [
      'genkit',
      '@genkit-ai/compat-oai',
      '@opentelemetry/sdk-trace-base@1.25',
      '@opentelemetry/exporter-trace-otlp-proto@0.52',
    ],
    program: 'genkit.mjs',
    // Its sessions and users are no part of its spans.
    expected: { ...withoutAgent, thread: null, user: null },
  },
  {
    ...plain,
    name: 'openinference-langgraph-interrupt',
    title: 'A question in a nested graph of LangGraph by OpenInference',
    packages: python('openinference-instrumentation-langchain', 'langchain', 'langgraph', 'langchain-openai'),
    shown: 3,
    program: 'langgraph_interrupt.py',
    expected: { ...expected, personsAnswer: 'yes, today' },
  },
  {
    ...plain,
    name: 'strands-interrupt',
    title: 'A question in Strands',
    packages: ['strands-agents[otel,openai]'],
    program: 'strands_interrupt.py',
    expected: { ...expected, personsAnswer: null },
  },
  {
    ...plain,
    name: 'strands-interrupt-latest',
    title: 'A question in Strands, by the newest conventions',
    packages: ['strands-agents[otel,openai]'],
    program: 'strands_interrupt.py',
    environment: (place) => ({
      ...exporterEnvironment(place),
      OTEL_SEMCONV_STABILITY_OPT_IN: 'gen_ai_latest_experimental',
    }),
    expected: { ...expected, personsAnswer: null },
  },
  {
    ...plain,
    name: 'google-adk-confirmation',
    title: 'A confirmation in Google ADK',
    packages: python('google-adk', 'litellm', 'mcp'),
    program: 'google_adk_confirmation.py',
    environment: adkInOneRequest,
    expected: { ...askedExpected, user: null, personsAnswer: null },
  },
  {
    ...plain,
    name: 'google-adk-resumable',
    title: 'A confirmation in a resumable app of Google ADK',
    packages: python('google-adk', 'litellm', 'mcp'),
    program: 'google_adk_confirmation.py',
    arguments: ['resumable'],
    environment: adkInOneRequest,
    expected: { ...askedExpected, user: null, personsAnswer: null },
  },
  {
    ...plain,
    name: 'openinference-openai-agents-approval',
    title: 'An approval in OpenAI Agents by OpenInference, both runs in one trace',
    packages: python('openinference-instrumentation-openai-agents', 'openai-agents'),
    shown: 2,
    program: 'openai_agents_approval.py',
    expected: { ...askedExpected, personsAnswer: null },
  },
  {
    ...plain,
    name: 'openllmetry-openai-agents-approval',
    title: 'An approval in OpenAI Agents by OpenLLMetry, both runs in one trace',
    packages: python('opentelemetry-instrumentation-openai-agents', 'openai-agents'),
    shown: 2,
    program: 'openai_agents_approval.py',
    arguments: ['openllmetry'],
    expected: { ...askedExpected, thread: null, user: null, personsAnswer: null },
  },
  {
    ...plain,
    name: 'mastra-approval',
    title: 'An approval in Mastra',
    packages: mastraPackages,
    shown: 2,
    program: 'mastra-approval.mjs',
    expected: {
      ...expected,
      personsAnswer: 'approved: lookup_order',
      cannot: { requests: 'it reports the request that asked once more when it goes on' },
    },
  },
];

/*
 * How programs report to a service: what the page's *Connect* shows, and what `GET /agents.md` says.
 * Nothing is imported here, since browsers load this as it is. The codes are those of the documents.
 */

/** What texts are about. */
export interface ConnectTo {
  /** Where the service is, without a slash at the end: `https://….amazonaws.com/api`. */
  readonly url: string;
  /** `<entity>/<project>`. */
  readonly project: string;
  /** The key to fill in. @default - `svc_…`, which whoever pastes a code replaces */
  readonly key?: string;
}

/** One thing to do: a sentence, and what to paste. */
export interface ConnectStep {
  /** Plain text of one or two sentences. */
  readonly text: string;
  /** @default - the sentence says it all */
  readonly code?: string;
  /** What the code is written in. */
  readonly language?: 'sh' | 'python' | 'ts' | 'toml' | 'json';
}

/** One way to report, step by step. */
export interface ConnectGuide {
  readonly id: string;
  readonly title: string;
  readonly steps: readonly ConnectStep[];
}

/** The key in codes, or how a key begins. */
const keyIn = ({ key = 'svc_…' }: ConnectTo): string => key;

/** The three lines of environment that every exporter of OpenTelemetry takes. */
const environment = (to: ConnectTo): ConnectStep => ({
  text: 'Point the exporter at this service. The key needs the role write on the project. Exporters append /v1/traces.',
  language: 'sh',
  code: `export OTEL_EXPORTER_OTLP_ENDPOINT=${to.url}/otel
export OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf
export OTEL_EXPORTER_OTLP_HEADERS='authorization=Bearer%20${keyIn(to)},project_id=${to.project}'`,
});

const pythonInstall = 'pip install opentelemetry-sdk opentelemetry-exporter-otlp-proto-http';

const pythonTracing: ConnectStep = {
  text: 'Start tracing before anything else.',
  language: 'python',
  code: `from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

provider = TracerProvider()
provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
trace.set_tracer_provider(provider)`,
};

const nodeInstall =
  'npm install @opentelemetry/sdk-trace-node@2 @opentelemetry/exporter-trace-otlp-proto@0.223';

const nodeTracing: ConnectStep = {
  text: 'Start tracing before anything else. End with await provider.shutdown(), which sends what is left.',
  language: 'ts',
  code: `import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { BatchSpanProcessor, NodeTracerProvider } from '@opentelemetry/sdk-trace-node';

const provider = new NodeTracerProvider({
  spanProcessors: [new BatchSpanProcessor(new OTLPTraceExporter())],
});
provider.register();`,
};

const python = (to: ConnectTo): ConnectGuide => ({
  id: 'python',
  title: 'OpenTelemetry · Python',
  steps: [
    environment(to),
    {
      text: 'Install the exporter, and an instrumentation of what you use: here of the OpenAI SDK.',
      language: 'sh',
      code: `${pythonInstall}
pip install openai openinference-instrumentation-openai`,
    },
    pythonTracing,
    {
      text: 'Instrument it. Other frameworks, such as Pydantic AI or Strands, do as they document.',
      language: 'python',
      code: `from openinference.instrumentation.openai import OpenAIInstrumentor

OpenAIInstrumentor().instrument()`,
    },
  ],
});

const typescript = (to: ConnectTo): ConnectGuide => ({
  id: 'typescript',
  title: 'OpenTelemetry · TypeScript',
  steps: [
    environment(to),
    {
      text: 'Install the exporter, and an instrumentation of what you use: here of the OpenAI SDK.',
      language: 'sh',
      code: `${nodeInstall}
npm install openai @arizeai/openinference-instrumentation-openai@4`,
    },
    nodeTracing,
    {
      text: 'Instrument it.',
      language: 'ts',
      code: `import { OpenAIInstrumentation } from '@arizeai/openinference-instrumentation-openai';
import OpenAI from 'openai';

const instrumentation = new OpenAIInstrumentation();
instrumentation.setTracerProvider(provider);
instrumentation.manuallyInstrument(OpenAI);`,
    },
  ],
});

const openai = ({ url, project }: ConnectTo): ConnectGuide => ({
  id: 'openai',
  title: 'OpenAI SDK',
  steps: [
    {
      text:
        'Send model requests through this service, and each becomes a call. The key needs the roles ' +
        'inference and write on the project. Ask the operator which models are available.',
      language: 'ts',
      code: `import OpenAI from 'openai';

const client = new OpenAI({
  baseURL: '${url}/inference/v1',
  apiKey: process.env.PENNYTRACE_KEY,
  project: '${project}', // records each request; leave it out to record nothing
});`,
    },
    {
      text: 'The same in Python.',
      language: 'python',
      code: `import os
from openai import OpenAI

client = OpenAI(
    base_url="${url}/inference/v1",
    api_key=os.environ["PENNYTRACE_KEY"],
    project="${project}",
)`,
    },
    {
      text: 'Request the usage of streams, or they have no tokens: stream_options: {"include_usage": true}.',
    },
  ],
});

const vercel = (to: ConnectTo): ConnectGuide => ({
  id: 'vercel',
  title: 'Vercel AI SDK',
  steps: [
    environment(to),
    {
      text: 'Install the exporter, and the telemetry of the AI SDK.',
      language: 'sh',
      code: `${nodeInstall}
npm install ai@7 @ai-sdk/otel@1 @ai-sdk/openai@4`,
    },
    nodeTracing,
    {
      text: 'Register the telemetry, and turn it on for each call. This is for version 7 and later.',
      language: 'ts',
      code: `import { OpenTelemetry } from '@ai-sdk/otel';
import { generateText, registerTelemetry } from 'ai';

registerTelemetry(new OpenTelemetry());
await generateText({ model, prompt, telemetry: { isEnabled: true, functionId: 'weather' } });`,
    },
    {
      text:
        'Up to version 6, pass experimental_telemetry: { isEnabled: true, metadata: { sessionId, userId } } ' +
        'to each call instead.',
    },
  ],
});

const langchain = (to: ConnectTo): ConnectGuide => ({
  id: 'langchain',
  title: 'LangChain',
  steps: [
    environment(to),
    {
      text: 'In Python, for LangChain and LangGraph:',
      language: 'sh',
      code: `${pythonInstall}
pip install langgraph langchain-openai openinference-instrumentation-langchain`,
    },
    pythonTracing,
    {
      text: 'The thread_id of LangGraph is the conversation.',
      language: 'python',
      code: `from openinference.instrumentation.langchain import LangChainInstrumentor

LangChainInstrumentor().instrument()
graph.invoke(question, {"configurable": {"thread_id": "chat-1"}})`,
    },
    {
      text: 'In TypeScript:',
      language: 'sh',
      code: `${nodeInstall}
npm install @langchain/core@1 @langchain/openai@1 @arizeai/openinference-instrumentation-langchain@4`,
    },
    nodeTracing,
    {
      text: 'The session_id of the metadata is the conversation.',
      language: 'ts',
      code: `import { LangChainInstrumentation } from '@arizeai/openinference-instrumentation-langchain';
import * as callbacks from '@langchain/core/callbacks/manager';

const instrumentation = new LangChainInstrumentation();
instrumentation.setTracerProvider(provider);
instrumentation.manuallyInstrument(callbacks);
await chain.invoke(question, { metadata: { session_id: 'chat-1' } });`,
    },
  ],
});

const weave = (to: ConnectTo): ConnectGuide => ({
  id: 'weave',
  title: 'Weave',
  steps: [
    {
      text: 'Have the unchanged SDK of Weave take this service for its own server.',
      language: 'sh',
      code: `export WF_TRACE_SERVER_URL=${to.url}/weave
export WANDB_BASE_URL=${to.url}/weave
export WANDB_API_KEY=${keyIn(to)}`,
    },
    {
      text: 'In Python, after pip install weave:',
      language: 'python',
      code: `import weave

weave.init("${to.project}")

@weave.op
def answer(question: str) -> str:
    return "42"

answer("?")`,
    },
    {
      text: 'In TypeScript, after npm install weave:',
      language: 'ts',
      code: `import * as weave from 'weave';

await weave.init('${to.project}');
const answer = weave.op(async function answer(question: string) {
  return '42';
});
await answer('?');`,
    },
  ],
});

const curl = (to: ConnectTo): ConnectGuide => ({
  id: 'curl',
  title: 'curl',
  steps: [
    {
      text: 'Set the URL and a key with the role write on the project.',
      language: 'sh',
      code: `export URL=${to.url} KEY=${keyIn(to)}`,
    },
    {
      text: 'Report one operation, start and end.',
      language: 'sh',
      code: `curl -sS -u "api:$KEY" "$URL/call/upsert_batch" -H 'content-type: application/json' -d '{
  "batch": [
    {"mode": "start", "req": {"start": {
      "project_id": "${to.project}", "id": "hello-1", "op_name": "greet",
      "started_at": "2026-10-01T09:30:00.000001Z",
      "thread_id": "chat-1", "turn_id": "hello-1", "inputs": {"name": "Ada"}}}},
    {"mode": "end", "req": {"end": {
      "project_id": "${to.project}", "id": "hello-1",
      "ended_at": "2026-10-01T09:30:01.5Z", "output": "Hello, Ada!"}}}
  ]}'`,
    },
    {
      text: 'Read it back.',
      language: 'sh',
      code: `curl -sS -u "api:$KEY" "$URL/call/read" -H 'content-type: application/json' \\
  -d '{"project_id": "${to.project}", "id": "hello-1"}'`,
    },
  ],
});

/** The command that connects Claude Code to a service, with a key in `$KEY`. */
export const claudeCode = (url: string): string =>
  `claude mcp add --transport http pennytrace ${url}/mcp --header "Authorization: Bearer $KEY"`;

/** How coding agents read traces of a service by MCP, each by its own command or file. */
export const connectAgents = (to: ConnectTo): readonly ConnectStep[] => {
  const url = `${to.url}/mcp`;
  return [
    {
      text: 'Set KEY to a key with the role read, or write if agents may leave feedback. Claude Code:',
      language: 'sh',
      code: claudeCode(to.url),
    },
    {
      text: 'Codex: add this to ~/.codex/config.toml. It reads the key from the environment.',
      language: 'toml',
      code: `[mcp_servers.pennytrace]
url = "${url}"
bearer_token_env_var = "KEY"`,
    },
    {
      text: 'Cursor: add this to .cursor/mcp.json.',
      language: 'json',
      code: `{
  "mcpServers": {
    "pennytrace": {
      "url": "${url}",
      "headers": { "Authorization": "Bearer \${env:KEY}" }
    }
  }
}`,
    },
    {
      text: 'VS Code: add this to .vscode/mcp.json. It asks for the key.',
      language: 'json',
      code: `{
  "inputs": [
    { "type": "promptString", "id": "pennytrace-key", "description": "Key of pennytrace", "password": true }
  ],
  "servers": {
    "pennytrace": {
      "type": "http",
      "url": "${url}",
      "headers": { "Authorization": "Bearer \${input:pennytrace-key}" }
    }
  }
}`,
    },
    {
      text: 'Gemini CLI:',
      language: 'sh',
      code: `gemini mcp add --transport http --header "Authorization: Bearer $KEY" pennytrace ${url}`,
    },
  ];
};

/** Has the resource of Claude Code's telemetry say where it works: without the address, which may hold a password. */
const codingPlace = `claude() {
  local repository=$(git config remote.origin.url | sed -E 's#.*[:/]([^/]+/[^/]+)$#\\1#; s#\\.git$##')
  OTEL_RESOURCE_ATTRIBUTES="vcs.repository.name=$repository,vcs.ref.head.name=$(git branch --show-current)" command claude "$@"
}`;

/** How coding agents report their own sessions. */
export const reportAgents = (to: ConnectTo): readonly ConnectStep[] => [
  {
    text: 'Claude Code reports each session as a thread. The last line adds prompts and tool arguments.',
    language: 'sh',
    code: `export CLAUDE_CODE_ENABLE_TELEMETRY=1
export OTEL_LOGS_EXPORTER=otlp
export OTEL_LOG_USER_PROMPTS=1 OTEL_LOG_TOOL_DETAILS=1   # prompts and arguments of tools, too`,
  },
  environment(to),
  {
    text: 'Agents do not say in which repository and branch they work. This function of your shell does, and Threads groups by them. For Codex, write codex in the place of claude.',
    language: 'sh',
    code: codingPlace,
  },
  {
    text: 'Codex: add this to ~/.codex/config.toml.',
    language: 'toml',
    code: `[otel]
log_user_prompt = true
exporter = { otlp-http = { endpoint = "${to.url}/otel/v1/logs", protocol = "binary", headers = { "authorization" = "Bearer ${keyIn(to)}", "project_id" = "${to.project}" } } }`,
  },
];

const codingAgents = (to: ConnectTo): ConnectGuide => ({
  id: 'agents',
  title: 'Coding agents',
  steps: [...connectAgents(to), ...reportAgents(to)],
});

/** Every way to report to a project, the most usual first. */
export const connectGuides = (to: ConnectTo): readonly ConnectGuide[] => [
  python(to),
  typescript(to),
  openai(to),
  vercel(to),
  langchain(to),
  weave(to),
  curl(to),
  codingAgents(to),
];

import { isFields } from '../trace/messages/message.ts';

type Fields = Readonly<Record<string, unknown>>;

/** What other providers call the parameters of OpenAI's chat. */
const names: Readonly<Record<string, string>> = {
  maxTokens: 'max_tokens',
  max_output_tokens: 'max_completion_tokens',
  topP: 'top_p',
  stop_sequences: 'stop',
  stopSequences: 'stop',
};

/** The parameters that OpenAI's chat takes. */
const known = new Set([
  'frequency_penalty',
  'logit_bias',
  'logprobs',
  'max_completion_tokens',
  'max_tokens',
  'n',
  'parallel_tool_calls',
  'presence_penalty',
  'reasoning_effort',
  'response_format',
  'seed',
  'stop',
  'temperature',
  'tool_choice',
  'tools',
  'top_logprobs',
  'top_p',
]);

/** A tool in OpenAI's shape, from OpenAI's responses, Anthropic's or Bedrock's. */
const toolOf = (tool: unknown): unknown => {
  if (!isFields(tool) || isFields(tool.function)) return tool;
  const spec = isFields(tool.toolSpec) ? tool.toolSpec : tool;
  const { name, description, input_schema, inputSchema, parameters } = spec;
  const schema = parameters ?? input_schema ?? (isFields(inputSchema) ? inputSchema.json : inputSchema);
  return {
    type: 'function',
    function: {
      name,
      ...(description !== undefined && { description }),
      ...(schema !== undefined && { parameters: schema }),
    },
  };
};

/** The parameters of a call as OpenAI's chat takes them. What it does not know is left out. */
export const parametersOf = (inputs: Fields): Fields => {
  const { inferenceConfig, toolConfig } = inputs;
  const all: Fields = {
    ...inputs,
    ...(isFields(inferenceConfig) && inferenceConfig),
    ...(isFields(toolConfig) && { tools: toolConfig.tools }),
  };
  const kept = Object.entries(all)
    .map(([name, value]): [string, unknown] => [names[name] ?? name, value])
    .filter(([name, value]) => known.has(name) && value !== null && value !== undefined)
    .map(([name, value]): [string, unknown] => [
      name,
      name === 'tools' && Array.isArray(value) ? value.map(toolOf) : value,
    ]);
  // Anthropic and Bedrock write the choice of a tool in shapes of their own.
  return Object.fromEntries(kept.filter(([name, value]) => name !== 'tool_choice' || !isForeign(value)));
};

const isForeign = (choice: unknown): boolean => isFields(choice) && !isFields(choice.function);

export {
  type Concurrency,
  defaultPoolLimits,
  type Functions,
  LambdaFunction,
  makeFunctions,
  type PoolLimits,
} from './functions.ts';
export { awslambda, delimiterLength, isStreaming, ResponseStream } from './response-stream.ts';
export {
  type Container,
  type ContainerOptions,
  createEnvironment,
  FunctionError,
  FunctionWorker,
  forwardLines,
  type Output,
  type StartContainer,
  youngMbOnLambda,
} from './worker.ts';

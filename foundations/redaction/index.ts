export { type Builtin, builtins } from './builtins.ts';
export { type CompilePattern, type FindPattern, RedactionFailed, Redactor } from './redactor.ts';
export {
  type Action,
  actions,
  isOfFields,
  needsKey,
  pathProblem,
  type Root,
  type Rule,
  roots,
} from './rules.ts';

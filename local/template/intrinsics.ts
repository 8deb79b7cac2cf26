import { localRegion } from '../stores/store.ts';
import { attributeOf, localAccount, refOf } from './names.ts';
import type { Template } from './template.ts';

/** Replaces the intrinsic functions in a value by what they give. */
export type Resolve = (value: unknown) => unknown;

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isDefined = (value: unknown): boolean => value !== undefined;

const text = (value: unknown, where: string): string => {
  if (typeof value === 'string') return value;
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  throw new Error(`${where} should get a string, not ${JSON.stringify(value)}`);
};

const list = (value: unknown, where: string): unknown[] => {
  if (Array.isArray(value)) return value;
  throw new Error(`${where} should get a list, not ${JSON.stringify(value)}`);
};

/** The name and argument of an intrinsic function; undefined where the object is none. */
const intrinsicOf = (value: Record<string, unknown>): [string, unknown] | undefined => {
  const [entry, ...more] = Object.entries(value);
  if (!entry || more.length > 0) return undefined;
  return entry[0] === 'Ref' || entry[0] === 'Condition' || entry[0].startsWith('Fn::') ? entry : undefined;
};

/** Gives what an intrinsic function gives for its argument, in which there may be others. */
type Intrinsic = (argument: unknown, resolve: Resolve) => unknown;

/** The functions that need nothing but their argument. */
const pureFunctions: Readonly<Record<string, Intrinsic>> = {
  'Fn::Join': (argument, resolve) => {
    const [separator, parts] = list(resolve(argument), 'Fn::Join');
    const texts = list(parts, 'Fn::Join').map((part) => text(part, 'Fn::Join'));
    return texts.join(text(separator, 'Fn::Join'));
  },
  'Fn::Select': (argument, resolve) => {
    const [index, values] = list(resolve(argument), 'Fn::Select');
    return list(values, 'Fn::Select')[Number(index)];
  },
  'Fn::Split': (argument, resolve) => {
    const [separator, whole] = list(resolve(argument), 'Fn::Split');
    return text(whole, 'Fn::Split').split(text(separator, 'Fn::Split'));
  },
  'Fn::Equals': (argument, resolve) => {
    const [left, right] = list(resolve(argument), 'Fn::Equals');
    return left === right;
  },
  'Fn::Not': (argument, resolve) => !list(resolve(argument), 'Fn::Not')[0],
  'Fn::And': (argument, resolve) => list(resolve(argument), 'Fn::And').every(Boolean),
  'Fn::Or': (argument, resolve) => list(resolve(argument), 'Fn::Or').some(Boolean),
};

/** The functions that look conditions up. */
const conditionFunctions = ({ Conditions }: Template): Readonly<Record<string, Intrinsic>> => {
  const condition = (argument: unknown, resolve: Resolve): unknown => {
    const name = text(argument, 'Condition');
    if (name in Conditions) return resolve(Conditions[name]);
    throw new Error(`the condition ${name} is not in the template`);
  };
  return {
    Condition: condition,
    'Fn::If': (argument, resolve) => {
      const [name, yes, no] = list(argument, 'Fn::If');
      return resolve(condition(name, resolve) ? yes : no);
    },
  };
};

const pseudoParameters = (stackName: string): Readonly<Record<string, string | undefined>> => ({
  'AWS::AccountId': localAccount,
  'AWS::NoValue': undefined,
  'AWS::Partition': 'aws',
  'AWS::Region': localRegion,
  'AWS::StackId': `arn:aws:cloudformation:${localRegion}:${localAccount}:stack/${stackName}/local`,
  'AWS::StackName': stackName,
  'AWS::URLSuffix': 'amazonaws.com',
});

/** The functions that look parameters and resources up. */
const referenceFunctions = (
  { Parameters, Resources }: Template,
  stackName: string,
): Readonly<Record<string, Intrinsic>> => {
  const pseudo = pseudoParameters(stackName);
  const ref = (name: string): unknown => {
    if (name in pseudo) return pseudo[name];
    if (name in Parameters) return Parameters[name]?.Default;
    const resource = Resources[name];
    if (!resource) throw new Error(`Ref to ${name}, which the template does not have`);
    return refOf(stackName, name, resource);
  };
  const getAtt = (id: string, attribute: string): string => {
    const resource = Resources[id];
    const value = resource && attributeOf(stackName, id, resource, attribute);
    if (value === undefined) throw new Error(`Fn::GetAtt ${id}.${attribute} is not supported locally`);
    return value;
  };
  return {
    Ref: (name) => ref(text(name, 'Ref')),
    'Fn::GetAtt': (argument) => {
      const path = typeof argument === 'string' ? argument.split('.') : list(argument, 'Fn::GetAtt');
      const [id = '', ...attribute] = path.map((part) => text(part, 'Fn::GetAtt'));
      return getAtt(id, attribute.join('.'));
    },
    /** `${Name}`, `${Name.Attribute}` and `${!Literal}`. */
    'Fn::Sub': (argument, resolve) => {
      const [pattern, own] = Array.isArray(argument) ? argument : [argument, {}];
      const variables = isObject(own) ? own : {};
      return text(pattern, 'Fn::Sub').replace(
        /\$\{(!?)([^}]*)\}/g,
        (_whole, literal: string, name: string) => {
          if (literal) return `\${${name}}`;
          if (name in variables) return text(resolve(variables[name]), `Fn::Sub ${name}`);
          const [id = '', ...attribute] = name.split('.');
          return attribute.length > 0 ? getAtt(id, attribute.join('.')) : text(ref(name), `Fn::Sub ${name}`);
        },
      );
    },
  };
};

/**
 * Makes the resolver of a template. It throws an Error where a value has a function, or refers to
 * an attribute, that is not supported locally, and leaves properties out that are `AWS::NoValue`.
 *
 * @param stackName the name that physical names start with
 */
export const resolver = (template: Template, stackName: string): Resolve => {
  const functions = {
    ...pureFunctions,
    ...conditionFunctions(template),
    ...referenceFunctions(template, stackName),
  };
  const resolve: Resolve = (value) => {
    if (Array.isArray(value)) return value.map(resolve).filter(isDefined);
    if (!isObject(value)) return value;
    const [name, argument] = intrinsicOf(value) ?? [];
    if (name === undefined) {
      const resolved = Object.entries(value).map(([key, part]) => [key, resolve(part)]);
      return Object.fromEntries(resolved.filter(([, part]) => isDefined(part)));
    }
    const apply: Intrinsic | undefined = functions[name];
    if (!apply) throw new Error(`${name} is not supported locally`);
    return apply(argument, resolve);
  };
  return resolve;
};

import { localRegion } from '../stores/store.ts';
import { attributeOf, localAccount, refOf } from './names.ts';
import type { Template } from './template.ts';

/** Evaluates the intrinsic functions in a value. */
export type Resolve = (value: unknown) => unknown;

/** Whether a value is an object of JSON. */
export const isObject = (value: unknown): value is Record<string, unknown> =>
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

/** The name and argument of an intrinsic function; undefined if the object is not one. */
const intrinsicOf = (value: Record<string, unknown>): [string, unknown] | undefined => {
  const [entry, ...more] = Object.entries(value);
  if (!entry || more.length > 0) return undefined;
  return entry[0] === 'Ref' || entry[0] === 'Condition' || entry[0].startsWith('Fn::') ? entry : undefined;
};

/** Evaluates one intrinsic function. Its argument may contain others. */
type Intrinsic = (argument: unknown, resolve: Resolve) => unknown;

/** Functions of their argument alone. */
const pureFunctions: Readonly<Record<string, Intrinsic>> = {
  'Fn::Join': (argument, resolve) => {
    const [separator, values] = list(resolve(argument), 'Fn::Join');
    const texts = list(values, 'Fn::Join').map((item) => text(item, 'Fn::Join'));
    return texts.join(text(separator, 'Fn::Join'));
  },
  'Fn::Select': (argument, resolve) => {
    const [index, values] = list(resolve(argument), 'Fn::Select');
    return list(values, 'Fn::Select')[Number(index)];
  },
  'Fn::Split': (argument, resolve) => {
    const [separator, subject] = list(resolve(argument), 'Fn::Split');
    return text(subject, 'Fn::Split').split(text(separator, 'Fn::Split'));
  },
  'Fn::Equals': (argument, resolve) => {
    const [left, right] = list(resolve(argument), 'Fn::Equals');
    return left === right;
  },
  'Fn::Not': (argument, resolve) => !list(resolve(argument), 'Fn::Not')[0],
  'Fn::And': (argument, resolve) => list(resolve(argument), 'Fn::And').every(Boolean),
  'Fn::Or': (argument, resolve) => list(resolve(argument), 'Fn::Or').some(Boolean),
};

/** Functions that look up conditions. */
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

/**
 * What a resource is called, or has as an attribute, where it is known better than from its
 * declaration; undefined where it is not.
 */
export type Lookup = (id: string, attribute?: string) => string | undefined;

/** Functions that look up parameters and resources. */
const referenceFunctions = (
  { Parameters, Resources }: Template,
  stackName: string,
  lookup: Lookup,
): Readonly<Record<string, Intrinsic>> => {
  const pseudo = pseudoParameters(stackName);
  const ref = (name: string): unknown => {
    if (name in pseudo) return pseudo[name];
    if (name in Parameters) return Parameters[name]?.Default;
    const resource = Resources[name];
    if (!resource) throw new Error(`Ref to ${name}, which the template does not have`);
    return lookup(name) ?? refOf(stackName, name, resource);
  };
  const getAtt = (id: string, attribute: string): string => {
    const resource = Resources[id];
    const value = resource && (lookup(id, attribute) ?? attributeOf(stackName, id, resource, attribute));
    if (value === undefined) throw new Error(`Fn::GetAtt ${id}.${attribute} is not supported locally`);
    return value;
  };
  return {
    Ref: (name) => ref(text(name, 'Ref')),
    'Fn::GetAtt': (argument) => {
      const path = typeof argument === 'string' ? argument.split('.') : list(argument, 'Fn::GetAtt');
      const [id = '', ...attribute] = path.map((item) => text(item, 'Fn::GetAtt'));
      return getAtt(id, attribute.join('.'));
    },
    /** `${Name}`, `${Name.Attribute}` and `${!Literal}`. */
    'Fn::Sub': (argument, resolve) => {
      const [pattern, named] = Array.isArray(argument) ? argument : [argument, {}];
      const variables = isObject(named) ? named : {};
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
 * Makes the resolver of a template. It drops properties that are `AWS::NoValue`, and throws an
 * Error for functions and attributes that are not supported locally.
 *
 * @param stackName the prefix of physical names
 * @param lookup tells names and attributes of resources that exist. @default - none does
 */
export const resolver = (
  template: Template,
  stackName: string,
  lookup: Lookup = () => undefined,
): Resolve => {
  const functions = {
    ...pureFunctions,
    ...conditionFunctions(template),
    ...referenceFunctions(template, stackName, lookup),
  };
  const resolve: Resolve = (value) => {
    if (Array.isArray(value)) return value.map(resolve).filter(isDefined);
    if (!isObject(value)) return value;
    const [name, argument] = intrinsicOf(value) ?? [];
    if (name === undefined) {
      const resolved = Object.entries(value).map(([key, item]) => [key, resolve(item)]);
      return Object.fromEntries(resolved.filter(([, item]) => isDefined(item)));
    }
    const apply: Intrinsic | undefined = functions[name];
    if (!apply) throw new Error(`${name} is not supported locally`);
    return apply(argument, resolve);
  };
  return resolve;
};

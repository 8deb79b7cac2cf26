import { localRegion } from '../store.ts';
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

/** `Ref` and `Fn::GetAtt` of one template's parameters and resources. */
const references = (template: Template, stackName: string) => {
  const pseudo: Record<string, string | undefined> = {
    'AWS::AccountId': localAccount,
    'AWS::NoValue': undefined,
    'AWS::Partition': 'aws',
    'AWS::Region': localRegion,
    'AWS::StackId': `arn:aws:cloudformation:${localRegion}:${localAccount}:stack/${stackName}/local`,
    'AWS::StackName': stackName,
    'AWS::URLSuffix': 'amazonaws.com',
  };
  const ref = (name: string): unknown => {
    if (name in pseudo) return pseudo[name];
    const parameter = template.Parameters[name];
    if (parameter) return parameter.Default;
    const resource = template.Resources[name];
    if (!resource) throw new Error(`Ref to ${name}, which the template does not have`);
    return refOf(stackName, name, resource);
  };
  const getAtt = (name: string, attribute: string): string => {
    const resource = template.Resources[name];
    const value = resource && attributeOf(stackName, name, resource, attribute);
    if (value === undefined) throw new Error(`Fn::GetAtt ${name}.${attribute} is not supported locally`);
    return value;
  };
  return { ref, getAtt };
};

/**
 * Makes the resolver of a template. It throws an Error where a value has a function, or refers to an attribute, that
 * is not supported locally, and leaves properties out that are `AWS::NoValue`.
 */
export const resolver = (template: Template, stackName: string): Resolve => {
  const { ref, getAtt } = references(template, stackName);

  const condition = (name: string): unknown => {
    if (name in template.Conditions) return resolve(template.Conditions[name]);
    throw new Error(`the condition ${name} is not in the template`);
  };

  /** `${Name}`, `${Name.Attribute}` and `${!Literal}`. */
  const sub = (argument: unknown): string => {
    const [pattern, own] = Array.isArray(argument) ? argument : [argument, {}];
    const variables = isObject(own) ? own : {};
    return text(pattern, 'Fn::Sub').replace(/\$\{(!?)([^}]*)\}/g, (_whole, literal: string, name: string) => {
      if (literal) return `\${${name}}`;
      if (name in variables) return text(resolve(variables[name]), `Fn::Sub ${name}`);
      const [id = '', ...attribute] = name.split('.');
      return attribute.length > 0 ? getAtt(id, attribute.join('.')) : text(ref(name), `Fn::Sub ${name}`);
    });
  };

  const functions: Record<string, (argument: unknown) => unknown> = {
    Ref: (name) => ref(text(name, 'Ref')),
    Condition: (name) => condition(text(name, 'Condition')),
    'Fn::GetAtt': (argument) => {
      const [id, ...attribute] =
        typeof argument === 'string' ? argument.split('.') : list(argument, 'Fn::GetAtt');
      return getAtt(text(id, 'Fn::GetAtt'), attribute.join('.'));
    },
    'Fn::Join': (argument) => {
      const [separator, parts] = list(argument, 'Fn::Join');
      const texts = list(resolve(parts), 'Fn::Join').map((part) => text(part, 'Fn::Join'));
      return texts.join(text(separator, 'Fn::Join'));
    },
    'Fn::Select': (argument) => {
      const [index, values] = list(resolve(argument), 'Fn::Select');
      return list(values, 'Fn::Select')[Number(index)];
    },
    'Fn::Split': (argument) => {
      const [separator, whole] = list(resolve(argument), 'Fn::Split');
      return text(whole, 'Fn::Split').split(text(separator, 'Fn::Split'));
    },
    'Fn::Sub': sub,
    'Fn::If': (argument) => {
      const [name, yes, no] = list(argument, 'Fn::If');
      return resolve(condition(text(name, 'Fn::If')) ? yes : no);
    },
    'Fn::Equals': (argument) => {
      const [left, right] = list(resolve(argument), 'Fn::Equals');
      return left === right;
    },
    'Fn::Not': (argument) => !list(resolve(argument), 'Fn::Not')[0],
    'Fn::And': (argument) => list(resolve(argument), 'Fn::And').every(Boolean),
    'Fn::Or': (argument) => list(resolve(argument), 'Fn::Or').some(Boolean),
  };

  const resolve: Resolve = (value) => {
    if (Array.isArray(value)) return value.map(resolve).filter(isDefined);
    if (!isObject(value)) return value;
    const [name, argument] = intrinsicOf(value) ?? [];
    if (name === undefined) {
      const resolved = Object.entries(value).map(([key, part]) => [key, resolve(part)]);
      return Object.fromEntries(resolved.filter(([, part]) => isDefined(part)));
    }
    const apply = functions[name];
    if (!apply) throw new Error(`${name} is not supported locally`);
    return apply(argument);
  };
  return resolve;
};

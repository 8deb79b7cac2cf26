import { describe, expect, it } from 'vitest';
import { resolver } from '../../src/template/cloudformation.ts';

const resource = (Type: string, Properties = {}) => ({ Type, Properties });

const resolve = resolver(
  {
    Resources: {
      Calls: resource('AWS::DynamoDB::Table'),
      Payloads: resource('AWS::S3::Bucket'),
      Start: resource('AWS::Lambda::Function'),
      Live: resource('AWS::ApiGateway::Stage', { StageName: 'live' }),
      Role: resource('AWS::IAM::Role'),
    },
    Outputs: {},
    Parameters: { Colour: { Default: 'blue' } },
  },
  'Trace',
);

const placeholder = (name: string) => `$\{${name}}`;

describe('references', () => {
  it.each([
    [{ Ref: 'AWS::Region' }, 'us-east-1'],
    [{ Ref: 'AWS::Partition' }, 'aws'],
    [{ Ref: 'AWS::AccountId' }, '000000000000'],
    [{ Ref: 'AWS::StackName' }, 'Trace'],
    [{ Ref: 'Colour' }, 'blue'],
    [{ Ref: 'Calls' }, 'Trace-Calls'],
    [{ Ref: 'Payloads' }, 'trace-payloads'],
    [{ Ref: 'Live' }, 'live'],
    [{ 'Fn::GetAtt': ['Start', 'Arn'] }, 'arn:aws:lambda:us-east-1:000000000000:function:Trace-Start'],
    [{ 'Fn::GetAtt': 'Calls.Arn' }, 'arn:aws:dynamodb:us-east-1:000000000000:table/Trace-Calls'],
  ])('%j is %s', (value, expected) => {
    expect(resolve(value)).toBe(expected);
  });

  it('refuses an unknown attribute', () => {
    expect(() => resolve({ 'Fn::GetAtt': ['Role', 'RoleId'] })).toThrow('Fn::GetAtt Role.RoleId');
  });

  it('refuses a reference to nothing', () => {
    expect(() => resolve({ Ref: 'Nothing' })).toThrow('Ref to Nothing');
  });
});

describe('functions', () => {
  it.each([
    [{ 'Fn::Join': ['-', ['a', { Ref: 'Colour' }, 1]] }, 'a-blue-1'],
    [{ 'Fn::Select': [1, { 'Fn::Split': [':', 'a:b:c'] }] }, 'b'],
    [{ 'Fn::Select': ['3', { 'Fn::Split': [':', { 'Fn::GetAtt': ['Start', 'Arn'] }] }] }, 'us-east-1'],
    [{ 'Fn::Sub': `${placeholder('Colour')}/${placeholder('Start.Arn')}` }, /^blue\/arn:aws:lambda:/],
  ])('%j gives the same as in CloudFormation', (value, expected) => {
    expect(resolve(value)).toEqual(expected instanceof RegExp ? expect.stringMatching(expected) : expected);
  });

  it('are evaluated at any depth', () => {
    expect(resolve({ list: [{ deep: { Ref: 'Colour' } }] })).toEqual({ list: [{ deep: 'blue' }] });
  });

  it('drop properties without a value', () => {
    const nothing = { Ref: 'AWS::NoValue' };
    expect(resolve({ kept: 1, gone: nothing, list: [nothing, 2] })).toEqual({ kept: 1, list: [2] });
  });

  it('name a function that is not supported', () => {
    expect(() => resolve({ 'Fn::ImportValue': 'x' })).toThrow('Fn::ImportValue is not supported');
  });

  it('name the argument that they require', () => {
    expect(() => resolve({ 'Fn::Join': ['', [{ list: true }]] })).toThrow('Fn::Join should get a string');
  });
});

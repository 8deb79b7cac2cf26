import { CfnResource, Tags } from 'aws-cdk-lib';
import { expect, it } from 'vitest';
import { everySetting } from '../../support/stack/every-setting.ts';
import { makeStack } from '../../support/stack/template.ts';

/** The resources of a stack with every setting, whose app has a tag, each with its properties as text. */
const taggedResources = () => {
  const { app, stack } = makeStack(everySetting);
  Tags.of(app).add('app', 'ours');
  const { template } = app.synth().getStackByName(stack.stackName);
  return stack.node.findAll().flatMap((construct) => {
    if (!CfnResource.isCfnResource(construct)) return [];
    const { cfnResourceType: type, logicalId } = construct;
    const id = stack.resolve(logicalId);
    return [{ construct, type, written: JSON.stringify(template.Resources[id] ?? {}) }];
  });
};

/** Whether CDK's class of a resource has a property for tags, however it is called. */
const hasTags = (construct: CfnResource): boolean =>
  Object.keys(Object.getOwnPropertyDescriptors(Object.getPrototypeOf(construct))).some((name) =>
    /tags/i.test(name),
  );

it('tags of the app reach every resource that CloudFormation can tag', () => {
  const resources = taggedResources();
  const taggable = resources.filter(({ construct }) => hasTags(construct));
  expect(taggable.length).toBeGreaterThan(100);
  // The setting has "team".
  const untagged = taggable.filter(({ written }) => !/"team"/.test(written) || !/"app"/.test(written));
  expect(untagged.map(({ construct }) => `${construct.cfnResourceType} ${construct.node.path}`)).toEqual([]);
});

it("every resource is of CDK's class for its type: tags pass over a plain CfnResource", () => {
  const plain = taggedResources().filter(({ construct }) => construct.constructor === CfnResource);
  expect(plain.map(({ type, construct }) => `${type} ${construct.node.path}`)).toEqual([]);
});

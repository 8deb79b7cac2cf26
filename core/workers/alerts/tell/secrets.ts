import * as z from 'zod/mini';
import { AwsError, type AwsService, askJson } from '../../../../foundations/aws/index.ts';
import type { RequestBudget } from '../../../../foundations/storage/index.ts';
import type { ProjectId } from '../../../../foundations/wire/index.ts';

/** What is kept of a webhook. */
export const webhookSecret = z.object({
  url: z.string(),
  /** The key of its signatures. */
  key: z.string(),
});

/** What is kept of a webhook: its URL, and the key of its signatures. */
export type WebhookSecret = z.output<typeof webhookSecret>;

/**
 * Finds what is kept of a project's webhook.
 *
 * @returns undefined if there is no webhook of this name
 * @throws Error if it cannot be read
 */
export type FindWebhook = (
  projectId: ProjectId,
  name: string,
  budget: Pick<RequestBudget, 'deadline' | 'signal'>,
) => Promise<WebhookSecret | undefined>;

/**
 * Lists the names of a project's webhooks, at most {@link maxWebhooks}.
 *
 * @throws Error if they cannot be read
 */
export type ListWebhooks = (
  projectId: ProjectId,
  budget: Pick<RequestBudget, 'deadline' | 'signal'>,
) => Promise<string[]>;

/** The most webhooks that are listed, and those of one request: Systems Manager's own bound. */
const maxWebhooks = 100;
const onPage = 10;

/** The rule for names of webhooks, for messages. */
export const webhookNameRule = 'should be 1 to 64 letters, digits, "_" or "-"';

export const isWebhookName = (text: string): boolean => /^[\w-]{1,64}$/.test(text);

/**
 * The name of a webhook's parameter in Systems Manager: `<prefix>/<entity>/<project>/<name>`. No part
 * can have a slash, so no name leads to another project's.
 */
export const parameterName = (prefix: string, projectId: ProjectId, name: string): string => {
  if (!isWebhookName(name)) throw new Error(`the name of a webhook ${webhookNameRule}`);
  return `${prefix}/${projectId}/${name}`;
};

const parameter = z.object({ Parameter: z.object({ Value: z.string() }) });

/** The webhooks that are kept as parameters of Systems Manager, each of them a SecureString. */
export const webhooksIn =
  (service: AwsService, prefix: string): FindWebhook =>
  async (projectId, name, budget) => {
    const parameterRequest = { Name: parameterName(prefix, projectId, name), WithDecryption: true };
    try {
      const answer = await askJson(service, 'AmazonSSM.GetParameter', parameterRequest, budget);
      return z.parse(webhookSecret, JSON.parse(z.parse(parameter, answer).Parameter.Value));
    } catch (error) {
      if (error instanceof AwsError && error.code === 'ParameterNotFound') return undefined;
      if (error instanceof AwsError) throw error;
      // Whatever went wrong with the secret, its text stays out of logs.
      throw new Error('the webhook cannot be read');
    }
  };

const parameterNames = z.object({
  Parameters: z._default(z.array(z.object({ Name: z.string() })), []),
  NextToken: z.nullish(z.string()),
});

/** The names of the webhooks that are kept as parameters. What is in them is not decrypted. */
export const webhookNamesIn =
  (service: AwsService, prefix: string): ListWebhooks =>
  async (projectId, budget) => {
    const path = `${prefix}/${projectId}`;
    const names: string[] = [];
    let token: string | null | undefined;
    do {
      const request = {
        Path: path,
        Recursive: false,
        WithDecryption: false,
        MaxResults: onPage,
        ...(token && { NextToken: token }),
      };
      const answer = await askJson(service, 'AmazonSSM.GetParametersByPath', request, budget);
      const page = z.parse(parameterNames, answer);
      names.push(...page.Parameters.map(({ Name }) => Name.slice(path.length + 1)));
      token = page.NextToken;
    } while (token && names.length < maxWebhooks);
    return names.slice(0, maxWebhooks).toSorted();
  };

import type { RequestBudget } from '../storage/index.ts';
import { askAws } from './ask.ts';

/**
 * Invokes a function of the same account and region, and waits for what it answers.
 *
 * @param name of the function
 * @throws AwsError if Lambda refuses; Error if it does not answer in time, or the function fails
 */
export const invoke = async (
  name: string,
  event: unknown,
  budget: Pick<RequestBudget, 'deadline' | 'signal'>,
): Promise<unknown> => {
  const { AWS_REGION: region = '', AWS_ENDPOINT_URL_LAMBDA: endpoint } = process.env;
  const path = `/2015-03-31/functions/${encodeURIComponent(name)}/invocations`;
  const headers = { 'content-type': 'application/json' };
  const service = { service: 'lambda', region, endpoint };
  const answer = JSON.parse(await askAws(service, path, headers, JSON.stringify(event), budget));
  // A function that throws is answered with its error and a status of 200.
  if (typeof answer === 'object' && answer !== null && 'errorType' in answer)
    throw new Error(`the function ${name} failed: ${answer.errorType}`);
  return answer;
};

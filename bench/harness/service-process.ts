/**
 * The local service in a process of its own, so that the bench can tell its processor time from that of
 * the store and of the client. It gets the store and the synthesized stack, sends its URL and key to the
 * process that forked it, and its processor time in ms whenever that asks. It ends with it.
 */

import { FunctionWorker, youngMbOnLambda } from 'cdk-local-runner/runtime';
import { startLocalService } from '../../local/service.ts';

const [dynamodb = '', assembly = ''] = process.argv.slice(2);
const { url, key } = await startLocalService({
  dynamodb,
  assembly,
  // The local service gives its functions less room, which they pay for with time.
  startContainer: (options) => new FunctionWorker(options, youngMbOnLambda(options.spec)),
});
process.once('disconnect', () => process.exit(0));
process.on('message', () => {
  const { user, system } = process.cpuUsage();
  process.send?.((user + system) / 1000);
});
process.send?.({ url, key });

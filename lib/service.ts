import type { Stage } from 'aws-cdk-lib/aws-apigateway';
import type { Table } from 'aws-cdk-lib/aws-dynamodb';
import type { ILogGroup } from 'aws-cdk-lib/aws-logs';
import type { Config } from './config.ts';
import type { Inference } from './inference.ts';
import type { Redaction } from './redaction.ts';
import type { SignIn } from './sign-in.ts';
import type { Storage } from './storage.ts';
import type { Streams } from './streams.ts';

/** What the parts of a service are made from. */
export interface Service {
  readonly config: Config;
  /** The name of the service, for what has a name in the console. */
  readonly name: string;
  /** Each handler's bundle. */
  readonly bundles: ReadonlyMap<string, string>;
  readonly storage: Storage;
  /** The table of keys. */
  readonly keys: Table;
  readonly inference: Inference;
  /** What the readers of the tables' streams share; undefined if no setting has any. */
  readonly streams: Streams | undefined;
  /** Where the functions of endpoints log, and those that streams and queues wake. */
  readonly logGroup: ILogGroup;
  readonly stage: Stage;
  /** The base URL, without a slash at its end, as the functions of settings may have it: `Api` says why. */
  readonly url: string;
  /** What redacts what functions store; undefined without the setting `redact`. */
  readonly redaction: Redaction | undefined;
  /** Where people sign in; undefined without the setting `signIn`. */
  readonly signIn: SignIn | undefined;
}

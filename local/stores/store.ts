/** A store that runs beside the service. */
export interface LocalStore {
  /** Its URL, with the address `127.0.0.1`. */
  readonly endpoint: string;
  /** Ends it. Resolves once nothing of it is left. */
  stop(): Promise<void>;
}

/** The region that everything local is in. */
export const localRegion = 'us-east-1';

/** Credentials that every local store takes, and AWS none. */
export const localCredentials = { accessKeyId: 'local', secretAccessKey: 'local' };

/** The environment by which an AWS SDK finds the local stores, and never AWS. */
export const storeEnvironment = (dynamodb: string, s3: string): Record<string, string> => ({
  AWS_REGION: localRegion,
  AWS_ACCESS_KEY_ID: localCredentials.accessKeyId,
  AWS_SECRET_ACCESS_KEY: localCredentials.secretAccessKey,
  AWS_ENDPOINT_URL_DYNAMODB: dynamodb,
  AWS_ENDPOINT_URL_S3: s3,
});

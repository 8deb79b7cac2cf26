/** A store that runs beside the service. */
export interface LocalStore {
  /** Its URL, with the address `127.0.0.1`. */
  readonly endpoint: string;
  /** Ends the store. Resolves when it has ended. */
  stop(): Promise<void>;
}

/** The region of everything local. */
export const localRegion = 'us-east-1';

/** Credentials that local stores accept and AWS refuses. */
export const localCredentials = { accessKeyId: 'local', secretAccessKey: 'local' };

/** The environment that directs an AWS SDK to the local stores, and never to AWS. */
export const storeEnvironment = (dynamodb: string, s3: string): Record<string, string> => ({
  AWS_REGION: localRegion,
  AWS_ACCESS_KEY_ID: localCredentials.accessKeyId,
  AWS_SECRET_ACCESS_KEY: localCredentials.secretAccessKey,
  AWS_ENDPOINT_URL_DYNAMODB: dynamodb,
  AWS_ENDPOINT_URL_S3: s3,
});

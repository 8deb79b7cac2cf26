import { AccessLogField } from 'aws-cdk-lib/aws-apigateway';

/**
 * The format of the access log: one JSON line for each request. All values are API Gateway's, the
 * operator's or counted. Nothing that a caller wrote gets in, no header, and so no key. Latencies
 * are in milliseconds, the response's length in bytes. A value that a request lacks is `-`.
 */
export const accessLogFormat = JSON.stringify({
  requestId: AccessLogField.contextRequestId(),
  time: AccessLogField.contextRequestTimeEpoch(),
  ip: AccessLogField.contextIdentitySourceIp(),
  method: AccessLogField.contextHttpMethod(),
  route: AccessLogField.contextResourcePath(),
  status: AccessLogField.contextStatus(),
  responseLength: AccessLogField.contextResponseLength(),
  latency: AccessLogField.contextResponseLatency(),
  integrationLatency: AccessLogField.contextIntegrationLatency(),
  integrationStatus: AccessLogField.contextIntegrationStatus(),
  error: AccessLogField.contextErrorResponseType(),
  integrationError: AccessLogField.contextIntegrationErrorMessage(),
  keyId: AccessLogField.contextAuthorizer('keyId'),
  user: AccessLogField.contextAuthorizer('user'),
});

import { AccessLogField } from 'aws-cdk-lib/aws-apigateway';

/**
 * One JSON line a request. All values are API Gateway's, the operator's or counted: nothing that a
 * caller wrote, no header, and so no key, gets in. Latencies are in milliseconds, the response's
 * length in bytes; a value that a request has none of is `-`.
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
